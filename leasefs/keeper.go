package leasefs

import (
	"sync"
	"sync/atomic"
)

// A Keeper has at most one lease, for an owner that moves from one path to
// another.
type Keeper struct {
	options Options

	// mu makes one Rebind at a time. It is held over Acquire and Release.
	// Before the mutexes of leases and of the registry.
	mu    sync.Mutex
	lease atomic.Pointer[Lease] // stored with mu held; nil: none
}

// NewKeeper returns a Keeper that acquires by o, whose Claim is not used.
func NewKeeper(o Options) *Keeper { return &Keeper{options: o} }

// Rebind moves the keeper to the lock file at path: it acquires that lease,
// with claim as Options.Claim, before it releases the one it has. The path it
// is at already is a no-op, in whatever form; "" only releases. If it fails,
// with an error of Acquire, the keeper has what it had.
func (k *Keeper) Rebind(path string, claim func() error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	old := k.lease.Load()
	if path == "" {
		k.lease.Store(nil)
		if old == nil {
			return nil
		}
		return old.Release()
	}
	path, err := Canonical(path)
	if err != nil {
		return err
	}
	if old != nil && old.Path() == path {
		return nil
	}
	o := k.options
	o.Claim = claim
	next, err := Acquire(path, o)
	if err != nil {
		return err
	}
	k.lease.Store(next)
	if old != nil {
		// The move is done: a file system that is slow to take the old lock
		// back does not undo it.
		_ = old.Release()
	}
	return nil
}

// Path returns the canonical path of the lease that the keeper has, or "". It
// does not wait for a Rebind in progress.
func (k *Keeper) Path() string {
	if l := k.lease.Load(); l != nil {
		return l.Path()
	}
	return ""
}
