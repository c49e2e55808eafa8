package session

import (
	"fmt"
	"strconv"
)

// Set returns what brings a fresh terminal to these modes; nothing if they are
// those of one. The cursor stays where it is; only origin mode moves it. It
// never stops the terminal from drawing.
func (m *Modes) Set() []byte {
	s := &m.now
	dst := s.appendRegion(nil)
	dst = s.keyboard[0].appendSet(dst)
	drawn := &pen{} // what the terminal draws with by then
	to := func(p *pen) { dst, drawn = p.appendChange(dst, drawn), p }
	keep := func(p *pen) {
		if *p != (pen{}) {
			to(p)
			dst = append(dst, "\x1b7"...)
		}
	}
	if s.alt == modeAltSaved { // which keeps it
		to(&s.saved[0])
	} else {
		keep(&s.saved[0])
	}
	if s.alt != 0 {
		dst = appendSwitch(dst, int(s.alt), false, true)
		dst = s.keyboard[1].appendSet(dst)
		keep(&s.saved[1])
	}
	to(&s.pen)
	dst = s.appendBits(dst)
	if s.cursor != 0 {
		dst = fmt.Appendf(dst, "\x1b[%d q", s.cursor)
	}
	if s.keys != 0 {
		dst = fmt.Appendf(dst, "\x1b[>4;%dm", s.keys)
	}
	return dst
}

// appendRegion adds the scroll region, which would move the cursor.
func (s *modeState) appendRegion(dst []byte) []byte {
	switch {
	case s.bottom != 0:
		return fmt.Appendf(dst, "\x1b7\x1b[%d;%dr\x1b8", max(s.top, 1), s.bottom)
	case s.top != 0:
		return fmt.Appendf(dst, "\x1b7\x1b[%dr\x1b8", s.top)
	}
	return dst
}

// appendBits adds the modes that are bits; of those where the last one counts,
// that one last.
func (s *modeState) appendBits(dst []byte) []byte {
	last := s.mouse | s.encoding
	for _, bits := range []modeBits{s.changed &^ last, s.changed & last} {
		for _, m := range modes {
			if bits&m.bit != 0 {
				dst = appendSwitch(dst, m.number, m.ansi, !m.initial)
			}
		}
	}
	return dst
}

// Reset returns what brings a terminal in these modes back to a fresh one;
// nothing if it is one. The cursor stays where it is, or goes back to where it
// was before the alternate screen; only the end of origin mode moves it home.
func (m *Modes) Reset() []byte {
	t := &Modes{now: m.now, esc: m.esc} // the terminal, as it is by then
	s := &t.now
	var dst []byte
	do := func(seq []byte) {
		dst = append(dst, seq...)
		t.Write(seq)
	}
	if !t.esc.ground() {
		do([]byte{cancel})
	}
	if s.sync {
		do(appendSwitch(nil, modeSyncDraws, false, false))
	}
	if s.top != 0 || s.bottom != 0 {
		do([]byte("\x1b7\x1b[r\x1b8")) // it would move the cursor
	}
	if s.alt != 0 {
		do(s.keyboard[1].appendReset(nil))
		do(appendSwitch(nil, int(s.alt), false, false))
	}
	do(s.keyboard[0].appendReset(nil))
	do((&pen{}).appendChange(nil, &s.pen))
	if s.saved[0] != (pen{}) {
		do([]byte("\x1b7"))
	}
	changed := s.changed
	for _, m := range modes { // each mouse mode too: see switchBit
		if changed&m.bit != 0 {
			do(appendSwitch(nil, m.number, m.ansi, m.initial))
		}
	}
	if s.cursor != 0 {
		do([]byte("\x1b[0 q"))
	}
	if s.keys != 0 {
		do([]byte("\x1b[>4m"))
	}
	return dst
}

func appendSwitch(dst []byte, number int, ansi, on bool) []byte {
	dst = append(dst, "\x1b["...)
	if !ansi {
		dst = append(dst, '?')
	}
	dst = strconv.AppendInt(dst, int64(number), 10)
	if on {
		return append(dst, 'h')
	}
	return append(dst, 'l')
}

// AltScreen reports whether the program has taken the alternate screen: what
// was on the normal one is still there.
func (m *Modes) AltScreen() bool { return m.now.alt != 0 }

// ResetAll returns what brings a terminal back to a fresh one, whatever a
// program has set in it, but for origin mode: its end would move the cursor. It
// is Reset for who did not follow the output.
func ResetAll() []byte {
	drawn := pen{ink: ink{attrs: 1 << 1}, sets: [4]byte{'0', '0', '0', '0'}, shift: 1}
	m := Modes{now: modeState{
		alt: modeAltSaved, sync: true, cursor: 1, keys: 1, top: 1,
		pen: drawn, saved: [2]pen{drawn, drawn},
		keyboard: [2]keyboard{{flags: 1}, {flags: 1}},
	}}
	for _, one := range modes {
		m.now.changed |= one.bit
	}
	return append([]byte{cancel}, m.Reset()...)
}
