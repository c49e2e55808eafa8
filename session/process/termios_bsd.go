//go:build dragonfly || freebsd || netbsd || openbsd

package process

import "golang.org/x/sys/unix"

const (
	getTermios   = unix.TIOCGETA
	setTermios   = unix.TIOCSETA
	inputUTF8    = 0 // they erase bytes
	disabledChar = 0xff
	maxLine      = 1023
)
