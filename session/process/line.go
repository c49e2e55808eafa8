package process

import (
	"slices"
)

// MaxLine is the longest line, in bytes without its end, that a terminal in
// line mode takes. The kernel silently drops what is typed past it. (Linux:
// N_TTY_BUF_SIZE in drivers/tty/n_tty.c. BSD: TTYHOG in kern/tty.c.)
const MaxLine = maxLine

// A LineMode is how a terminal treats what is typed. The zero value hands on
// every byte as it comes.
type LineMode struct {
	Canonical bool // the kernel collects lines (ICANON)
	Hidden    bool // and does not show them, as where a password is asked for (no ECHO)

	// The special characters; off for one that is disabled. Those of a mode
	// that is not set (ISIG, IEXTEN, IXON, ECHO) are off too.
	intr, quit, susp         int16
	start, stop              int16
	erase, wordErase, kill   int16
	eof, eol, eol2           int16
	literal, reprint         int16
	keepOnSignal             bool // NOFLSH
	killAtOnce               bool // not all of ECHO, ECHOE, ECHOK and ECHOKE
	crToNL, ignoreCR, nlToCR bool // ICRNL, IGNCR, INLCR
	utf8                     bool // IUTF8
}

// off is a special character that no byte matches.
const off = -1

// A Line is the unfinished line of a terminal in line mode, as the kernel keeps
// it: what has been typed since the last line end, less what was erased. The
// zero value is an empty line. It does not know of input that the program
// flushed (tcflush); then it is longer than the kernel's.
type Line struct {
	text    []byte // never changed in place
	literal bool   // the next byte is taken as it is
}

// Type returns the line after b has been typed on l in mode m. It reports false,
// and l itself, if a line would grow past MaxLine on the way and lose bytes.
// (n_tty_receive_char_special and n_tty_receive_char_canon in Linux. ISTRIP,
// IUCLC, PARMRK and EXTPROC are not followed; no shell or editor sets them.)
func (l Line) Type(m LineMode, b []byte) (next Line, fits bool) {
	if !m.Canonical {
		return Line{}, true
	}
	next = Line{slices.Clip(l.text), l.literal}
	for _, c := range b {
		next.typeByte(m, c)
		if len(next.text) > MaxLine {
			return l, false
		}
	}
	return next, true
}

// End returns what ends the input of a program that reads lines: the EOF
// character, twice if the line is unfinished, for the first one hands that
// over. It is nothing in a mode without lines or without that character.
func (l Line) End(m LineMode) []byte {
	switch {
	case !m.Canonical || m.eof == off:
		return nil
	case len(l.text) > 0:
		return []byte{byte(m.eof), byte(m.eof)}
	}
	return []byte{byte(m.eof)}
}

func (l *Line) typeByte(m LineMode, c byte) {
	if l.literal {
		l.literal = false
		l.text = append(l.text, c)
		return
	}
	switch int16(c) {
	case m.start, m.stop:
		return
	case m.intr, m.quit, m.susp:
		if !m.keepOnSignal {
			l.text = nil
		}
		return
	}
	switch {
	case c == '\r' && m.ignoreCR:
		return
	case c == '\r' && m.crToNL:
		c = '\n'
	case c == '\n' && m.nlToCR:
		c = '\r'
	}
	switch int16(c) {
	case m.erase, m.wordErase, m.kill:
		l.eraseBack(m, int16(c))
	case m.literal:
		l.literal = true
	case m.reprint:
	case '\n', m.eof, m.eol, m.eol2:
		l.text = nil
	default:
		l.text = append(l.text, c)
	}
}

// eraseBack removes what the kernel's eraser does for the character c.
func (l *Line) eraseBack(m LineMode, c int16) {
	if c == m.kill && c != m.erase && c != m.wordErase && m.killAtOnce {
		l.text = nil
		return
	}
	inWord := false
	for len(l.text) > 0 {
		i := len(l.text) - 1
		for m.utf8 && i > 0 && isContinuation(l.text[i]) {
			i--
		}
		first := l.text[i]
		if m.utf8 && isContinuation(first) {
			return // half a character stays
		}
		if c == m.wordErase && c != m.erase {
			if isWord(first) {
				inWord = true
			} else if inWord {
				return
			}
		}
		l.text = slices.Clip(l.text[:i])
		if c == m.erase {
			return
		}
	}
}

func isContinuation(c byte) bool { return c&0xc0 == 0x80 }

// isWord is the kernel's isalnum, which takes bytes for Latin-1, and '_'.
func isWord(c byte) bool {
	switch {
	case c >= 0xc0 && c != 0xd7 && c != 0xf7:
		return true
	case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_':
		return true
	}
	return false
}
