package session

import (
	"errors"
	"strconv"
	"strings"
)

// An EventKind says what an Event tells. The names are those of the events in
// the HTTP interface.
type EventKind string

const (
	KindSession  EventKind = "session"  // View: first, and whenever it changed
	KindOutput   EventKind = "output"   // Data: whole characters, valid UTF-8; see Cursor
	KindBytes    EventKind = "bytes"    // Data: anything else
	KindRun      EventKind = "run"      // Run: a run of the program begins here, behind the output of another
	KindResize   EventKind = "resize"   // Cols and Rows, from Cursor on
	KindLive     EventKind = "live"     // the reader has caught up, once
	KindTerminal EventKind = "terminal" // Answers: whether the terminal that shows the stream answers what is asked from here on
	KindGap      EventKind = "gap"      // From and To: bytes that are no longer there
	KindPing     EventKind = "ping"     // nothing happened for a while
	KindEnd      EventKind = "end"      // View: the run is over and all of it was sent
	KindBind     EventKind = "bind"     // ID: the binding is there now, its session follows
	KindSessions EventKind = "sessions" // View, or ID and Deleted: any session changed
)

// An Event is one thing that a Stream tells. ID and Cursor say where a reader
// that has dealt with it can go on.
type Event struct {
	Kind       EventKind
	ID         string // session
	Cursor     int64
	Data       []byte // valid until the next call of Next
	View       *View
	From, To   int64 // of a gap; From also of output and bytes: where in the log Data begins, but for modes in front of it
	Cols, Rows uint16
	Run        int
	Deleted    bool
	Answers    bool
}

// A Cursor is where a Stream begins. Its zero value is a bounded tail of the
// log, cut where no character and no escape sequence is broken. In front of the
// first Data of a tail stands what brings a fresh terminal to the modes that
// hold there: the only Data that is not in the log.
type Cursor struct {
	kind   cursorKind
	offset int64
}

type cursorKind uint8

const (
	fromTail cursorKind = iota
	fromOffset
	fromLast
)

// FromOffset is the cursor at a byte of the log.
func FromOffset(n int64) Cursor { return Cursor{fromOffset, n} }

// Tail is the bounded tail with a bound of its own, n > 0 bytes of the log.
func Tail(n int64) Cursor { return Cursor{fromTail, n} }

// FromLast is the cursor n bytes before the end, or at the oldest byte.
func FromLast(n int64) Cursor { return Cursor{fromLast, n} }

// ParseCursor reads an offset in bytes, or -N for the last N. It reports whether
// s is one of them.
func ParseCursor(s string) (c Cursor, ok bool) {
	digits, last := strings.CutPrefix(s, "-")
	n, ok := ParseOffset(digits)
	if last {
		return FromLast(n), ok
	}
	return FromOffset(n), ok
}

// ParseOffset reads a number of bytes without a sign. One that is larger than
// any offset counts as the largest: it is past the end of every log.
func ParseOffset(digits string) (n int64, ok bool) {
	u, err := strconv.ParseUint(digits, 10, 63)
	return int64(u), err == nil || errors.Is(err, strconv.ErrRange)
}

// Place is where the cursor is in a log that has the bytes from oldest to end.
// It may be past the end; the bounded tail counts as the end.
func (c Cursor) Place(oldest, end int64) int64 {
	switch c.kind {
	case fromOffset:
		return c.offset
	case fromLast:
		return max(oldest, end-c.offset)
	}
	return end
}

// String is the cursor as a request writes it; the bounded tail has no words.
func (c Cursor) String() string {
	switch c.kind {
	case fromOffset:
		return strconv.FormatInt(c.offset, 10)
	case fromLast:
		return "-" + strconv.FormatInt(c.offset, 10)
	}
	return ""
}
