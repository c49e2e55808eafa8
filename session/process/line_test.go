package process

import (
	"strings"
	"testing"
)

// cooked is the mode of a terminal that no program has changed.
var cooked = LineMode{
	Canonical: true,
	intr:      3, quit: 28, susp: 26,
	start: 17, stop: 19,
	erase: 127, wordErase: 23, kill: 21,
	eof: 4, eol: off, eol2: off,
	literal: 22, reprint: 18,
	crToNL: true, utf8: true,
}

func TestLineFollowsWhatIsTyped(t *testing.T) {
	change := func(f func(*LineMode)) LineMode {
		m := cooked
		f(&m)
		return m
	}
	for _, tt := range []struct {
		name  string
		mode  LineMode
		typed string
		want  string
	}{
		{"plain", cooked, "abc", "abc"},
		{"newline", cooked, "abc\nde", "de"},
		{"return", cooked, "abc\rde", "de"},
		{"return stays", change(func(m *LineMode) { m.crToNL = false }), "abc\rde", "abc\rde"},
		{"return ignored", change(func(m *LineMode) { m.ignoreCR = true }), "abc\rde", "abcde"},
		{"newline to return", change(func(m *LineMode) { m.nlToCR = true }), "abc\nde", "abc\rde"},
		{"end of file", cooked, "abc\x04de", "de"},
		{"end of line", change(func(m *LineMode) { m.eol, m.eol2 = ';', '.' }), "a;b.c", "c"},
		{"interrupt", cooked, "abc\x03d\x1ce\x1af", "f"},
		{"interrupt without flush", change(func(m *LineMode) { m.keepOnSignal = true }), "abc\x03d", "abcd"},
		{"flow control", cooked, "a\x13b\x11c", "abc"},
		{"kill", cooked, "abc\x15d", "d"},
		{"erase", cooked, "abc\x7f\x7fd", "ad"},
		{"erase nothing", cooked, "\x7f\x7fd", "d"},
		{"erase a character", cooked, "aé\x7fb", "ab"},
		{"erase a byte", change(func(m *LineMode) { m.utf8 = false }), "aé\x7fb", "a\xc3b"},
		{"erase half a character", cooked, "\xa9\x7f\x7fb", "\xa9b"},
		{"kill half a character", cooked, "\xa9b\x15c", "\xa9c"},
		{"kill without echo", change(func(m *LineMode) { m.killAtOnce = true }), "\xa9b\x15c", "c"},
		{"erase a word", cooked, "one two  \x17x", "one x"},
		{"literal", cooked, "a\x16\x16b\x16\nc", "a\x16b\nc"},
		{"reprint", cooked, "a\x12b", "ab"},
		{"NUL is no character", cooked, "a\x00b", "a\x00b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			whole, fits := Line{}.Type(tt.mode, []byte(tt.typed))
			if got := string(whole.text); got != tt.want || !fits {
				t.Errorf("typed %q: line = %q, %t; want %q", tt.typed, got, fits, tt.want)
			}
			var l Line
			for i := range len(tt.typed) {
				l, _ = l.Type(tt.mode, []byte(tt.typed[i:i+1]))
			}
			if got := string(l.text); got != tt.want {
				t.Errorf("typed %q byte by byte: line = %q, want %q", tt.typed, got, tt.want)
			}
		})
	}
}

func TestLineThatWouldLoseBytesIsRefused(t *testing.T) {
	longest := []byte(strings.Repeat("x", MaxLine))
	full, fits := Line{}.Type(cooked, longest)
	if !fits {
		t.Fatalf("a line of %d bytes does not fit", MaxLine)
	}
	refused, fits := full.Type(cooked, []byte("y"))
	if fits || len(refused.text) != MaxLine {
		t.Errorf("one byte more: line of %d, %t; want the line as it was, false", len(refused.text), fits)
	}
	if _, fits := full.Type(cooked, []byte("y\nz")); fits {
		t.Error("a line that is too long in the middle fits")
	}
	if next, fits := full.Type(cooked, []byte("\x7fy\nz")); !fits || string(next.text) != "z" {
		t.Errorf("after an erase: %q, %t", next.text, fits)
	}
	if next, fits := full.Type(LineMode{}, append(longest, 'y')); !fits || len(next.text) > 0 {
		t.Errorf("not in line mode: line of %d, %t", len(next.text), fits)
	}
}

// A refused or cut-off write goes back to an earlier Line.
func TestLineIsAValue(t *testing.T) {
	base, _ := Line{}.Type(cooked, []byte("abc"))
	a, _ := base.Type(cooked, []byte("\x7fX"))
	b, _ := base.Type(cooked, []byte("Y"))
	c, _ := base.Type(cooked, []byte("Z"))
	for _, tt := range []struct{ got, want string }{
		{string(base.text), "abc"}, {string(a.text), "abX"}, {string(b.text), "abcY"}, {string(c.text), "abcZ"},
	} {
		if tt.got != tt.want {
			t.Errorf("line = %q, want %q", tt.got, tt.want)
		}
	}
}

func TestEndOfALine(t *testing.T) {
	unset := cooked
	unset.eof = off
	for _, tt := range []struct {
		name  string
		mode  LineMode
		typed string
		want  string
	}{
		{"whole lines", cooked, "abc\n", "\x04"},
		{"nothing typed", cooked, "", "\x04"},
		{"unfinished line", cooked, "abc\nde", "\x04\x04"},
		{"no lines", LineMode{}, "abc", ""},
		{"no character for it", unset, "abc", ""},
	} {
		line, _ := Line{}.Type(tt.mode, []byte(tt.typed))
		if got := string(line.End(tt.mode)); got != tt.want {
			t.Errorf("%s: End after %q = %q, want %q", tt.name, tt.typed, got, tt.want)
		}
	}
}
