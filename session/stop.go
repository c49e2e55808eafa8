package session

import (
	"errors"
	"fmt"
	"time"

	"holdfast/leasefs"
	"holdfast/state"
	"holdfast/store"
)

// storagePatience is how long a stop waits for a disk that does not take the
// final state before it says so. The program has ended by then.
const storagePatience = 2 * time.Second

// Stop ends the program of a session and answers when the final state is on
// disk. A session without a program stays as it is; an interrupted one is not
// resumed automatically any more. It waits for a switch or a deletion that is
// under way, and acts on what is there then.
//
// It returns store.ErrNotFound, a *leasefs.HeldError, and ErrStorage if the
// program has ended but that could not be saved yet.
func (c *Controller) Stop(id string) (View, error) {
	c.settled(id)
	row, err := c.halt(id)
	if err == nil && row.State == state.Interrupted && row.AutoResume {
		row, err = c.leaveStopped(id)
	}
	if err != nil {
		return View{}, err
	}
	return c.view(row), nil
}

// Release ends the program of one session of this process as Close ends all:
// with the shutdown grace, and interrupted by the shutdown of its holder. When
// it returns, the lease is free. A session without a program here stays as it
// is.
//
// It returns ErrStorage if the program has ended but that could not be saved
// yet.
func (c *Controller) Release(id string) error {
	c.settled(id)
	l := c.running(id)
	if l == nil {
		return nil
	}
	l.letGo.Store(true)
	l.proc.Stop(c.cfg.ShutdownGrace)
	return l.over()
}

// leaveStopped makes a stop of an interrupted session last: no server resumes
// it.
func (c *Controller) leaveStopped(id string) (*store.Row, error) {
	release, err := c.reserve(id, "being stopped", false, true)
	if err != nil {
		return nil, err
	}
	defer release()
	return c.change(id, func(r *store.Row) error {
		next, err := state.Next(r.State, state.UserStop)
		if err == nil && next == r.State {
			r.AutoResume = false
		}
		return err
	})
}

// halt ends the program of a session, if it has one here, or what is left of
// one whose holder died, and returns its row.
func (c *Controller) halt(id string) (*store.Row, error) {
	if l := c.running(id); l != nil {
		l.stopAsked.Store(true)
		l.proc.Stop(c.cfg.StopGrace)
		if err := l.over(); err != nil {
			return nil, err
		}
	}
	row, held, err := c.truth(id) // of a run whose lease was lost too
	if held != nil {
		return nil, held
	}
	if err == nil && row.State == state.Interrupted {
		c.endLeftovers(row)
	}
	return row, err
}

// remove removes the files of a session, and with them its lock file, unless
// somebody holds it. What is left of its program is ended first: nothing will
// tell of it any more.
func (c *Controller) remove(id string) error {
	return leasefs.Guard(c.store.LockPath(id), leasefs.Options{Family: c.family, Self: c.self}, func() error {
		if row, err := c.store.Row(id); err == nil {
			c.endLeftovers(row)
		}
		err := c.store.Remove(id)
		if errors.Is(err, store.ErrLeft) {
			c.log.Warn("files left in the trash", "session", id, "err", err) // until the next start
			return nil
		}
		return err
	})
}

// over waits for the end of a life whose program has ended.
func (l *live) over() error {
	for {
		select {
		case <-l.done:
			return nil
		case <-time.After(storagePatience):
			if text := l.trouble.Load(); text != nil {
				return fmt.Errorf("%w: the program has ended, and its state is saved as soon as that works: %s", ErrStorage, *text)
			}
		}
	}
}

// Delete removes a session with its output, after a stop if it is live here.
// A session that another process holds is refused with a *leasefs.HeldError
// and left alone. A damaged one can be deleted.
func (c *Controller) Delete(id string) error {
	release, err := c.reserve(id, "being deleted", true, true)
	if err != nil {
		return err
	}
	defer release()
	if _, err := c.store.Row(id); err != nil && !errors.Is(err, store.ErrDamaged) {
		return err
	}
	if l := c.running(id); l != nil {
		l.stopAsked.Store(true)
		l.proc.Stop(c.cfg.StopGrace)
		if err := l.over(); err != nil {
			l.abandon() // what cannot be saved is about to be removed
			<-l.done
		}
	}
	if err := c.remove(id); err != nil {
		return storageError(err)
	}
	c.mu.Lock()
	c.past.take(id)
	c.mu.Unlock()
	c.unbind(id)
	c.changes.add(id)
	return nil
}
