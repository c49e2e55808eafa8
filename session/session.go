// Package session runs programs in sessions and keeps what is true of them on
// disk. Its Controller is used in the same way by every front end.
//
// # What it promises
//
//   - A session is written only under its lease: the lease is taken before the
//     program is spawned and released after the last byte and the final state
//     are on disk. At every moment this process holds exactly the leases of
//     the sessions that it writes.
//   - Every lifecycle change goes through package state, is saved, and is
//     published to readers only then.
//   - New, Resume, Fork, Switch and Replace either happen whole or leave
//     binding, rows, logs and leases as they were. The last two have an
//     exception: when the new program does not start, the old session stays
//     stopped.
//   - Reading never waits for a session's program, for a start or for a stop.
//   - What a program asks its terminal is answered by the terminal whose Stream
//     came last and has caught up, and while there is none by whoever holds the
//     session. Each query is answered once, also while terminals come and go, if
//     they answer only where KindTerminal says so. A terminal that goes while it
//     is asked may leave a query without an answer.
//
// # What it does not
//
// It does not restart programs that end, and it decides nothing from a pid: a
// row that claims a live program is checked against its lease. A program that
// escapes from its kernel session (setsid) is not ended by a stop. What is left
// of a run whose holder was killed is ended by the next start, stop or deletion
// if the program itself is still there and was recorded, which happens a few
// milliseconds after its start. Nothing but the hangup of the terminal ends the
// rest.
//
// Several terminals of one session all answer what a program asks, and one that
// stalls answers late or, if it goes away, not at all. What is answered for no
// terminal is a guess of what one would say, and a program that does not read
// gets none.
//
// # Concurrency
//
// Lock order: Controller.bindMu, then a reservation, then Controller.mu or a
// live session's mutex, which are leaves but for that of its receipts. A
// reservation is a lock that shows: whoever finds a long one (a switch, a
// deletion) gets ErrBusy instead of waiting, unless it holds nothing itself.
// Short ones are waited for, under bindMu too, because who holds a short one
// never asks for bindMu. Switch and Delete hold a long reservation when they
// take bindMu; that is safe since nobody waits for it under bindMu. No mutex of
// a session is held over PTY I/O or file I/O, so a stuck program or disk delays
// its own session only.
package session

import (
	"errors"
	"fmt"
)

// What a request may find. Errors of the store, leasefs and process packages
// are passed on as they are: store.ErrNotFound, store.ErrDamaged,
// *leasefs.HeldError, process.ErrUnknownSignal.
var (
	// ErrBusy reports a session that is being switched or deleted.
	ErrBusy = errors.New("session is busy")

	// ErrLive reports a start of a session that has a program.
	ErrLive = errors.New("session is already live")

	// ErrNotLive reports input, a resize or a signal for a session without a
	// program in this process.
	ErrNotLive = errors.New("session is not live here")

	// ErrNothingBound reports a request for the bound session while there is
	// none.
	ErrNothingBound = errors.New("no session is bound")

	// ErrClosing reports a request that came after Close.
	ErrClosing = errors.New("shutting down")

	// ErrPastEnd reports a cursor beyond the end of the log.
	ErrPastEnd = errors.New("cursor is past the end of the output")

	// ErrExhausted reports a start for which the system has no descriptors,
	// processes or memory left.
	ErrExhausted = errors.New("out of system resources")

	// ErrStorage reports a change that could not be made durable. The cause
	// is in its text.
	ErrStorage = errors.New("cannot write the store")
)

// A SpecError says what is wrong with one value of a request. Nothing was
// changed.
type SpecError struct {
	Field  string // the JSON member
	Value  string // what was given
	Reason string // what is wrong with it, and what to do
}

func (e *SpecError) Error() string { return fmt.Sprintf("%s %q: %s", e.Field, e.Value, e.Reason) }

// An AmbiguousError says that a reference fits several sessions.
type AmbiguousError struct {
	Ref        string
	Candidates []View
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%q fits %d sessions", e.Ref, len(e.Candidates))
}
