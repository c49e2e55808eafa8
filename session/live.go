package session

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"holdfast/leasefs"
	"holdfast/session/process"
	"holdfast/state"
	"holdfast/store"
)

// A live is one life of a session in this process: from before its lease is
// taken until it is free again.
//
// Its goroutines: run, from publish on, which reads the program's output and
// ends the life; one writer while there is input that the terminal does not take
// at once; on a network file system guard, which finish ends; timers for idle and
// fsync, which do nothing once the writer is closed.
type live struct {
	c     *Controller
	id    string
	ready chan struct{} // closed when the program runs, or err is set
	done  chan struct{} // closed when the lease is free
	input *queue        // takes input even before ready

	// Set before ready is closed, immutable after.
	err   error // why there is no program; nil if there is
	lease *leasefs.Lease
	w     *store.Writer
	proc  *process.Process

	unguard   func() // ends guard
	idle      *idler
	clock     clock                  // used by run alone
	modes     Modes                  // used by run alone
	noted     string                 // used by run alone: the modes that the journal has
	resized   atomic.Bool            // the terminal has a new size, and modes does not know
	asked     []byte                 // used by run alone: answers to what the program asked
	dirty     atomic.Bool            // an fsync is planned
	unsynced  atomic.Bool            // the last fsync could not be tried
	trouble   atomic.Pointer[string] // why the store cannot be written; nil: it can
	stopAsked atomic.Bool            // a user's stop came before the end
	letGo     atomic.Bool            // a Release came before the end
	turns     atomic.Int64           // number of the last turn
	gone      atomic.Bool            // somebody else may have the session
	abandoned context.Context        // ends when nothing of this life need be kept any more
	abandon   func()
}

// begin registers a life, so that its input is taken and Close waits for it.
// The caller has the session reserved and must publish or fail the life.
func (c *Controller) begin(id string) (*live, error) {
	l := &live{c: c, id: id, ready: make(chan struct{}), done: make(chan struct{})}
	l.abandoned, l.abandon = context.WithCancel(context.Background())
	l.input = newQueue(l, c.cfg.InputTimeout)
	c.mu.Lock()
	closing := c.closing
	if !closing {
		c.live[id] = l
		l.input.receipts = c.past.take(id)
	}
	c.mu.Unlock()
	if closing {
		return nil, ErrClosing
	}
	c.terminals.begin(id)
	return l, nil
}

// fail ends a life that has no program: senders are told why. Lease and
// writer have been given back.
func (l *live) fail(err error) {
	l.err = err
	l.unregister()
	close(l.ready)
	l.input.close(err)
	close(l.done)
	l.c.changes.add(l.id)
}

// publish makes a life that is on disk visible and lets it run.
func (l *live) publish() {
	l.turns.Store(int64(l.w.Row().Turns))
	l.idle = newIdler(l.c.cfg.IdleAfter, func(ev state.Event) {
		if _, err := l.c.transition(l.w, ev, false, nil); err != nil && !errors.Is(err, state.ErrIllegal) {
			l.c.log.Warn("state not saved", "session", l.id, "err", err)
		}
	})
	close(l.ready)
	l.c.changes.add(l.id)
	l.c.meter.Runs.Add(1)
	l.c.log.Info("run started", "session", l.id, "pid", l.proc.Identity().PID)
	l.modes.ask = l.ask
	l.unguard = l.guard()
	go l.run()
	l.input.open()
}

// finish ends a life whose last byte is in the log: final state on disk, then
// visible to readers, then the lease.
func (l *live) finish() {
	exit := l.proc.Wait()
	l.proc.Close()
	l.idle.stop()
	l.input.close(ErrNotLive)
	if err := l.w.Sync(); lost(err) {
		l.lose(err)
	}
	for wait := minRetry; l.abandoned.Err() == nil; wait = min(2*wait, maxRetry) {
		err := l.record(exit)
		if err == nil {
			break
		}
		if lost(err) {
			l.lose(err)
			break
		}
		l.report(err)
		if l.c.isClosing() {
			break // the next look at the row finds the truth
		}
		select {
		case <-l.abandoned.Done():
		case <-time.After(wait):
		}
	}
	l.c.log.Info("run ended", "session", l.id, "exit_code", exit.Code, "signal", exit.Signal)
	l.unguard()
	if err := l.w.Close(); err != nil {
		l.c.log.Warn("log not closed", "session", l.id, "err", err)
	}
	l.release()
}

// record saves how a run ended.
func (l *live) record(exit process.Exit) error {
	now := time.Now().UTC()
	ev := state.TerminationEvent(l.stopAsked.Load(), l.letGo.Load() || l.c.isClosing())
	row, err := l.c.transition(l.w, ev, true, func(r *store.Row) {
		r.Cause = state.CauseNone
		if r.State == state.Interrupted {
			r.Cause = state.CauseGatewayShutdown
		}
		r.EndedAt, r.ActiveAt = now, l.idle.last().UTC()
		r.PID, r.PIDStart, r.Turns = 0, 0, int(l.turns.Load())
		r.ExitCode, r.Signal = nil, exit.Signal
		if exit.Signal == "" {
			r.ExitCode = &exit.Code
		}
	})
	if err != nil {
		return err
	}
	_, end := l.w.Bounds()
	l.note(store.Entry{Kind: "exit", At: end, Time: now, Run: row.Runs, State: row.State, Cause: row.Cause, ExitCode: row.ExitCode, Signal: row.Signal})
	return nil
}

// release gives the lease back, and with it the session.
func (l *live) release() {
	if err := l.lease.Release(); err != nil {
		l.c.log.Warn("lease not released", "session", l.id, "err", err)
	}
	l.unregister()
	close(l.done)
	l.c.changes.add(l.id)
}

func (l *live) unregister() {
	l.c.mu.Lock()
	delete(l.c.live, l.id)
	l.c.past.put(l.id, l.input.receipts)
	l.c.mu.Unlock()
	l.c.terminals.end(l.id)
}

var errSame = errors.New("nothing to write")

// transition saves what follows from ev. With fn, more of the row is changed
// in the same write; without it, an event that changes nothing writes nothing.
func (c *Controller) transition(w *store.Writer, ev state.Event, durable bool, fn func(*store.Row)) (*store.Row, error) {
	row, err := w.Update(durable, func(r *store.Row) error {
		next, err := state.Next(r.State, ev)
		if err != nil {
			return err
		}
		if next == r.State && fn == nil {
			return errSame
		}
		r.State = next
		if fn != nil {
			fn(r)
		}
		return nil
	})
	if errors.Is(err, errSame) {
		return w.Row(), nil
	}
	if err == nil {
		c.changes.add(row.ID)
	}
	return row, err
}

// note writes a journal entry. The journal serves turns, sizes and times; a
// session does not fail for it.
func (l *live) note(e store.Entry) (ok bool) {
	err := l.w.Record(e)
	if err != nil {
		l.c.log.Warn("journal not written", "session", l.id, "err", err)
	}
	return err == nil
}
