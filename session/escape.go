package session

// An escapeParser follows the escape sequences of a terminal's byte stream:
// it knows whether a byte stands inside one. It is the outline of the state
// machine of ECMA-48 and of DEC terminals, without the meaning. Its zero value
// is outside.
type escapeParser struct{ state escapeState }

type escapeState uint8

const (
	inGround       escapeState = iota
	inEscape                   // after ESC, and its intermediate bytes
	inShift                    // after SS2 or SS3: one byte more
	inControl                  // after CSI
	inString                   // after OSC, DCS, SOS, PM or APC, until ST or BEL
	inStringEscape             // after ESC in a string: ST, or a new sequence
)

func (e *escapeParser) ground() bool { return e.state == inGround }

// next takes one byte.
func (e *escapeParser) next(b byte) {
	switch {
	case b == 0x18 || b == 0x1a: // CAN, SUB
		e.state = inGround
		return
	case b == 0x1b && e.state == inString:
		e.state = inStringEscape
		return
	case b == 0x1b:
		e.state = inEscape
		return
	}
	switch e.state {
	case inStringEscape:
		if b == '\\' {
			e.state = inGround
			return
		}
		fallthrough
	case inEscape:
		switch {
		case b == '[':
			e.state = inControl
		case b == ']' || b == 'P' || b == 'X' || b == '^' || b == '_':
			e.state = inString
		case b == 'N' || b == 'O':
			e.state = inShift
		case b >= 0x30 && b < 0x7f:
			e.state = inGround
		default:
			e.state = inEscape
		}
	case inShift:
		e.state = inGround
	case inControl:
		if b >= 0x40 && b < 0x7f {
			e.state = inGround
		}
	case inString:
		if b == 0x07 {
			e.state = inGround
		}
	}
}

// string reports whether it is in one.
func (e *escapeParser) string() bool { return e.state == inString || e.state == inStringEscape }
