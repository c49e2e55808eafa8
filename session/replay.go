package session

import (
	"bytes"
	"io"
)

// A Replay passes output on to a terminal that has not caught up yet, without
// what asks the terminal something: that was answered when it was printed, and
// another answer would be typed into a program that does not wait for it.
// Pieces may be cut anywhere; what is held back at the end of one is the
// beginning of a sequence. Its zero value begins outside of one.
type Replay struct {
	esc escapeParser
	seq []byte // the sequence that esc is in, from ESC on
}

// maxQuery is the longest sequence in bytes that is taken for a query.
const maxQuery = 1 << 10

const enquiry = 0x05

// To writes what of p does not ask to w.
func (r *Replay) To(w io.Writer, p []byte) error {
	out := make([]byte, 0, len(r.seq)+len(p))
	for _, b := range p {
		r.esc.next(b)
		switch {
		case b == enquiry && len(r.seq) == 0:
			continue
		case b == escByte && r.esc.state == inEscape: // it begins anew
			out = append(out, r.seq...)
			r.seq = append(r.seq[:0], b)
			continue
		case len(r.seq) == 0:
			out = append(out, b)
			continue
		}
		r.seq = append(r.seq, b)
		if !r.esc.ground() && len(r.seq) <= maxQuery {
			continue
		}
		if !asks(r.seq) {
			out = append(out, r.seq...)
		}
		r.seq = r.seq[:0]
	}
	_, err := w.Write(out)
	return err
}

// Rest returns what is held back, for a terminal that has caught up. The zero
// value is left.
func (r *Replay) Rest() []byte {
	rest := r.seq
	*r = Replay{}
	return rest
}

// asks reports whether a sequence makes a terminal answer: the reports of
// ECMA-48, of DEC terminals, xterm and kitty.
// https://invisible-island.net/xterm/ctlseqs/ctlseqs.html
func asks(seq []byte) bool {
	if len(seq) < 3 {
		return string(seq) == "\x1bZ" // DECID
	}
	body, last := seq[2:len(seq)-1], seq[len(seq)-1]
	switch seq[1] {
	case '[':
		switch last {
		case 'c', 'n', 'x': // DA, DSR, DECREQTPARM
			return true
		case 'p':
			return bytes.HasSuffix(body, []byte("$")) // DECRQM
		case 'q':
			return bytes.HasPrefix(body, []byte(">")) // XTVERSION
		case 'u':
			return bytes.HasPrefix(body, []byte("?")) // the keyboard of kitty
		case 'y':
			return bytes.HasSuffix(body, []byte("*")) // DECRQCRA
		case 'w':
			return bytes.HasSuffix(body, []byte("$")) // DECRQPSR
		case 't':
			first, _ := field(body)
			n := number(first, 0)
			return n >= 11 && n <= 21 // XTWINOPS
		case 'S':
			return bytes.HasPrefix(body, []byte("?")) // XTSMGRAPHICS
		}
	case ']':
		return bytes.Contains(body, []byte(";?")) // colours, the clipboard
	case 'P':
		return bytes.HasPrefix(body, []byte("$q")) || bytes.HasPrefix(body, []byte("+q")) // DECRQSS, XTGETTCAP
	case '_':
		return bytes.HasPrefix(body, []byte("G")) // pictures of kitty, which are acknowledged
	}
	return false
}
