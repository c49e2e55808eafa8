package process

import "golang.org/x/sys/unix"

const (
	getTermios   = unix.TCGETS
	setTermios   = unix.TCSETS
	disabledChar = 0
	inputUTF8    = unix.IUTF8
	maxLine      = 4095
)
