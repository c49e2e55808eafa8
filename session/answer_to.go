package session

import (
	"fmt"
	"strconv"
	"strings"

	"holdfast/store"
)

// answerTo returns what a terminal with the size of row, in the modes m, answers
// to an escape sequence, which comes without its ESC; nothing if it is no
// query. end is the byte that ended a string.
//
// The answers are those of xterm.js, so that a program sees the same terminal
// when the page comes. What a terminal that comes later may not be able to do
// is not answered (the kitty keyboard): then a program does without. Without a
// screen nobody knows where the cursor is. It is said to be at home, since
// programs give up, or wait for seconds, if they hear nothing.
func answerTo(seq []byte, end byte, m *Modes, row *store.Row) string {
	switch s := string(seq); s {
	case "[c", "[0c": // DA1
		return "\x1b[?1;2c"
	case "[>c", "[>0c": // DA2
		return "\x1b[>0;276;0c"
	case "[>q", "[>0q": // XTVERSION
		return "\x1bP>|holdfast\x1b\\"
	case "[5n": // all is well
		return "\x1b[0n"
	case "[6n":
		return "\x1b[1;1R"
	case "[?6n":
		return "\x1b[?1;1R"
	case "[?996n": // dark
		return "\x1b[?997;1n"
	case "[18t":
		return fmt.Sprintf("\x1b[8;%d;%dt", row.Rows, row.Cols)
	default:
		if query, ok := strings.CutSuffix(s, "$p"); ok {
			return m.now.answerMode(query)
		}
		if name, query, ok := strings.Cut(s, ";"); ok && s[0] == ']' {
			return answerColours(name[1:], query, end)
		}
		return ""
	}
}

// answerMode answers DECRQM: "[4" or "[?2004".
func (s *modeState) answerMode(query string) string {
	digits, private := strings.CutPrefix(query, "[?")
	if !private {
		digits = strings.TrimPrefix(query, "[")
	}
	n := number([]byte(digits), -1)
	if n < 0 {
		return ""
	}
	state := 2 // off; 1: on; 0: not known
	switch on, known := s.mode(n, !private); {
	case !known:
		state = 0
	case on:
		state = 1
	}
	return fmt.Sprintf("\x1b%s;%d$y", query, state)
}

// mode returns whether a mode is on, if it is one that is followed.
func (s *modeState) mode(n int, ansi bool) (on, known bool) {
	if m := modeNumbered(n, ansi); m.bit != 0 || ansi {
		return (s.changed&m.bit != 0) != m.initial, m.bit != 0
	}
	switch n {
	case modeOrigin:
		return s.pen.origin, true
	case modeSyncDraws:
		return s.sync, true
	case modeAlt, modeAltClear, modeAltSaved:
		return s.alt != 0, true
	default:
		return false, false
	}
}

// answerColours answers OSC 4, 10, 11 and 12: the colours of a dark terminal.
func answerColours(name, query string, end byte) string {
	values := strings.Split(query, ";")
	var dst strings.Builder
	answer := func(name, rgb string) {
		dst.WriteString("\x1b]" + name + ";rgb:" + rgb)
		if end == '\\' {
			dst.WriteByte(escByte)
		}
		dst.WriteByte(end)
	}
	switch name {
	case "4": // pairs of a number and a value
		for ; len(values) >= 2; values = values[2:] {
			if n := number([]byte(values[0]), -1); values[1] == "?" && n >= 0 && n < 256 {
				answer("4;"+strconv.Itoa(n), paletteRGB(n))
			}
		}
	case "10", "11", "12": // text, background, cursor: each value is for the next one
		first, _ := strconv.Atoi(name)
		for i, value := range values {
			if n := first + i; value == "?" && n <= 12 {
				answer(strconv.Itoa(n), [...]string{"d4d4/d4d4/d4d4", "1e1e/1e1e/1e1e", "d4d4/d4d4/d4d4"}[n-10])
			}
		}
	}
	return dst.String()
}

// palette has the first 16 colours.
var palette = [16]uint32{
	0x2e3436, 0xcc0000, 0x4e9a06, 0xc4a000, 0x3465a4, 0x75507b, 0x06989a, 0xd3d7cf,
	0x555753, 0xef2929, 0x8ae234, 0xfce94f, 0x729fcf, 0xad7fa8, 0x34e2e2, 0xeeeeec,
}

// paletteRGB is colour n of 256, in the form of XParseColor.
func paletteRGB(n int) string {
	level := func(n int) uint32 { // of the cube
		if n == 0 {
			return 0
		}
		return uint32(55 + 40*n)
	}
	var red, green, blue uint32
	switch {
	case n < 16:
		red, green, blue = palette[n]>>16, palette[n]>>8&0xff, palette[n]&0xff
	case n < 232:
		n -= 16
		red, green, blue = level(n/36), level(n/6%6), level(n%6)
	default:
		red = uint32(8 + 10*(n-232))
		green, blue = red, red
	}
	return fmt.Sprintf("%02[1]x%02[1]x/%02[2]x%02[2]x/%02[3]x%02[3]x", red, green, blue)
}
