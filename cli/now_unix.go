//go:build unix

package cli

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// writeNow writes what a connection takes of p at once, and returns how much
// that is. An error shows at the next write that waits.
func writeNow(c syscall.RawConn, p []byte) (n int) {
	c.Control(func(fd uintptr) { n, _ = unix.Write(int(fd), p) })
	return max(n, 0)
}
