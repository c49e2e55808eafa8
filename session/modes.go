package session

import "bytes"

// Modes follows a program's output and knows what it has set in its terminal
// that outlives a screenful: screen, mouse, paste, keys, cursor, scroll region,
// colours and character sets. Its zero value is a fresh terminal.
//
// It does not know the text on the screen, where the cursor is, the title, the
// palette, hyperlinks and tab stops. Where terminals differ it follows xterm.
// It is for one goroutine.
type Modes struct {
	now modeState
	esc escapeParser
	seq sequence                 // that esc is in
	ask func(s []byte, end byte) // told of each sequence that may be a query; nil: nobody
}

// A modeState is all of Modes that is no place in the input.
type modeState struct {
	changed  modeBits // modes that are not as in a fresh terminal
	mouse    modeBits // of the mouse modes that are on, the one that was set last
	encoding modeBits // of the forms of mouse reports likewise
	alt      uint16   // the mode that brought the alternate screen; 0: not there
	sync     bool     // the program is drawing, and the screen waits
	cursor   byte     // style of the cursor, as DECSCUSR numbers it
	keys     byte     // modifyOtherKeys, as XTMODKEYS numbers it
	top      uint16   // first line of the scroll region; 0: the screen's
	bottom   uint16   // last line of it; 0: the screen's
	pen      pen
	saved    [2]pen      // what DECSC kept, of the normal and the alternate screen
	keyboard [2]keyboard // of the normal and the alternate screen
}

// A sequence collects the bytes of an escape sequence after ESC.
type sequence struct {
	buf [maxSequence]byte
	n   int // bytes that came, of which buf has the first
}

// maxSequence is how much of a sequence is looked at. What is longer is some
// text or picture, and changes no mode.
const maxSequence = 160

func (s *sequence) add(b byte) {
	if s.n < len(s.buf) {
		s.buf[s.n] = b
	}
	s.n = min(s.n+1, len(s.buf)+1)
}

func (s *sequence) whole() bool   { return s.n <= len(s.buf) }
func (s *sequence) bytes() []byte { return s.buf[:min(s.n, len(s.buf))] }

const (
	escByte  = 0x1b
	shiftOut = 0x0e
	shiftIn  = 0x0f
	cancel   = 0x18
)

// Write takes a piece of the output, cut anywhere. It never fails.
func (m *Modes) Write(p []byte) (int, error) {
	// Text is passed over by searches for the bytes that matter in it. Each
	// search goes on where the last one found something, so that a piece is
	// searched once.
	esc, out, in := -1, -1, -1
	for i := 0; i < len(p); {
		if !m.esc.ground() {
			m.next(p[i])
			i++
			continue
		}
		esc, out, in = find(p, esc, i, escByte), find(p, out, i, shiftOut), find(p, in, i, shiftIn)
		i = min(esc, out, in)
		if i < len(p) {
			m.next(p[i])
			i++
		}
	}
	return len(p), nil
}

// find returns where b is in p at or after from, or len(p). last is what it
// returned before.
func find(p []byte, last, from int, b byte) int {
	if last >= from {
		return last
	}
	if i := bytes.IndexByte(p[from:], b); i >= 0 {
		return from + i
	}
	return len(p)
}

// next takes one byte.
func (m *Modes) next(b byte) {
	was := m.esc.state
	m.esc.next(b)
	switch {
	case b == escByte:
		if was != inString {
			m.seq.n = 0
		}
	case was == inGround:
		m.shift(b)
	case b == cancel || b == 0x1a: // SUB
	case was == inString && m.esc.ground(): // BEL
		m.finish(b)
	case was == inStringEscape && b == '\\':
		m.finish(b)
	default:
		if was == inStringEscape { // which has cut the string off
			m.seq.n = 0
		}
		if was != inString && (b < ' ' || b == 0x7f) { // is carried out inside of a sequence
			m.shift(b)
			return
		}
		m.seq.add(b)
		if m.esc.ground() {
			m.finish(0)
		}
	}
}

// shift carries out SO and SI.
func (m *Modes) shift(b byte) {
	if b == shiftOut || b == shiftIn {
		m.now.pen.shift = shiftIn - b
	}
}

// finish carries out a sequence that is complete. end is the byte that ended a
// string.
func (m *Modes) finish(end byte) {
	if !m.seq.whole() || m.seq.n == 0 {
		return
	}
	switch s := m.seq.bytes(); s[0] {
	case '[':
		m.control(s)
	case ']', 'P', 'X', '^', '_':
		if m.ask != nil {
			m.ask(s, end)
		}
	default:
		m.now.escape(s)
	}
}

// control carries out the control sequence s.
func (m *Modes) control(s []byte) {
	final, args := s[len(s)-1], s[1:len(s)-1]
	switch {
	case final == 'm' && (len(args) == 0 || args[0] < '<'):
		m.now.pen.render(args)
	case final >= 'A' && final <= 'Z': // moves and erases
	default:
		if !m.now.control(args, final) && m.ask != nil {
			m.ask(s, 0)
		}
	}
}

// BracketedPaste reports whether the program wants pastes marked as such.
func (m *Modes) BracketedPaste() bool { return m.now.changed&modePaste != 0 }

// resized follows a change of the terminal's size, which ends a scroll region.
func (m *Modes) resized() { m.now.top, m.now.bottom = 0, 0 }

// unfinished is what has come of a sequence that is not complete; of a long
// string, its beginning.
func (m *Modes) unfinished() []byte {
	if m.esc.ground() {
		return nil
	}
	s := append([]byte{escByte}, m.seq.bytes()...)
	if m.esc.state == inStringEscape {
		s = append(s, escByte)
	}
	return s
}
