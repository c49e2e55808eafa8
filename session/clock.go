package session

import (
	"time"

	"holdfast/store"
)

// How often a place in the log is marked with its time. A pause shows in a
// recording; within a burst of output a second is exact enough, and a program
// that prints day and night does not fill the journal.
const (
	markPause = 200 * time.Millisecond
	markEvery = time.Second
)

// A clock decides which output is marked.
type clock struct{ marked, seen time.Time }

// due reports whether output at the time now is to be marked.
func (k *clock) due(now time.Time) bool {
	due := now.Sub(k.seen) >= markPause || now.Sub(k.marked) >= markEvery
	k.seen = now
	if due {
		k.marked = now
	}
	return due
}

// mark notes, before output is appended, when it came.
func (l *live) mark() {
	if now := time.Now(); l.clock.due(now) {
		_, end := l.w.Bounds()
		l.note(store.Entry{Kind: "clock", At: end, Time: now.UTC()})
	}
}
