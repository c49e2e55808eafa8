package session

import (
	"time"

	"holdfast/store"
)

// modesEvery is how many bytes of output lie between two places where the
// modes are looked at, and noted if they are not those that were noted last. A
// reader that begins in between follows no more than that.
const modesEvery = 128 << 10

// follow lets the modes follow output before it is appended, and returns the
// place in the log where it will stand. What is noted too early, because the
// append fails, is at worst the modes at a place that no output reaches.
func (l *live) follow(p []byte) (from int64) {
	if l.resized.Swap(false) {
		l.modes.resized()
	}
	_, from = l.w.Bounds()
	for at := from; ; {
		left := modesEvery - at%modesEvery
		if int64(len(p)) < left {
			l.modes.Write(p)
			return from
		}
		l.modes.Write(p[:left])
		at, p = at+left, p[left:]
		l.noteModes(at)
	}
}

// noteModes notes the modes at a place in the log, and what has come of an
// escape sequence there.
func (l *live) noteModes(at int64) {
	now := string(l.modes.Set()) + string(l.modes.unfinished())
	if now == l.noted {
		return
	}
	if l.note(store.Entry{Kind: "modes", At: at, Time: time.Now().UTC(), Modes: now}) {
		l.noted = now
	}
}
