package session

import "sync"

// terminals are the streams that a terminal shows which answers by itself what
// a program asks. Each answers what stands in the output from a cursor on: where
// it was told that it has caught up.
type terminals struct {
	mu       sync.Mutex // guards the fields below; a leaf
	from     map[string]map[*Stream]int64
	answered map[string]int64 // the end of the last output that was answered here, of live sessions
}

// join counts a stream of session id in, from the cursor at on. It reports
// false if output after that has been answered here meanwhile: the stream has
// to pass it before it joins.
func (t *terminals) join(id string, s *Stream, at int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.answered[id] > at {
		return false
	}
	if t.from == nil {
		t.from = make(map[string]map[*Stream]int64)
	}
	if t.from[id] == nil {
		t.from[id] = make(map[*Stream]int64)
	}
	t.from[id][s] = at
	return true
}

// leave counts a stream out, if it was in.
func (t *terminals) leave(id string, s *Stream) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.from[id], s)
	if len(t.from[id]) == 0 {
		delete(t.from, id)
	}
}

// absent reports whether no terminal answers the output [from, to), which is in
// the log. If so it has to be answered here.
func (t *terminals) absent(id string, from, to int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, at := range t.from[id] {
		if at <= from {
			return false
		}
	}
	if t.answered == nil {
		t.answered = make(map[string]int64)
	}
	t.answered[id] = to
	return true
}

// forget ends the count of what was answered, with the life of the session.
func (t *terminals) forget(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.answered, id)
}
