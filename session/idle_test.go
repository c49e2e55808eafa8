package session

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/state"
)

// flips records what an idler told.
type flips struct {
	mu  sync.Mutex
	all []state.Event
}

func (f *flips) add(ev state.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = append(f.all, ev)
}

func (f *flips) want(t *testing.T, when string, want ...state.Event) {
	t.Helper()
	synctest.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.Equal(f.all, want) {
		t.Errorf("%s: flips = %v, want %v", when, f.all, want)
	}
}

func TestIdleAfterTheQuietTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f flips
		i := newIdler(time.Minute, f.add)
		defer i.stop()
		time.Sleep(time.Minute - time.Nanosecond)
		f.want(t, "just before")
		time.Sleep(time.Nanosecond)
		f.want(t, "at the limit", state.GoIdle)
		time.Sleep(time.Hour)
		f.want(t, "long after", state.GoIdle)
		i.touch()
		f.want(t, "touched", state.GoIdle, state.Resume)
		time.Sleep(time.Minute)
		f.want(t, "quiet again", state.GoIdle, state.Resume, state.GoIdle)
	})
}

func TestATouchPutsIdleOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f flips
		i := newIdler(time.Minute, f.add)
		defer i.stop()
		time.Sleep(40 * time.Second)
		i.touch()
		time.Sleep(time.Minute - time.Nanosecond)
		f.want(t, "a minute after the touch, less 1 ns")
		time.Sleep(time.Nanosecond)
		f.want(t, "a minute after the touch", state.GoIdle)
		if got, want := i.last(), i.start.Add(40*time.Second); !got.Equal(want) {
			t.Errorf("last() = %v, want %v", got, want)
		}
	})
}

// A touch between the timer's look and its flip must not be forgotten.
func TestATouchDuringTheFlipWakesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f flips
		slow := make(chan struct{})
		i := newIdler(time.Minute, func(ev state.Event) {
			f.add(ev)
			if ev == state.GoIdle {
				<-slow
			}
		})
		defer i.stop()
		time.Sleep(time.Minute)
		f.want(t, "in the flip", state.GoIdle)
		i.touch()
		close(slow)
		f.want(t, "after the flip", state.GoIdle, state.Resume)
	})
}

func TestNegativeIdleAfterIsNever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f flips
		i := newIdler(-1, f.add)
		defer i.stop()
		time.Sleep(1000 * time.Hour)
		i.touch()
		f.want(t, "after 1000 hours")
	})
}
