package session

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"holdfast/leasefs"
	"holdfast/store"
)

// CheckAll clears away what crashes left of sessions that were being made or
// removed, and makes the row of every session true whose holder died: it left
// its record in the lock file. A server does it once, before it listens. A row
// whose holder's record was lost too, to a power cut, is made true when the
// session is looked at; AutoResume looks at all. Sessions that cannot be read
// or written are left as they are.
func (c *Controller) CheckAll() error {
	found, err := c.sweepMoves()
	if err != nil {
		return err
	}
	swept, marked, err := c.sweepLocks()
	for _, f := range append(found, swept...) {
		c.log.Info("swept", "session", f.Session, "what", f.Problem, "done", f.Repaired)
	}
	for _, id := range marked {
		if err := c.recover(id); err != nil && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, leasefs.ErrHeld) {
			c.log.Warn("session not checked", "session", id, "err", err)
		}
	}
	return err
}

// recover makes a session true that a holder has, or left when it died. What
// was being written then goes with the opening.
func (c *Controller) recover(id string) error {
	row, err := c.store.Row(id)
	if err == nil && row.State.Live() {
		_, _, err = c.truth(id)
	} else if err == nil {
		err = c.reopen(id)
	}
	return err
}

// sweep removes what crashes left of sessions that were being made, removed or
// written, lock files whose session is gone, and the files of probes. What is
// under way in another process is held there, and left alone; a probe that
// loses its file begins anew.
func (c *Controller) sweep() (found []Finding, err error) {
	if found, err = c.sweepMoves(); err != nil {
		return nil, err
	}
	ids, err := c.store.Torn()
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if err := c.reopen(id); !errors.Is(err, leasefs.ErrHeld) {
			found = append(found, Finding{Session: id, Problem: "half written", Repaired: err == nil})
		}
	}
	swept, _, err := c.sweepLocks()
	return append(found, swept...), err
}

// sweepMoves removes sessions that were being made or removed.
func (c *Controller) sweepMoves() (found []Finding, err error) {
	ids, err := c.store.Leftovers()
	for _, id := range ids {
		cleared, _, err := c.clear(id)
		if cleared || err != nil && !errors.Is(err, leasefs.ErrHeld) {
			found = append(found, Finding{Session: id, Problem: "half made or half removed", Repaired: err == nil})
		}
	}
	return found, err
}

// errThere ends the clearing of a session that is there.
var errThere = errors.New("the session is there")

// clear removes what a crash left of a session, and its lock file. Whoever was
// making the session may have come to the end of it while clear waited for the
// lease: then both stay, and there is true.
func (c *Controller) clear(id string) (cleared, there bool, err error) {
	err = leasefs.Guard(c.store.LockPath(id), leasefs.Options{Family: c.family, Self: c.self}, func() (err error) {
		if cleared, err = c.store.Clear(id); err != nil {
			return err
		}
		if _, err = c.store.Row(id); !errors.Is(err, store.ErrNotFound) {
			return errThere
		}
		return nil
	})
	if errors.Is(err, errThere) {
		return cleared, true, nil
	}
	return cleared, false, err
}

// sweepLocks removes lock files without a session. It returns the sessions
// whose lock file has a record: they are held, or their holder died.
func (c *Controller) sweepLocks() (found []Finding, marked []string, err error) {
	dir := filepath.Join(c.store.Dir(), "locks")
	locks, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, err
	}
	ids, err := c.store.IDs() // after the locks: a new session's lock is there before it
	if err != nil {
		return nil, nil, err
	}
	for _, e := range locks {
		if leasefs.IsProbe(e.Name()) {
			os.Remove(filepath.Join(dir, e.Name()))
		}
		id, ok := strings.CutSuffix(e.Name(), ".lock")
		if !ok || !store.ValidID(id) {
			continue
		}
		if _, known := slices.BinarySearch(ids, id); known {
			if info, err := e.Info(); err == nil && info.Size() > 0 {
				marked = append(marked, id)
			}
			continue
		}
		if _, there, err := c.clear(id); !there && !errors.Is(err, leasefs.ErrHeld) {
			found = append(found, Finding{Session: id, Problem: "lock file without a session", Repaired: err == nil})
		}
	}
	return found, marked, nil
}
