//go:build !unix

package cli

import "syscall"

// writeNow leaves all to a write that waits.
func writeNow(syscall.RawConn, []byte) int { return 0 }
