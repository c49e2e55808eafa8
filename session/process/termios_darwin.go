package process

import "golang.org/x/sys/unix"

const (
	getTermios   = unix.TIOCGETA
	setTermios   = unix.TIOCSETA
	inputUTF8    = unix.IUTF8
	disabledChar = 0xff
	maxLine      = 1023
)
