//go:build unix

package leasefs

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

func tryFlock(f *file) error {
	return lockCall(f, func(fd uintptr) error { return unix.Flock(int(fd), unix.LOCK_EX|unix.LOCK_NB) })
}

func unlockFlock(f *file) error {
	return lockCall(f, func(fd uintptr) error { return unix.Flock(int(fd), unix.LOCK_UN) })
}

// flockBusy takes a shared lock for a moment, since flock has no question.
// Askers do not disturb each other, and a contender that meets one tries again
// within its 100 ms.
func flockBusy(f *file) (bool, error) {
	err := lockCall(f, func(fd uintptr) error { return unix.Flock(int(fd), unix.LOCK_SH|unix.LOCK_NB) })
	if errors.Is(err, errRefused) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, unlockFlock(f)
}

// lockCall runs call on the descriptor of f, again as long as a signal
// interrupts it, and says in our terms what the kernel answered.
func lockCall(f *file, call func(fd uintptr) error) error {
	answer := again(func() error { return call(f.Fd()) })
	switch {
	case answer == nil:
		return nil
	case answer == unix.EAGAIN || answer == unix.EACCES:
		return errRefused
	case answer == unix.EINVAL || answer == unix.ENOSYS || answer == unix.ENOLCK ||
		answer == unix.ENOTSUP || answer == unix.EOPNOTSUPP:
		return fmt.Errorf("%w: %v", ErrUnsafe, answer)
	default:
		return fmt.Errorf("lock call: %w", answer)
	}
}
