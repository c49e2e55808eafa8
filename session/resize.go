package session

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"time"

	"holdfast/session/process"
	"holdfast/store"
)

// Resize sets the size of a live session's terminal, in character cells from
// 1 to 65535. The present size again does nothing.
//
// It returns a *SpecError, or ErrNotLive, a *leasefs.HeldError or
// store.ErrNotFound for a session that is not live here.
func (c *Controller) Resize(id string, cols, rows int) error {
	w, err1 := checkSize("cols", &cols, 0)
	h, err2 := checkSize("rows", &rows, 0)
	if err := cmp.Or(err1, err2); err != nil {
		return err
	}
	l, err := c.alive(id)
	if err != nil {
		return err
	}
	_, end := l.w.Bounds()
	_, err = l.w.Update(false, func(r *store.Row) error {
		if r.Cols == w && r.Rows == h {
			return errSame
		}
		r.Cols, r.Rows = w, h
		return nil
	})
	if errors.Is(err, errSame) {
		return nil
	}
	if err != nil {
		return gone(storageError(err))
	}
	l.note(store.Entry{Kind: "size", At: end, Time: time.Now().UTC(), Cols: w, Rows: h})
	l.resized.Store(true)
	c.changes.add(id)
	if err := gone(l.proc.Resize(w, h)); !errors.Is(err, ErrNotLive) {
		return err
	}
	return nil // its program has just ended; the next run has the size
}

// Signal sends a signal, named like "INT" or "SIGINT", to the foreground
// process group of a live session. It returns process.ErrUnknownSignal, and
// for a session that is not live here the errors of Resize.
func (c *Controller) Signal(id, sig string) error {
	l, err := c.alive(id)
	if err != nil {
		return err
	}
	return gone(l.proc.Signal(sig))
}

// alive returns the life of a session that has a program here, or says why
// there is none.
func (c *Controller) alive(id string) (*live, error) {
	if l := c.running(id); l != nil {
		return l, nil
	}
	row, held, err := c.truth(id)
	switch {
	case err != nil:
		return nil, err
	case held != nil:
		return nil, held
	default:
		return nil, fmt.Errorf("%w: it is %s", ErrNotLive, row.State)
	}
}

// gone tells a request that found a session live, and then its program gone,
// what it would have been told a moment later.
func gone(err error) error {
	for _, e := range []error{process.ErrExited, os.ErrClosed, store.ErrClosed} {
		if errors.Is(err, e) {
			return fmt.Errorf("%w: its program has ended", ErrNotLive)
		}
	}
	return err
}
