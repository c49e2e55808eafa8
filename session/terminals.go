package session

import (
	"math"
	"slices"
	"sync"
)

// terminals say who answers what programs ask: of each session's output a part
// is a terminal's, which shows the session and answers by itself, and what no
// terminal has is this process's. The terminal that came last has what is
// printed next.
type terminals struct {
	mu sync.Mutex // guards the fields below, and span of all streams; a leaf
	of map[string]*answerers
}

// answerers are those of one session.
type answerers struct {
	live    bool
	streams []*Stream // that have a part which they have not passed
	done    int64     // what was asked before that was answered
}

// A span is the part of a session's output whose questions a stream's terminal
// answers.
type span struct {
	from, to int64
	passed   int64 // of it, the terminal was given what lies before
}

// begin counts in a session that is live here.
func (t *terminals) begin(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.atLocked(id).live = true
}

// end counts it out.
func (t *terminals) end(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.atLocked(id).live = false
	t.sweepLocked(id)
}

func (t *terminals) atLocked(id string) *answerers {
	if t.of == nil {
		t.of = make(map[string]*answerers)
	}
	if t.of[id] == nil {
		t.of[id] = new(answerers)
	}
	return t.of[id]
}

func (t *terminals) sweepLocked(id string) {
	if a := t.of[id]; a != nil && !a.live && len(a.streams) == 0 {
		delete(t.of, id)
	}
}

// join gives a stream what is printed from its cursor on, and reports whether
// another had that. It refuses if questions behind the cursor are answered
// already, so that the stream has to pass them first, and without over if
// another terminal is there.
func (t *terminals) join(s *Stream, over bool) (ok, another bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.atLocked(s.id)
	defer t.sweepLocked(s.id)
	done := a.done
	for _, o := range a.streams {
		another = another || o.span.to > s.cursor
		done = max(done, o.span.passed)
	}
	if done > s.cursor || another && !over {
		return false, another
	}
	for _, o := range a.streams {
		o.span.to = min(o.span.to, s.cursor)
	}
	s.span = span{s.cursor, math.MaxInt64, s.cursor}
	a.streams = append(a.streams, s)
	return true, another
}

// pass counts n bytes at the cursor of a stream that has joined as given to
// its terminal, or as many of them as it is to have.
func (t *terminals) pass(s *Stream, n int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	to := min(s.cursor+int64(n), s.span.to)
	s.span.passed = max(s.span.passed, to)
	return int(to - s.cursor)
}

// over reports whether a stream that has joined has passed its part.
func (t *terminals) over(s *Stream) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return s.cursor >= s.span.to
}

// leave counts a stream out, and reports whether it had joined.
func (t *terminals) leave(s *Stream) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.of[s.id]
	if a == nil || !slices.Contains(a.streams, s) {
		return false
	}
	a.streams = slices.DeleteFunc(a.streams, func(o *Stream) bool { return o == s })
	a.done = max(a.done, s.span.passed)
	t.sweepLocked(s.id)
	return true
}

// absent reports whether no terminal answers what is asked in the output
// [from, to), which no stream can read yet. If so it has to be answered here,
// and a terminal joins behind it.
func (t *terminals) absent(id string, from, to int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.atLocked(id)
	for _, s := range a.streams {
		if s.span.from <= from && from < s.span.to {
			return false
		}
	}
	a.done = max(a.done, to)
	return true
}
