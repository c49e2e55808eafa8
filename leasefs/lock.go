package leasefs

import (
	"errors"
	"time"
)

const (
	// lockOffset is where the one locked byte lies: past the record, and past
	// the end of any lock file.
	lockOffset = 1 << 30

	// lockLimit is how long a file system may take to answer. A "non-blocking"
	// lock call on NFS blocks for the server's grace period, 90 s by default.
	lockLimit = 2 * time.Second
)

// errRefused is the answer of a lock call when somebody has the lock.
var errRefused = errors.New("lock refused")

// A Family is the kind of lock calls that work on a file system, as found by
// Probe. The zero value is the first choice of the operating system. All
// processes that share a store must use the same one.
type Family uint8

// localDisk is set in a Family whose file system is a disk of this machine or
// its memory. Its calls do not wait for a server, and are made without the
// goroutine that limited needs, which costs four times as much as they do.
const localDisk Family = 1 << 7

// Local reports whether no file server has a part in the locks, so that none is
// lost without a word.
func (f Family) Local() bool { return f&localDisk != 0 }

func (f Family) locker() locker { return lockers[f&^localDisk] }

// A locker is the calls of one family. None of them waits for another holder;
// any of them may block for as long as a file server does not answer.
type locker struct {
	// try takes the lock, or returns errRefused. Its errors match ErrUnsafe
	// if the file system does not know such locks.
	try func(*file) error

	// unlock gives the lock back at once, also if a child in mid-exec shares
	// the open file.
	unlock func(*file) error

	// busy reports whether an open file other than this one has the lock.
	busy func(*file) (bool, error)
}

// limited runs call and returns what it returns, or ErrTimeout after lockLimit
// where f may need so long. The goroutine it starts ends when the kernel answers; until then
// it alone owns the files that call uses, and a value that comes back late
// goes to late (nil: there is nothing to give back).
func limited[T any](f Family, call func() (T, error), late func(T)) (T, error) {
	if f&localDisk != 0 {
		return call()
	}
	type result struct {
		value T
		err   error
	}
	done := make(chan result)
	gone := make(chan struct{})
	go func() {
		value, err := call()
		select {
		case done <- result{value, err}:
		case <-gone:
			if err == nil && late != nil {
				late(value)
			}
		}
	}()

	limit := time.NewTimer(lockLimit)
	defer limit.Stop()
	select {
	case r := <-done:
		return r.value, r.err
	case <-limit.C:
		close(gone)
		var zero T
		return zero, ErrTimeout
	}
}

// limitedCall is limited for a call that returns nothing but an error.
func limitedCall(f Family, call func() error) error {
	_, err := limited(f, func() (struct{}, error) { return struct{}{}, call() }, nil)
	return err
}
