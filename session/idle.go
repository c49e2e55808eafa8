package session

import (
	"math"
	"sync/atomic"
	"time"

	"holdfast/state"
)

// An idler tells when a session falls idle and when it wakes up. A touch, which
// comes with every byte, is two atomic operations.
type idler struct {
	after time.Duration     // quiet time; negative: never idle
	flip  func(state.Event) // called with GoIdle and Resume in turn, from any goroutine

	start  time.Time    // monotonic base of active
	active atomic.Int64 // nanoseconds after start
	idle   atomic.Bool
	timer  *time.Timer
}

// newIdler starts counting quiet time now. The caller must stop it.
func newIdler(after time.Duration, flip func(state.Event)) *idler {
	i := &idler{after: after, flip: flip, start: time.Now()}
	if after > 0 {
		i.timer = time.AfterFunc(math.MaxInt64, i.check)
		i.timer.Reset(after) // only now may check read the timer
	}
	return i
}

// touch reports activity.
func (i *idler) touch() {
	i.note()
	i.stir()
}

// note is the half of touch that waits for nothing: it says when.
func (i *idler) note() { i.active.Store(int64(time.Since(i.start))) }

// stir is the other half, which may write the row.
func (i *idler) stir() {
	if i.idle.Load() {
		i.wake()
	}
}

// last returns when the last activity was.
func (i *idler) last() time.Time { return i.start.Add(time.Duration(i.active.Load())) }

// check is what the timer calls: it runs again after what is left of the
// quiet time, or flips.
func (i *idler) check() {
	seen := i.active.Load()
	if left := i.after - (time.Since(i.start) - time.Duration(seen)); left > 0 {
		i.timer.Reset(left)
		return
	}
	i.flip(state.GoIdle)
	i.idle.Store(true)
	if i.active.Load() != seen {
		i.wake() // touched between the look and the flip
	}
}

func (i *idler) wake() {
	if i.idle.CompareAndSwap(true, false) {
		i.flip(state.Resume)
		i.timer.Reset(i.after)
	}
}

// stop ends the timer. A flip that is under way may still come.
func (i *idler) stop() {
	if i.timer != nil {
		i.timer.Stop()
	}
}
