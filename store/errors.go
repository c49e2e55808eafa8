package store

import (
	"errors"
	"fmt"
	"io/fs"
)

var (
	// ErrNotFound reports an id without a session, also one that is no id.
	// It matches fs.ErrNotExist.
	ErrNotFound error = notFoundError{}

	// ErrExists reports the creation of a session whose id is taken.
	ErrExists = errors.New("session exists")

	// ErrDamaged reports a session whose session.json cannot be used. The
	// concrete error is a *DamagedError with the reason.
	ErrDamaged = errors.New("session is damaged")

	// ErrFenced reports that another writer has taken the session over:
	// session.json has another epoch, or is gone. This writer writes no more.
	ErrFenced = errors.New("session was taken over by another writer")

	// ErrLost reports a sync that failed: what of the session is on disk is
	// unknown. On a network file system that is how a lost lock shows.
	ErrLost = errors.New("the disk did not keep what it was given")

	// ErrLeft reports a removal after which the session is gone, but some of
	// its files are still in the trash. Leftovers finds them.
	ErrLeft = errors.New("files of a removed session are left")

	// errBusy reports a second writer, or a removal, beside a writer of this
	// process. The lease rules that out; it is a fault of the caller.
	errBusy = errors.New("session has a writer in this process")

	// ErrClosed reports the use of a Writer after Close.
	ErrClosed = errors.New("session writer is closed")
)

// A DamagedError says why a session's session.json cannot be used. The file is
// left as it is.
type DamagedError struct {
	ID     string // the session, "" if not known
	Reason string // for people, one line
}

func (e *DamagedError) Error() string {
	if e.ID == "" {
		return "session is damaged: " + e.Reason
	}
	return fmt.Sprintf("session %s is damaged: %s", e.ID, e.Reason)
}

// Is reports whether target is ErrDamaged.
func (e *DamagedError) Is(target error) bool { return target == ErrDamaged }

type notFoundError struct{}

func (notFoundError) Error() string { return "no such session" }

// Is reports whether target is fs.ErrNotExist.
func (notFoundError) Is(target error) bool { return target == fs.ErrNotExist }
