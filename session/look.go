package session

import (
	"errors"
	"io"
	"time"
	"unicode/utf8"

	"holdfast/store"
)

// look returns the next event that there is. Without one it returns how long
// to wait at most; 0 means until the next ping.
func (s *Stream) look() (Event, time.Duration, error) {
	if e, ok, err := s.lookBinding(); ok || err != nil {
		return e, 0, err
	}
	if e, ok, err := s.lookChanges(); ok || err != nil {
		return e, 0, err
	}
	if s.f == nil {
		return Event{}, 0, nil
	}
	e, wait, err := s.lookSession()
	if errors.Is(err, store.ErrNotFound) { // it was deleted
		s.unfollow()
		s.over = !s.o.Watch && s.o.ID != ""
		return Event{}, 0, nil
	}
	return e, wait, err
}

// backlogFor is how long a stream that is behind looks at nothing but the log.
const backlogFor = 50 * time.Millisecond

// lookSession tells of the session that is followed.
func (s *Stream) lookSession() (Event, time.Duration, error) {
	if b := &s.backlog; s.cursor+chunkBytes <= b.end && !s.answers && time.Since(b.looked) < backlogFor {
		return s.lookLog(b.row)
	}
	var end int64
	if s.backlog = (backlog{}); s.behind {
		_, end, _ = s.f.Bounds() // before the journal, which then has all that lies before that end
	}
	row, err := s.f.Row()
	if err != nil {
		return Event{}, 0, err
	}
	if e, ok := s.lookView(row); ok {
		return e, 0, nil
	}
	if s.answers && (s.shown.held || s.c.terminals.over(s)) {
		return s.standBack(), 0, nil
	}
	if err := s.lookJournal(); err != nil {
		return Event{}, 0, err
	}
	if end > 0 {
		s.backlog = backlog{end, row, time.Now()}
	}
	return s.lookLog(row)
}

// lookBinding follows a binding that has moved.
func (s *Stream) lookBinding() (Event, bool, error) {
	if s.bound == nil || s.bound == s.c.bound.Load() {
		return Event{}, false, nil
	}
	s.bound = s.c.bound.Load()
	s.unfollow()
	if s.bound.id != "" {
		if err := s.follow(s.bound.id); err != nil && !errors.Is(err, store.ErrNotFound) {
			return Event{}, false, err
		}
	}
	return Event{Kind: KindBind, ID: s.bound.id, Cursor: s.cursor}, true, nil
}

// errBehind ends a watch that missed changes: its client begins anew.
var errBehind = errors.New("watcher is too far behind")

// lookChanges tells of one session that changed.
func (s *Stream) lookChanges() (Event, bool, error) {
	if !s.o.Watch {
		return Event{}, false, nil
	}
	if len(s.pending) == 0 {
		ids, next, ok := s.c.changes.since(s.place)
		if !ok {
			return Event{}, false, errBehind
		}
		s.pending, s.place = ids, next
	}
	if len(s.pending) == 0 {
		return Event{}, false, nil
	}
	e := Event{Kind: KindSessions, ID: s.pending[0]}
	s.pending = s.pending[1:]
	v, err := s.c.Get(e.ID)
	if errors.Is(err, store.ErrNotFound) {
		e.Deleted = true
		return e, true, nil
	}
	e.View = &v
	return e, true, err
}

// lookView tells of the session itself, when what people see of it changed.
func (s *Stream) lookView(row *store.Row) (Event, bool) {
	now := shown{row: row, bound: s.c.bound.Load().id == s.id}
	if row.State.Live() {
		if l := s.c.lookup(s.id); l != nil {
			now.live, now.trouble = true, l.trouble.Load()
		} else {
			now.held = true
		}
	}
	if now == s.shown {
		return Event{}, false
	}
	v := s.c.view(row)
	if now.held {
		var err error
		if v, err = s.c.Get(s.id); err != nil {
			return Event{}, false
		}
	}
	s.shown = now
	e := s.event(KindSession)
	e.View = &v
	return e, true
}

// lookLog tells of the next resize, gap or output, and of the end of what
// there is. The row was read before the log, so that a row which says that
// the run is over means that its last byte is there.
func (s *Stream) lookLog(row *store.Row) (Event, time.Duration, error) {
	if e, ok := s.lookMark(); ok {
		return e, 0, nil
	}
	buf := s.takeBuffer()
	limited := buf
	if len(s.marks) > 0 {
		limited = buf[:min(int64(len(buf)), s.marks[0].At-s.cursor)]
	}
	n, err := s.f.ReadAt(limited, s.cursor)
	s.behind = n == len(buf)
	if gap, ok := errors.AsType[*store.GapError](err); ok {
		e := s.event(KindGap)
		e.From, e.To, e.Cursor = gap.From, gap.To, gap.To
		s.cursor = gap.To
		return e, 0, nil
	}
	n = aligned(n, s.cursor)
	if n > 0 && s.answers {
		if n = s.c.terminals.pass(s, n); n == 0 {
			return s.standBack(), 0, nil
		}
	}
	if n > 0 {
		return s.output(limited[:n], row)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return Event{}, 0, err
	}
	leaving := s.leaving() // asked once: nobody wakes a stream when it stops being true
	e := s.lookEnd(row, leaving)
	if e.Kind == "" && leaving {
		return e, leavingPoll, nil
	}
	return e, 0, nil
}

// leavingPoll is how often a stream looks whether the binding has moved, or is
// to stay after all.
const leavingPoll = 100 * time.Millisecond

// leaving reports whether the stream follows a binding that is about to move:
// a switch or a deletion of its session has ended the program. What comes next
// is the bind, not the end.
func (s *Stream) leaving() bool {
	return s.bound != nil && (s.c.reservedLong(s.id) || s.bound != s.c.bound.Load()) // it moves before the reservation ends
}

// lookMark tells of a run or a size that begins where the cursor stands. A run
// has a size too.
func (s *Stream) lookMark() (Event, bool) {
	for len(s.marks) > 0 && s.marks[0].At <= s.cursor {
		m := &s.marks[0]
		if m.Kind == "run" && m.At > 0 && m.At == s.cursor {
			m.Kind = "size"
			e := s.event(KindRun)
			e.Run = m.Run
			return e, true
		}
		cols, rows := m.Cols, m.Rows
		s.marks = s.marks[1:]
		if cols != s.cols || rows != s.rows {
			s.cols, s.rows = cols, rows
			e := s.event(KindResize)
			e.Cols, e.Rows = cols, rows
			return e, true
		}
	}
	return Event{}, false
}

// lookJournal reads what is new in the journal.
func (s *Stream) lookJournal() error {
	if s.f.Told() <= s.read {
		return nil
	}
	entries, next, err := s.f.Entries(s.read)
	if err != nil {
		return err
	}
	s.read = next
	s.addMarks(entries)
	return nil
}

// addMarks keeps what has to be told of the journal. Of what lies before the
// cursor, the last size still counts.
func (s *Stream) addMarks(entries []store.Entry) {
	for _, e := range entries {
		if e.Cols == 0 || e.Rows == 0 {
			continue
		}
		if e.At < s.cursor || e.At == s.cursor && e.Kind == "run" {
			s.marks = s.marks[:0]
		}
		s.marks = append(s.marks, e)
	}
}

// output makes an event of what was read at the cursor, whole characters if
// there are any.
func (s *Stream) output(p []byte, row *store.Row) (Event, time.Duration, error) {
	whole := p[:wholeRunes(p)]
	if len(whole) == 0 {
		if row.State.Live() && s.partial.IsZero() {
			s.partial = time.Now()
		}
		if row.State.Live() {
			if left := partialWait - time.Since(s.partial); left > 0 {
				return Event{}, left, nil
			}
		}
		whole = p
	}
	s.partial = time.Time{}
	kind := KindBytes
	if utf8.Valid(whole) {
		kind = KindOutput
	}
	if kind == KindBytes && s.modes != nil {
		return s.tellModes(), 0, nil
	}
	from := s.cursor
	s.cursor += int64(len(whole))
	e := s.event(kind)
	e.Data, e.From = whole, from
	if s.modes != nil {
		e.Data, s.modes = append(s.modes, whole...), nil
	}
	return e, 0, nil
}

// aligned is how much of n bytes read at a cursor to tell. Streams that are
// behind are cut at the same places, multiples of chunkBytes, so that what is
// made of their events can be shared.
func aligned(n int, cursor int64) int {
	first := chunkBytes - int(cursor%chunkBytes)
	if n == chunkBytes && first >= utf8.UTFMax {
		return first
	}
	return n
}

// tellModes makes an event of the modes at the cursor alone.
func (s *Stream) tellModes() Event {
	e := s.event(KindOutput)
	e.Data, e.From, s.modes = s.modes, s.cursor, nil
	return e
}

// wholeRunes is how much of p can be told without breaking a character that
// may still be completed.
func wholeRunes(p []byte) int {
	for i := len(p) - 1; i >= 0 && i >= len(p)-utf8.UTFMax; i-- {
		if utf8.RuneStart(p[i]) {
			if utf8.FullRune(p[i:]) {
				return len(p)
			}
			return i
		}
	}
	return len(p)
}

// stepIn has the terminal answer from now on, in place of any other; if the
// stream is live, only where there is none.
func (s *Stream) stepIn() (Event, bool) {
	ok, another := s.c.terminals.join(s, !s.live)
	if !ok {
		return Event{}, false
	}
	if another {
		s.wakeOthers()
	}
	s.answers = true
	e := s.event(KindTerminal)
	e.Answers = true
	return e, true
}

// standBack has the terminal answer no more.
func (s *Stream) standBack() Event {
	if s.c.terminals.leave(s) {
		s.wakeOthers()
	}
	s.answers = false
	return s.event(KindTerminal)
}

// wakeOthers has the streams of the session look who answers.
func (s *Stream) wakeOthers() {
	l := s.c.lookup(s.id)
	if l == nil {
		return
	}
	select {
	case <-l.ready:
		if l.w != nil {
			l.w.Wake()
		}
	default: // nothing was printed yet
	}
}

// lookEnd tells that the reader has caught up, and that the run is over.
func (s *Stream) lookEnd(row *store.Row, leaving bool) Event {
	if s.modes != nil {
		return s.tellModes()
	}
	if s.o.Terminal && !s.answers && !s.shown.held {
		if e, ok := s.stepIn(); ok || !s.live {
			return e // or there is more, by now
		}
	}
	if !s.live {
		s.live = true
		return s.event(KindLive)
	}
	if row.State.Live() || s.ended == row.Runs || !s.c.Final(row) || leaving {
		return Event{}
	}
	s.ended = row.Runs
	s.over = !s.o.Watch
	e := s.event(KindEnd)
	v := s.c.view(row)
	e.View = &v
	return e
}
