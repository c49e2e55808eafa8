package leasefs

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A fileID names a file for as long as it is open, whatever its path.
type fileID struct{ device, inode uint64 }

// An identity is what is compared between an open file and a path.
type identity struct {
	fileID
	links   uint64
	size    int64
	regular bool
}

// table is the leases of this process. It is one for the process because what
// it mirrors is: it tells "this process" from "another". It also keeps the files
// reachable, which where one is an *os.File keeps it open.
var table = registry{entries: map[fileID]*entry{}}

// refusals counts what Refusals returns. It is one for the process as table is.
var refusals atomic.Int64

// Refusals returns how often an Acquire of this process found that another one
// has the lease.
func Refusals() int64 { return refusals.Load() }

// A registry is a table of leases, keyed by what is locked.
type registry struct {
	// mu guards entries and what they point to but the leases. Nothing is
	// called with it held. A Keeper's and a lease's mutex come before it.
	mu      sync.Mutex
	entries map[fileID]*entry
}

// An entry reserves a file for one lease, from before the lock call until
// after the unlock call.
type entry struct {
	path  string    // absolute
	lease *Lease    // nil until the lock is had
	begun time.Time // when the lock or unlock call in flight began; zero if there is none
}

// reserve enters a file, before it is locked. It fails with a *HeldError if
// this process has it already, and with ErrTimeout if an earlier call on it
// has outlived its limit: each such call costs a thread, so there is never
// more than one on a file.
func (r *registry) reserve(id fileID, path string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entries[id]
	if e == nil {
		r.entries[id] = &entry{path: path, begun: time.Now()}
		return nil
	}
	if !e.begun.IsZero() && time.Since(e.begun) >= lockLimit {
		return ErrTimeout
	}
	held := &HeldError{Own: true}
	if e.lease != nil {
		holder := e.lease.holder
		held.Holder = &holder
	}
	return held
}

// grant notes that the lock was had.
func (r *registry) grant(l *Lease) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entries[l.id]
	e.lease, e.begun = l, time.Time{}
}

// ending notes that the lock is about to be given back.
func (r *registry) ending(l *Lease) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.entries[l.id].begun = time.Now()
}

// drop forgets a file, after it was unlocked and before it is closed: the
// number of a file that is removed and closed goes to the next one.
func (r *registry) drop(id fileID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.entries, id)
}

// Held returns the paths of the leases that this process has now, as Lease.Path
// returns them, sorted.
func Held() []string {
	table.mu.Lock()
	defer table.mu.Unlock()
	var paths []string
	for _, e := range table.entries {
		if e.lease != nil {
			paths = append(paths, e.path)
		}
	}
	slices.Sort(paths)
	return paths
}
