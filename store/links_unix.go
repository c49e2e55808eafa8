//go:build unix

package store

import (
	"io/fs"
	"syscall"
)

// linked reports whether the file has more names than one: then a fork or a
// backup shares its bytes.
func linked(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return !ok || st.Nlink > 1
}
