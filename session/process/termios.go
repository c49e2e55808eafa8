//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package process

import "golang.org/x/sys/unix"

// lineMode reads from t what Line needs.
func lineMode(t *unix.Termios) LineMode {
	char := func(i int, active bool) int16 {
		if c := t.Cc[i]; active && c != disabledChar {
			return int16(c)
		}
		return off
	}
	signals := t.Lflag&unix.ISIG != 0
	extended := t.Lflag&unix.IEXTEN != 0
	echo := t.Lflag&unix.ECHO != 0
	const erasing = unix.ECHO | unix.ECHOE | unix.ECHOK | unix.ECHOKE
	flow := t.Iflag&unix.IXON != 0
	return LineMode{
		Canonical:    t.Lflag&unix.ICANON != 0,
		Hidden:       t.Lflag&unix.ICANON != 0 && !echo,
		intr:         char(unix.VINTR, signals),
		quit:         char(unix.VQUIT, signals),
		susp:         char(unix.VSUSP, signals),
		start:        char(unix.VSTART, flow),
		stop:         char(unix.VSTOP, flow),
		erase:        char(unix.VERASE, true),
		wordErase:    char(unix.VWERASE, extended),
		kill:         char(unix.VKILL, true),
		eof:          char(unix.VEOF, true),
		eol:          char(unix.VEOL, true),
		eol2:         char(unix.VEOL2, extended),
		literal:      char(unix.VLNEXT, extended),
		reprint:      char(unix.VREPRINT, extended && echo),
		keepOnSignal: t.Lflag&unix.NOFLSH != 0,
		killAtOnce:   t.Lflag&erasing != erasing,
		crToNL:       t.Iflag&unix.ICRNL != 0,
		ignoreCR:     t.Iflag&unix.IGNCR != 0,
		nlToCR:       t.Iflag&unix.INLCR != 0,
		utf8:         t.Iflag&inputUTF8 != 0,
	}
}
