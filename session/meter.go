package session

import (
	"sync/atomic"

	"holdfast/store"
)

// A Meter has what a Controller has done since Open. Its fields may be read at
// any time.
type Meter struct {
	Runs          atomic.Int64 // programs that were started
	Input         atomic.Int64 // bytes that programs' terminals took
	StorageErrors atomic.Int64 // times that the store could no longer be written, for one session
	LostLeases    atomic.Int64 // sessions that another process has taken, or whose files could not be synced
}

// Meter returns what the controller counts.
func (c *Controller) Meter() *Meter { return &c.meter }

// StoreMeter returns what the store counts.
func (c *Controller) StoreMeter() *store.Meter { return c.store.Meter() }

// Readers returns how many follow a session through this process.
func (c *Controller) Readers() int { return c.store.Followers() }
