// Package leasefs leases a path to one process at a time, by a kernel lock on
// a lock file, so that a dead holder blocks nobody and a live one is never
// overrun.
//
// # Promised
//
// At most one lease on a lock file exists at a time: in this process, among
// all processes of this machine, and, on a file system whose locks every host
// honours (NFSv4, CephFS), among all hosts. The kernel frees the lease of a
// process that dies, however it dies. Who is refused is told who holds it.
// Nothing here waits longer than about 100 ms for another holder, nor longer
// than 2 s for the answer to a lock call.
//
// # Not promised
//
//   - The holder record is text for people. Nothing here decides by a pid, a
//     host name or a clock, and a lease without a readable record is a lease.
//   - On a network file system a holder that was cut off for longer than the
//     server's own lease loses the lock and is not told. Check finds out; a
//     fencing number in the data, raised by Options.Claim, is what keeps the
//     data whole.
//   - An NFSv3 server keeps the lock of a client host that lost its power until
//     that host is back.
//   - A file system whose locks do nothing is found by Probe only if they do
//     nothing between two opens on this machine, or if its mount options say
//     so. Of the kinds of FUSE that hand no locks on, only some are known; two
//     mounts of another that share storage but not locks look right from here.
//   - On Windows a symbolic link in place of the lock file is followed, and
//     the lock file stays when what it protected is removed.
//
// # The protocol
//
// Acquire, in the order of the system calls:
//
//  1. open(O_RDWR|O_CREAT|O_NOFOLLOW|O_CLOEXEC, 0600), fstat. The table of
//     this process, keyed by device and inode, refuses a second lease.
//  2. fcntl(F_OFD_SETLK), or what stands for it, on one byte at 1<<30.
//  3. stat of the path: another file there, or none, means start over.
//  4. pwrite: the record is ours, whose it was before; ftruncate, if that one
//     was longer.
//  5. Options.Claim: what is leased still exists, and its fence is raised.
//     A holder that dies here, or later, has left its record.
//
// Release: ftruncate, unlock, close, in that order and only when all writers
// have stopped. Where a lease can be lost without a word, a pread comes first:
// another's record stays. The unlock is explicit because a child between fork and exec
// shares the open file, and would keep the lock for as long as it is there.
//
// The lock file is unlinked only while it is held (Remove, Guard). A lock file
// that is unlinked after the unlock, or a lock that is not compared with the
// path, gives two holders: one has the old file, one the new.
//
// # Why these locks
//
// A classic fcntl lock belongs to a process and an inode: it falls when any
// descriptor of that file is closed here, an os.ReadFile of the lock file
// included, and it does not keep this process from itself. Locks of the open
// file description (OFD locks, flock, LockFileEx) have neither fault. OFD
// locks come first where they exist, since a network file system that honours
// locks at all honours those on byte ranges. The byte lies far behind the
// record, so that the record can be read where locks are mandatory.
//
// # Concurrency
//
// All functions and methods may be called from any goroutine.
package leasefs

import (
	"errors"
	"path/filepath"
)

// What can keep a lease from being had.
var (
	// ErrHeld reports that somebody has the lease. The concrete error is a
	// *HeldError that says who.
	ErrHeld = errors.New("lease held")

	// ErrReadOnly reports that the lock file cannot be opened for writing:
	// a read-only file system, or somebody else's folder.
	ErrReadOnly = errors.New("store is read-only")

	// ErrUnsafe reports that locks cannot be relied on here. The text of the
	// error that wraps it says why.
	ErrUnsafe = errors.New("file locks cannot be relied on here")

	// ErrTimeout reports that the file system did not answer within 2 s.
	// Whatever the call gets when it does come back is given back at once.
	ErrTimeout = errors.New("file system did not answer a lock call within 2s")
)

// ErrLost reports that a lease that was had is not ours any more.
var ErrLost = errors.New("lease lost")

// Canonical returns the one form in which lock paths are compared: absolute,
// with the symbolic links of the folder resolved. The folder must exist. The
// last element is kept as it is, since a lock file is never a link.
func Canonical(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(abs))
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, filepath.Base(abs)), nil
}
