package leasefs

// The kernel has these since macOS 10.11; golang.org/x/sys/unix does not name
// them.
const (
	setOFDLock = 90 // F_OFD_SETLK
	getOFDLock = 92 // F_OFD_GETLK
)
