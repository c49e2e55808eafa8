//go:build linux || darwin

package leasefs

import (
	"io"

	"golang.org/x/sys/unix"
)

// lockers is indexed by Family. OFD locks are the first choice; flock is for
// file systems that forward no fcntl locks (some FUSE).
var lockers = []locker{
	{try: tryByte, unlock: unlockByte, busy: byteBusy},
	{try: tryFlock, unlock: unlockFlock, busy: flockBusy},
}

// tryByte takes an OFD lock, never a classic F_SETLK: that one belongs to the
// pair of process and inode, and falls when any descriptor of the file is
// closed in this process.
func tryByte(f *file) error {
	_, err := ofd(f, setOFDLock, unix.F_WRLCK)
	return err
}

func unlockByte(f *file) error {
	_, err := ofd(f, setOFDLock, unix.F_UNLCK)
	return err
}

// byteBusy asks for the lock without taking it, so it refuses nobody.
func byteBusy(f *file) (bool, error) {
	kind, err := ofd(f, getOFDLock, unix.F_WRLCK)
	return kind != unix.F_UNLCK, err
}

// ofd runs one fcntl lock command on the locked byte and returns the kind of
// lock that the kernel leaves in the request.
func ofd(f *file, command int, kind int16) (int16, error) {
	lock := unix.Flock_t{Type: kind, Whence: io.SeekStart, Start: lockOffset, Len: 1}
	err := lockCall(f, func(fd uintptr) error { return unix.FcntlFlock(fd, command, &lock) })
	return lock.Type, err
}
