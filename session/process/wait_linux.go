package process

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// sealDescriptors marks every descriptor of this process but the standard three
// close-on-exec. Go does so with what it opens, not with what was inherited.
func sealDescriptors() {
	_ = unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC) // since Linux 5.11
}

// wantHandle asks for a pidfd of the child; it stays -1 before Linux 5.4.
func wantHandle(attr *syscall.SysProcAttr) *int {
	handle := -1
	attr.PidFD = &handle
	return &handle
}

// awaitExit waits in the poller until the process of the pidfd can be reaped, and
// closes the pidfd. If that does not work it returns at once, and reap waits.
func awaitExit(pidfd int) {
	if pidfd < 0 {
		return
	}
	if err := unix.SetNonblock(pidfd, true); err != nil { // makes NewFile use the poller
		unix.Close(pidfd)
		return
	}
	f := os.NewFile(uintptr(pidfd), "pidfd")
	defer f.Close()
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = conn.Read(func(fd uintptr) bool {
		ready, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		return ready > 0 || err != nil && err != unix.EINTR
	})
}
