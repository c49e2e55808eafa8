package leasefs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const (
	// retryFor is how long a refusal is doubted. A holder that was killed may
	// have a child between fork and exec, which has the lock until it is
	// through.
	retryFor = 100 * time.Millisecond

	// maxWait is the longest pause between two tries.
	maxWait = 16 * time.Millisecond

	// maxRestarts is how often the lock file may be another one after the
	// lock. Each time somebody has just removed it.
	maxRestarts = 50
)

// errMoved reports a lock on a file that is no longer at its path.
var errMoved = errors.New("lock file was replaced")

// Options say how to lock and who asks.
type Options struct {
	// Family is what Probe found for the file system.
	Family Family

	// Self is this process, for the holder record. Since is filled in.
	Self Holder

	// Claim, if there is one, is called with the lock held, before the record
	// is written. It fails if what is leased is gone, and it raises the fence
	// of what is leased.
	Claim func() error

	// New says that Claim makes what is leased: if it fails there is no such
	// thing, and the lock file goes too.
	New bool

	test testHooks
}

// testHooks change the protocol for tests; they are zero in production. The
// weakened forms exist so that the stress test is known to be able to fail.
type testHooks struct {
	locker            *locker // instead of the family's
	skipInodeCheck    bool
	unlinkAfterUnlock bool
}

func (o Options) locker() locker {
	if o.test.locker != nil {
		return *o.test.locker
	}
	return o.Family.locker()
}

// Acquire takes the lease on the lock file at path, which it creates if need
// be. It waits at most about 100 ms for another holder (200 ms if that one's
// record cannot be read), and 2 s for the file system.
//
// It fails with a *HeldError, ErrReadOnly, ErrUnsafe, ErrTimeout, or the error
// of Options.Claim as it is; nothing is held then. If the error of Claim
// matches fs.ErrNotExist, or with Options.New, the lock file is removed too: it
// would lie there for ever.
func Acquire(path string, o Options) (*Lease, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("lease: %w", err)
	}
	begun := time.Now()
	for wait := time.Millisecond; ; wait = min(2*wait, maxWait) {
		l, err := attempt(path, o)
		if err == nil {
			return l.open(o)
		}
		if !errors.Is(err, errRefused) {
			return nil, err
		}
		// An error here is a record that nobody can read.
		holder, _ := readRecord(path)
		if past := time.Since(begun); past >= 2*retryFor || past >= retryFor && holder != nil {
			refusals.Add(1)
			return nil, &HeldError{Holder: holder}
		}
		time.Sleep(wait)
	}
}

// attempt asks for the lock once. A lock that comes late is given back.
func attempt(path string, o Options) (*Lease, error) {
	return limited(o.Family,
		func() (*Lease, error) { return lockFile(path, o) },
		func(l *Lease) { l.end(false) },
	)
}

// lockFile locks the file that is at path, whichever that is in the end.
func lockFile(path string, o Options) (*Lease, error) {
	for range maxRestarts {
		l, err := lockOnce(path, o)
		if !errors.Is(err, errMoved) {
			return l, err
		}
	}
	return nil, fmt.Errorf("%w: the lock file is another one after each lock", ErrUnsafe)
}

// lockOnce goes through the first three steps of the protocol. On an error
// nothing is open, locked or reserved.
func lockOnce(path string, o Options) (*Lease, error) {
	f, err := openLockFile(path)
	if err != nil {
		return nil, err
	}
	is, err := identify(f)
	if err == nil && !is.regular {
		err = fmt.Errorf("%w: the lock file is not a file", ErrUnsafe)
	}
	if err == nil {
		err = table.reserve(is.fileID, path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	locks := o.locker()
	if err := locks.try(f); err != nil {
		table.drop(is.fileID)
		f.Close()
		return nil, err
	}
	l := newLease(f, path, is.fileID, o)
	if l.size, err = l.current(); err != nil && !o.test.skipInodeCheck {
		l.end(false)
		return nil, err
	}
	return l, nil
}

func openLockFile(path string) (*file, error) {
	f, err := openFile(path, os.O_RDWR|os.O_CREATE|noFollow, 0o600)
	switch {
	case err == nil:
		return f, nil
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return nil, fmt.Errorf("%w: %v", ErrReadOnly, pathless(err))
	case isLink(path):
		return nil, fmt.Errorf("%w: the lock file is a symbolic link", ErrUnsafe)
	default:
		return nil, fmt.Errorf("lease: %w", err)
	}
}

// pathless is err without the path of the lock file, which nobody gave.
func pathless(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
