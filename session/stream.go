package session

import (
	"cmp"
	"context"
	"io"
	"sync"
	"time"

	"holdfast/state"
	"holdfast/store"
)

const (
	tailBytes   = 256 << 10              // of the log, for a reader that names no cursor
	chunkBytes  = 32 << 10               // of output in one event, at most
	pingEvery   = 10 * time.Second       // so that a dead connection shows
	partialWait = 100 * time.Millisecond // for the rest of a character
)

// StreamOptions say what a Stream tells.
type StreamOptions struct {
	ID    string // of the session; empty: the bound one, wherever the binding moves
	From  Cursor // in that session
	Watch bool   // also every change of any session; stay open over ends and new runs

	// Wait, if it is set, is called when there is nothing more to tell, before
	// Next waits. Its error ends Next.
	Wait func() error

	// Terminal: a terminal shows the stream, and types what it answers to the
	// program where KindTerminal says so.
	Terminal bool
}

// A Stream tells what happens to a session, from a cursor on. It reads the
// session's files and keeps no queue: a reader that stalls costs nothing and
// misses nothing. It is for one goroutine.
type Stream struct {
	c     *Controller
	o     StreamOptions
	at    Cursor // where the next session begins
	bound *binding

	// Of the session that is followed; f is nil while there is none.
	id      string
	f       *store.Follower
	cursor  int64
	shown   shown
	modes   []byte        // of the terminal at the cursor, still to be told
	marks   []store.Entry // runs and resizes still to be told
	cols    uint16        // the size that was told last
	rows    uint16
	read    int64 // place in the journal
	live    bool  // KindLive was sent
	answers bool  // what KindTerminal said last
	span    span  // what the terminal answers, if it does; guarded by c.terminals
	ended   int   // the run whose end was sent
	behind  bool  // the log had a whole chunk
	backlog backlog
	over    bool // KindEnd was sent, and is the last

	place   int64 // in the changes
	pending []string
	buf     *[]byte
	timer   *time.Timer
	rings   time.Time // when the timer does
	partial time.Time // when the cursor came to stand before half a character
}

// noRun is the number of no run: a copy that was never started has 0 of them.
const noRun = -1

// A backlog is output that was there when all else was looked at: it can be told
// without another look. Its zero value is none.
type backlog struct {
	end    int64 // of the log then
	row    *store.Row
	looked time.Time
}

// shown is what a View was made from; a session event follows when it differs.
type shown struct {
	row     *store.Row
	live    bool
	bound   bool
	held    bool
	trouble *string
}

var buffers = sync.Pool{New: func() any { b := make([]byte, chunkBytes); return &b }}

// Stream begins a stream. The caller must Close it.
//
// It returns store.ErrNotFound, store.ErrDamaged, and ErrPastEnd for a cursor
// beyond the log.
func (c *Controller) Stream(o StreamOptions) (*Stream, error) {
	s := &Stream{c: c, o: o, at: o.From, timer: time.NewTimer(pingEvery)}
	if o.Watch {
		s.place = c.watch()
	}
	var err error
	if o.ID != "" {
		err = s.follow(o.ID)
	} else {
		s.bound = c.bound.Load()
		if s.bound.id != "" {
			err = s.follow(s.bound.id)
		}
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close ends the stream.
func (s *Stream) Close() {
	s.unfollow()
	s.timer.Stop()
	if s.o.Watch {
		s.c.unwatch()
	}
}

// ID and Cursor say where the stream stands. ID is empty while nothing is bound.
func (s *Stream) ID() string    { return s.id }
func (s *Stream) Cursor() int64 { return s.cursor }

// AtEnd reports whether there is nothing more to come: the session's program
// was stopped or ended, and the stream stands at the end of its log.
func (s *Stream) AtEnd() bool {
	if s.f == nil || s.o.Watch || s.leaving() {
		return false
	}
	row, err := s.f.Row()
	if err != nil || row.State != state.Stopped && row.State != state.Ended {
		return false
	}
	_, end, err := s.f.Bounds()
	return err == nil && s.cursor == end
}

// follow goes to a session, at the cursor of the options the first time, at
// its tail after that.
func (s *Stream) follow(id string) error {
	f, err := s.c.store.Follow(id)
	if err != nil {
		return err
	}
	if _, err := f.Row(); err != nil { // while it can be said
		f.Close()
		return err
	}
	oldest, end, err := f.Bounds()
	if err != nil {
		f.Close()
		return err
	}
	entries, read, err := f.Entries(0) // after the bounds, so that it has all up to there
	if err != nil {
		f.Close()
		return err
	}
	s.id, s.f, s.modes = id, f, nil
	if s.at.kind != fromTail {
		s.cursor = s.at.Place(oldest, end)
	} else if s.cursor, s.modes, err = s.tail(entries, oldest, end, cmp.Or(s.at.offset, tailBytes)); err != nil {
		s.unfollow()
		return err
	}
	s.at = Cursor{}
	if s.cursor > end {
		s.unfollow()
		return ErrPastEnd
	}
	s.shown, s.marks, s.cols, s.rows, s.read, s.live, s.answers, s.ended = shown{}, nil, 0, 0, read, false, false, noRun
	s.behind, s.backlog = false, backlog{}
	s.addMarks(entries)
	return nil
}

func (s *Stream) unfollow() {
	if s.f != nil {
		s.standBack()
		s.f.Close()
		s.f, s.id = nil, ""
	}
	s.giveBuffer()
}

func (s *Stream) takeBuffer() []byte {
	if s.buf == nil {
		s.buf = buffers.Get().(*[]byte)
	}
	return *s.buf
}

func (s *Stream) giveBuffer() {
	if s.buf != nil {
		buffers.Put(s.buf)
		s.buf = nil
	}
}

// Next returns the next event; it waits for one. After KindEnd, unless the
// stream watches, it returns io.EOF. It returns the error of ctx when that
// ends.
func (s *Stream) Next(ctx context.Context) (Event, error) {
	for {
		if s.over {
			return Event{}, io.EOF
		}
		// Taken before the look, so that nothing falls between look and wait.
		more := s.signals()
		e, wait, err := s.look()
		if err != nil || e.Kind != "" {
			return e, err
		}
		if s.over {
			continue
		}
		s.giveBuffer()
		if s.o.Wait != nil {
			if err := s.o.Wait(); err != nil {
				return Event{}, err
			}
		}
		ping, err := s.wait(ctx, more, wait)
		if err != nil {
			return Event{}, err
		}
		if ping {
			s.checkHolder()
			return s.event(KindPing), nil
		}
	}
}

// checkHolder makes the row true if the process that held the session died:
// nothing in the session's files tells of that.
func (s *Stream) checkHolder() {
	if s.f != nil && s.shown.held {
		s.c.truth(s.id)
	}
}

// signals are what may wake a stream; nil channels never do.
type signals struct{ output, moved, changed <-chan struct{} }

func (s *Stream) signals() (w signals) {
	if s.f != nil {
		w.output = s.f.Changed()
	}
	if s.bound != nil {
		w.moved = s.bound.moved
	}
	if s.o.Watch {
		w.changed = s.c.changes.wait()
	}
	return w
}

// wait sleeps until something happened, or for d: it reports true when d was
// the time of a ping. A timer that rings too early is set again then, and not
// for each event: that may wake a thread.
func (s *Stream) wait(ctx context.Context, w signals, d time.Duration) (ping bool, err error) {
	ping = d == 0
	if ping {
		d = pingEvery
	}
	for now, end := time.Now(), time.Now().Add(d); ; now = time.Now() {
		if now.Before(end) && (!s.rings.After(now) || s.rings.After(end)) {
			s.timer.Reset(end.Sub(now))
			s.rings = end
		}
		select {
		case <-w.output:
		case <-w.moved:
		case <-w.changed:
		case <-s.timer.C:
			if time.Now().Before(end) {
				continue
			}
			return ping, nil
		case <-ctx.Done():
			return false, ctx.Err()
		}
		return false, nil
	}
}

func (s *Stream) event(kind EventKind) Event { return Event{Kind: kind, ID: s.id, Cursor: s.cursor} }
