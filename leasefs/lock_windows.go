package leasefs

import (
	"errors"
	"fmt"

	"golang.org/x/sys/windows"
)

// lockers is indexed by Family. LockFileEx belongs to the handle and is
// mandatory, which is why the locked byte is not in the record.
var lockers = []locker{{try: tryHandle, unlock: unlockHandle, busy: handleBusy}}

func tryHandle(f *file) error {
	return lockHandle(f, windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY)
}

func unlockHandle(f *file) error {
	return lockCall(f, func(h windows.Handle, at *windows.Overlapped) error {
		return windows.UnlockFileEx(h, 0, 1, 0, at)
	})
}

// handleBusy takes a shared lock for a moment, as flockBusy does elsewhere.
func handleBusy(f *file) (bool, error) {
	err := lockHandle(f, windows.LOCKFILE_FAIL_IMMEDIATELY)
	if errors.Is(err, errRefused) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, unlockHandle(f)
}

func lockHandle(f *file, flags uint32) error {
	return lockCall(f, func(h windows.Handle, at *windows.Overlapped) error {
		return windows.LockFileEx(h, flags, 0, 1, 0, at)
	})
}

func lockCall(f *file, call func(windows.Handle, *windows.Overlapped) error) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var answer error
	err = conn.Control(func(fd uintptr) {
		answer = call(windows.Handle(fd), &windows.Overlapped{Offset: lockOffset})
	})
	switch {
	case err != nil:
		return err
	case answer == nil:
		return nil
	case answer == windows.ERROR_LOCK_VIOLATION || answer == windows.ERROR_IO_PENDING:
		return errRefused
	case answer == windows.ERROR_NOT_SUPPORTED || answer == windows.ERROR_INVALID_FUNCTION:
		return fmt.Errorf("%w: %v", ErrUnsafe, answer)
	default:
		return fmt.Errorf("lock call: %w", answer)
	}
}
