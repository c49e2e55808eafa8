package session

// modeBits are modes that are on or off, and are not as in a fresh terminal.
type modeBits uint32

const (
	modePaste modeBits = 1 << iota
	modeMouseX10
	modeMouse
	modeMouseDrag
	modeMouseAll
	modeReportUTF8
	modeReportSGR
	modeReportURXVT
	modeReportPixels
	modeKeypad
	modeCursorKeys
	modeReverse
	modeWrap
	modeBlink
	modeCursor
	modeFocus
	modeTheme
	modeSizes
	modeInsert
	modeNewLine

	mouseModes   = modeMouseX10 | modeMouse | modeMouseDrag | modeMouseAll
	mouseReports = modeReportUTF8 | modeReportSGR | modeReportURXVT | modeReportPixels
	softModes    = modeKeypad | modeCursorKeys | modeWrap | modeCursor | modeInsert // that DECSTR resets
)

// A mode is one that SM and RM, or DECSET and DECRST, switch.
type mode struct {
	number  int
	bit     modeBits
	ansi    bool // of SM and RM
	initial bool // on in a fresh terminal
}

// modes are all that are followed as bits, in the order in which they are set.
// https://invisible-island.net/xterm/ctlseqs/ctlseqs.html
var modes = []mode{
	{number: 1, bit: modeCursorKeys},          // they send SS3
	{number: 5, bit: modeReverse},             // dark on light
	{number: 7, bit: modeWrap, initial: true}, // at the right border
	{number: 12, bit: modeBlink},              // of the cursor
	{number: 25, bit: modeCursor, initial: true},
	{number: 66, bit: modeKeypad}, // it sends sequences
	{number: 9, bit: modeMouseX10},
	{number: 1000, bit: modeMouse},
	{number: 1002, bit: modeMouseDrag},
	{number: 1003, bit: modeMouseAll},
	{number: 1005, bit: modeReportUTF8},
	{number: 1015, bit: modeReportURXVT},
	{number: 1006, bit: modeReportSGR},
	{number: 1016, bit: modeReportPixels},
	{number: 1004, bit: modeFocus}, // is reported
	{number: 2004, bit: modePaste}, // is bracketed
	{number: 2031, bit: modeTheme}, // light or dark is reported
	{number: 2048, bit: modeSizes}, // are reported
	{number: 4, bit: modeInsert, ansi: true},
	{number: 20, bit: modeNewLine, ansi: true},
}

// Modes that are more than a bit.
const (
	modeOrigin    = 6
	modeAlt       = 47
	modeAltClear  = 1047
	modeSaveOnly  = 1048
	modeAltSaved  = 1049
	modeSyncDraws = 2026
)

// modeNumbered returns the mode of a number, or one without a bit.
func modeNumbered(number int, ansi bool) mode {
	for _, m := range modes {
		if m.number == number && m.ansi == ansi {
			return m
		}
	}
	return mode{}
}

// switchMode switches one mode on or off.
func (s *modeState) switchMode(number int, ansi, on bool) {
	m := modeNumbered(number, ansi)
	switch {
	case m.bit != 0:
		s.switchBit(m, on)
	case ansi:
	case number == modeOrigin:
		s.pen.origin = on
	case number == modeSyncDraws:
		s.sync = on
	case number == modeSaveOnly && on:
		s.saved[s.screen()] = s.pen
	case number == modeSaveOnly:
		s.pen = s.saved[s.screen()]
	case number == modeAlt || number == modeAltClear || number == modeAltSaved:
		s.switchScreen(uint16(number), on)
	}
}

// switchBit switches a mode that is a bit. Of the mouse modes the last one
// counts, and the end of one is the end of all; the earlier ones are kept for
// terminals where each is for itself.
func (s *modeState) switchBit(m mode, on bool) {
	switch {
	case m.bit&mouseModes != 0:
		s.switchLast(&s.mouse, mouseModes, m.bit, on)
	case m.bit&mouseReports != 0:
		s.switchLast(&s.encoding, mouseReports, m.bit, on)
	}
	if on == m.initial {
		s.changed &^= m.bit
	} else {
		s.changed |= m.bit
	}
}

func (s *modeState) switchLast(last *modeBits, all, bit modeBits, on bool) {
	*last = bit
	if !on {
		*last = 0
		s.changed &^= all
	}
}

// screen is the index of the screen that shows.
func (s *modeState) screen() int {
	if s.alt != 0 {
		return 1
	}
	return 0
}

// switchScreen goes to the alternate screen or back. What the alternate one
// keeps for itself ends with it.
func (s *modeState) switchScreen(number uint16, on bool) {
	if on {
		if number == modeAltSaved {
			s.saved[s.screen()] = s.pen
		}
		s.alt = number
		return
	}
	s.alt, s.saved[1], s.keyboard[1] = 0, pen{}, keyboard{}
	if number == modeAltSaved {
		s.pen = s.saved[0]
	}
}
