package leasefs

import "golang.org/x/sys/unix"

const (
	setOFDLock = unix.F_OFD_SETLK
	getOFDLock = unix.F_OFD_GETLK
)
