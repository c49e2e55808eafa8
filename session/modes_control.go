package session

import "bytes"

// escape carries out a sequence that is no control sequence and no string.
func (s *modeState) escape(seq []byte) {
	if len(seq) == 2 {
		if g := bytes.IndexByte([]byte("()*+"), seq[0]); g >= 0 {
			s.pen.designate(g, seq[1])
		}
		return
	}
	if len(seq) != 1 {
		return
	}
	switch seq[0] {
	case '7':
		s.saved[s.screen()] = s.pen
	case '8':
		s.pen = s.saved[s.screen()]
	case '=':
		s.changed |= modeKeypad
	case '>':
		s.changed &^= modeKeypad
	case 'n', 'o':
		s.pen.shift = seq[0] - 'n' + 2
	case 'c':
		*s = modeState{}
	}
}

// control carries out a control sequence with these parameters and intermediate
// bytes. It reports false for one that changes no mode.
func (s *modeState) control(args []byte, final byte) bool {
	name := string(final)
	if len(args) > 0 && args[0] >= '<' && args[0] <= '?' {
		name, args = string(args[0])+name, args[1:]
	}
	switch {
	case name == "?h" || name == "?l" || name == "h" || name == "l":
		s.switchModes(args, name[0] != '?', final == 'h')
	case name == "r":
		s.region(args)
	case name == "s" && len(args) == 0:
		s.saved[s.screen()] = s.pen
	case name == "u" && len(args) == 0:
		s.pen = s.saved[s.screen()]
	case name == "q" && bytes.HasSuffix(args, []byte{' '}):
		s.cursor = byte(min(number(args[:len(args)-1], 0), 255))
	case name == "p" && string(args) == "!":
		s.softReset()
	case name == ">m":
		if what, value := field(args); number(what, 0) == 4 {
			value, _ = field(value)
			s.keys = byte(min(number(value, 0), 255))
		}
	case name == ">u" || name == "<u" || name == "=u":
		s.keyboard[s.screen()].change(name[0], args)
	default:
		return false
	}
	return true
}

func (s *modeState) switchModes(args []byte, ansi, on bool) {
	for len(args) > 0 {
		var one []byte
		one, args = field(args)
		s.switchMode(number(one, -1), ansi, on)
	}
}

// region is DECSTBM.
func (s *modeState) region(args []byte) {
	first, rest := field(args)
	last, _ := field(rest)
	top, bottom := number(first, 0), number(last, 0)
	if bottom != 0 && bottom <= max(top, 1) || max(top, bottom) > 0xffff {
		return
	}
	if top == 1 {
		top = 0
	}
	s.top, s.bottom = uint16(top), uint16(bottom)
}

// softReset is DECSTR.
func (s *modeState) softReset() {
	s.changed &^= softModes
	s.pen, s.saved[s.screen()], s.top, s.bottom = pen{}, pen{}, 0, 0
}

// field returns the first of the parameters p, and those after it.
func field(p []byte) (first, rest []byte) {
	first, rest, _ = bytes.Cut(p, []byte{';'})
	return first, rest
}

// number reads a parameter. An empty one, or one that is none, is otherwise.
func number(p []byte, otherwise int) int {
	if len(p) == 0 {
		return otherwise
	}
	n := 0
	for _, b := range p {
		if b < '0' || b > '9' {
			return otherwise
		}
		n = min(n*10+int(b-'0'), 1<<20)
	}
	return n
}
