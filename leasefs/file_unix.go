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

func identify(f *os.File) (identity, error) {
	info, err := f.Stat()
	if err != nil {
		return identity{}, err
	}
	return identityOf(info), nil
}

func identifyPath(path string) (identity, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return identity{}, err
	}
	return identityOf(info), nil
}

func identityOf(info os.FileInfo) identity {
	st := info.Sys().(*syscall.Stat_t)
	return identity{
		fileID:  fileID{device: uint64(st.Dev), inode: uint64(st.Ino)},
		links:   uint64(st.Nlink),
		regular: info.Mode().IsRegular(),
	}
}
