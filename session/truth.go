package session

import (
	"errors"
	"os"
	"time"

	"holdfast/leasefs"
	"holdfast/session/process"
	"holdfast/state"
	"holdfast/store"
)

// truth returns what is true of a session: its row, and who holds it if that
// is another process. A row that claims a live program is made true when its
// lease is free: then its holder died.
func (c *Controller) truth(id string) (*store.Row, *leasefs.HeldError, error) {
	row, err := c.store.Row(id)
	if err != nil || !row.State.Live() || c.lookup(id) != nil {
		return row, nil, err
	}
	// Reserved first, or another check of ours would be taken for a holder.
	release, busy := c.reserve(id, "being checked", false, false)
	if busy == nil {
		defer release()
		row, err = c.store.Row(id)
		if err != nil || !row.State.Live() || c.lookup(id) != nil {
			return row, nil, err
		}
	}
	held, err := c.holderOf(id)
	if err != nil || held != nil || busy != nil {
		return row, held, err // busy: it is being changed right now, and this row is its latest
	}
	lease, w, err := c.lease(id)
	if held, ok := errors.AsType[*leasefs.HeldError](err); ok {
		return row, held, nil
	}
	if err != nil {
		return row, nil, err
	}
	defer lease.Release()
	defer w.Close()
	if err := c.settle(w); err != nil {
		return row, nil, storageError(err)
	}
	return w.Row(), nil, nil
}

// trueRow returns what is true of a session of a list.
func (c *Controller) trueRow(f store.Found) (*store.Row, error) {
	if f.Err != nil || !f.Row.State.Live() {
		return f.Row, f.Err
	}
	row, _, err := c.truth(f.ID)
	return row, err
}

// Row returns the row of a session as it is true now; see store.Row. The death
// of a process that held the session changes none of its files: who waits for
// it asks again.
func (c *Controller) Row(id string) (*store.Row, error) {
	row, _, err := c.truth(id)
	if row == nil {
		return nil, err
	}
	return row, nil
}

// holderOf returns who holds a session, or nil if nobody does. It asks without
// locking.
func (c *Controller) holderOf(id string) (*leasefs.HeldError, error) {
	busy, err := leasefs.Busy(c.store.LockPath(id), c.family)
	if err != nil || !busy {
		return nil, err
	}
	holder, err := leasefs.ReadHolder(c.store.LockPath(id))
	if err != nil {
		holder = nil // the lock says that it is held, the record only by whom
	}
	return &leasefs.HeldError{Holder: holder}, nil
}

// settle makes the row of a session true whose lease we hold without having
// started it. The identity of the program stays in the row: a respawn ends
// what is left of it.
func (c *Controller) settle(w *store.Writer) error {
	if !w.Row().State.Live() {
		return nil
	}
	_, end := w.Bounds()
	now := time.Now().UTC()
	turns, err := c.Turns(w.Row().ID) // the row has no turns since its last write
	if err != nil {
		return err
	}
	row, err := c.transition(w, state.GatewayShutdown, true, func(r *store.Row) {
		r.Cause, r.EndedAt = state.CauseGatewayCrash, now
		r.ExitCode, r.Signal = nil, ""
		r.Turns = max(r.Turns, lastTurn(turns, end+1))
	})
	if err != nil {
		return err
	}
	c.log.Warn("holder died", "session", row.ID)
	return w.Record(store.Entry{Kind: "exit", At: end, Time: now, Run: row.Runs, State: row.State, Cause: row.Cause})
}

// endLeftovers ends what an earlier run left behind, if it is the very
// process that was recorded, and not that of a store which ours is a copy of.
func (c *Controller) endLeftovers(row *store.Row) {
	id := process.Identity{PID: row.PID, Start: row.PIDStart, Boot: row.Boot}
	if row.PID == 0 {
		return
	}
	if dir, known := process.Getenv(id, storeVariable); known && c.another(dir) {
		return
	}
	class := state.ClassifyInterrupt(process.Alive(id), true)
	if class == state.Orphaned && process.EndLeftovers(id) {
		c.log.Info("leftovers ended", "session", row.ID, "pid", row.PID)
	}
}

// another reports whether a store is at dir which is not ours by another path.
func (c *Controller) another(dir string) bool {
	theirs, err := os.Stat(dir)
	if err != nil {
		return false // moved to where ours is
	}
	ours, err := os.Stat(c.store.Dir())
	return err == nil && !os.SameFile(theirs, ours)
}
