package leasefs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"
)

// A Lease is the right to write what its lock file stands for. It lasts until
// Release or Remove, or until the process ends.
type Lease struct {
	path   string // absolute
	file   *file
	id     fileID
	family Family
	locks  locker
	holder Holder
	record []byte // holder, encoded
	size   int64  // of what was in the file when the lock was had
	test   testHooks

	// mu guards ended, and every write to the file: what Check writes must
	// not land after the unlock. It is held over calls that may block, so it
	// is only taken where limited waits. Before registry.mu.
	mu    sync.Mutex
	ended bool
}

// newLease makes a lease of a file whose lock is had and whose id is reserved.
// It assumes nothing about how the lock came to be.
func newLease(f *file, path string, id fileID, o Options) *Lease {
	holder := o.Self
	holder.Since = time.Now().UTC()
	l := &Lease{path: path, file: f, id: id, family: o.Family, locks: o.locker(), holder: holder, record: holder.encode(), test: o.test}
	table.grant(l)
	return l
}

// open says who has the lease and claims what is leased. If claim fails, the
// lease is given back.
func (l *Lease) open(o Options) (*Lease, error) {
	// Before the claim: whose record was there does not hold the lease, and
	// who dies while claim is at work is known to have been at work. The
	// record is for people and for those who clear up. Without one, on a full
	// disk for example, the lease is as good, and is needed to delete what
	// fills the disk.
	// Written before the rest is cut off, so that the file is never empty.
	n, _ := l.file.WriteAt(l.record, 0)
	if n < len(l.record) {
		n = 0
	}
	if n == 0 || l.size > int64(n) {
		_ = l.file.Truncate(int64(n))
	}
	if o.Claim != nil {
		if err := o.Claim(); err != nil {
			_ = l.finish(o.New || errors.Is(err, fs.ErrNotExist))
			return nil, err
		}
	}
	return l, nil
}

// Path returns the path of the lock file, as Acquire was given it but absolute.
func (l *Lease) Path() string { return l.path }

// Release gives the lease back, once all writers have stopped. Again is a
// no-op. After ErrTimeout the unlock is still under way, and the lease counts
// as held by this process until the file system has answered; after any other
// error the lease is free.
func (l *Lease) Release() error { return l.finish(false) }

// Remove unlinks the lock file and gives the lease back. It belongs to the
// removal of what is leased, after which it is called; nobody can have taken
// the lease in between. Errors are those of Release and of the unlink.
func (l *Lease) Remove() error { return l.finish(true) }

func (l *Lease) finish(unlink bool) error {
	return limitedCall(l.family, func() error { return l.end(unlink) })
}

// end is Release without a limit of time.
func (l *Lease) end(unlink bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return nil
	}
	l.ended = true
	table.ending(l)

	var unlinked error
	if unlink && unlinksOpen {
		if _, err := l.current(); err == nil {
			unlinked = os.Remove(l.path)
		}
	}
	if l.family.Local() || !l.foreignRecord() { // what is local is not lost
		_ = l.file.Truncate(0) // what stays is ignored by the next holder
	}
	unlocked := l.locks.unlock(l.file)
	table.drop(l.id)
	closed := l.file.Close()
	if l.test.unlinkAfterUnlock {
		os.Remove(l.path)
	}
	if err := errors.Join(unlinked, unlocked, closed); err != nil {
		return fmt.Errorf("release lease: %w", err)
	}
	return nil
}

// Check finds out whether the lease is still ours: the lock file is at its
// path, nobody else has put a record there, and what is written to it reaches
// the storage (a network file system tells of a lost lock by no other sign).
// It fails with ErrLost, or with ErrTimeout if there is no answer.
func (l *Lease) Check() error { return limitedCall(0, l.check) }

func (l *Lease) check() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return fmt.Errorf("%w: it was released", ErrLost)
	}
	if _, err := l.current(); err != nil {
		return fmt.Errorf("%w: %v", ErrLost, err)
	}
	if l.foreignRecord() {
		return fmt.Errorf("%w: another process has it", ErrLost)
	}
	// Without something to write an fsync has nothing to fail with.
	if _, err := l.file.WriteAt(l.record, 0); err != nil && !diskFull(err) {
		return fmt.Errorf("%w: %v", ErrLost, err)
	}
	if err := l.file.Sync(); err != nil && !diskFull(err) {
		return fmt.Errorf("%w: %v", ErrLost, err)
	}
	return nil
}

// current returns the size of the lock file, or errMoved if another file, or
// none, is at the path.
func (l *Lease) current() (size int64, err error) {
	is, err := identifyPath(l.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, errMoved
	case err != nil:
		return 0, fmt.Errorf("lease: %w", err)
	case is.fileID != l.id || is.links == 0:
		return 0, errMoved
	}
	return is.size, nil
}

// foreignRecord reports whether the lock file has a sound record that is not
// ours: the lock was lost, and somebody has it. A damaged record says nothing.
func (l *Lease) foreignRecord() bool {
	b, err := recordBytes(l.file)
	if err != nil || bytes.Equal(b, l.record) {
		return false
	}
	_, err = decodeHolder(b)
	return err == nil
}

// diskFull reports whether err says that there is no room, which is never a
// reason to give up a lease.
func diskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
