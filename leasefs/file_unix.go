//go:build unix

package leasefs

import (
	"os"
	"syscall"
)

const (
	// noFollow refuses a symbolic link in place of a lock file.
	noFollow = syscall.O_NOFOLLOW

	// unlinksOpen says that an open file can be unlinked.
	unlinksOpen = true
)

// isLink reports whether an open failed because of noFollow. The BSDs do not
// agree on the error number.
func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&os.ModeSymlink != 0
}

// A file is an open lock file. It is a descriptor and not an os.File, for which
// Go asks the poller: five system calls that do nothing for a file on a disk.
// Its methods are those of an os.File; nothing closes it but Close.
type file struct{ fd int }

func openFile(path string, flags int, mode uint32) (*file, error) {
	f := &file{-1}
	err := again(func() (err error) {
		f.fd, err = syscall.Open(path, flags|syscall.O_CLOEXEC, mode)
		return err
	})
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return f, nil
}

// fileOf is f as long as that is open.
func fileOf(f *os.File) *file { return &file{int(f.Fd())} }

// again calls a system call until no signal interrupts it, as on FUSE.
func again(call func() error) error {
	for {
		if err := call(); err != syscall.EINTR {
			return err
		}
	}
}

func (f *file) Fd() uintptr { return uintptr(f.fd) }

// ReadAt reads once, so that less than p may mean anything.
func (f *file) ReadAt(p []byte, off int64) (n int, err error) {
	err = again(func() error { n, err = syscall.Pread(f.fd, p, off); return err })
	return max(n, 0), err
}

// WriteAt writes once, so that less than p may mean anything.
func (f *file) WriteAt(p []byte, off int64) (n int, err error) {
	err = again(func() error { n, err = syscall.Pwrite(f.fd, p, off); return err })
	return max(n, 0), err
}

func (f *file) Truncate(size int64) error {
	return again(func() error { return syscall.Ftruncate(f.fd, size) })
}

func (f *file) Sync() error { return again(func() error { return syscall.Fsync(f.fd) }) }

func (f *file) Close() error {
	fd := f.fd
	f.fd = -1 // the number is the next file's
	return syscall.Close(fd)
}

func identify(f *file) (identity, error) {
	var st syscall.Stat_t
	err := again(func() error { return syscall.Fstat(f.fd, &st) })
	return identityOf(&st), err
}

func identifyPath(path string) (identity, error) {
	var st syscall.Stat_t
	err := again(func() error { return syscall.Lstat(path, &st) })
	return identityOf(&st), err
}

func identityOf(st *syscall.Stat_t) identity {
	return identity{
		fileID:  fileID{device: uint64(st.Dev), inode: uint64(st.Ino)},
		links:   uint64(st.Nlink),
		size:    st.Size,
		regular: st.Mode&syscall.S_IFMT == syscall.S_IFREG,
	}
}
