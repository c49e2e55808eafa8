package session

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"holdfast/leasefs"
	"holdfast/store"
)

// CheckAll clears away what crashes left of sessions that were being made or
// removed, and makes every row of the store true. A server does it once,
// before it listens. Sessions that cannot be read or written are left as they
// are.
func (c *Controller) CheckAll() error {
	found, err := c.sweep()
	if err != nil {
		return err
	}
	for _, f := range found {
		c.log.Info("swept", "session", f.Session, "what", f.Problem, "done", f.Repaired)
	}
	ids, err := c.store.IDs()
	if err != nil {
		return err
	}
	for _, id := range ids {
		if _, _, err := c.truth(id); err != nil && !errors.Is(err, store.ErrNotFound) {
			c.log.Warn("session not checked", "session", id, "err", err)
		}
	}
	return nil
}

// sweep removes what crashes left of sessions that were being made, removed or
// written, lock files whose session is gone, and the files of probes. What is
// under way in another process is held there, and left alone; a probe that
// loses its file begins anew.
func (c *Controller) sweep() (found []Finding, err error) {
	ids, err := c.store.Leftovers()
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if err := c.remove(id); !errors.Is(err, leasefs.ErrHeld) {
			found = append(found, Finding{id, "half made or half removed", err == nil})
		}
	}
	if ids, err = c.store.Torn(); err != nil {
		return nil, err
	}
	for _, id := range ids {
		lease, w, err := c.lease(id, c.own(id)) // which removes them
		if err == nil {
			err = errors.Join(w.Close(), lease.Release())
		}
		if !errors.Is(err, leasefs.ErrHeld) {
			found = append(found, Finding{id, "half written", err == nil})
		}
	}
	swept, err := c.sweepLocks()
	return append(found, swept...), err
}

func (c *Controller) sweepLocks() (found []Finding, err error) {
	dir := filepath.Join(c.store.Dir(), "locks")
	locks, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range locks {
		if leasefs.IsProbe(e.Name()) {
			os.Remove(filepath.Join(dir, e.Name()))
		}
		id, ok := strings.CutSuffix(e.Name(), ".lock")
		if !ok || !store.ValidID(id) {
			continue
		}
		if _, err := c.store.Row(id); !errors.Is(err, store.ErrNotFound) {
			continue
		}
		// There is nothing to remove but the lock file, under its own lock.
		if err := c.remove(id); !errors.Is(err, leasefs.ErrHeld) {
			found = append(found, Finding{id, "lock file without a session", errors.Is(err, store.ErrNotFound)})
		}
	}
	return found, nil
}
