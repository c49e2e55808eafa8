package session

import (
	"testing"
	"unicode/utf8"
)

func TestSafeCut(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		from     int
		want     int
	}{
		{"plain text", "hello world", 5, 5},
		{"at the end", "hello", 5, 5},
		{"inside a character", "aé€x", 2, 3},
		{"inside CSI", "ab\x1b[38;5;10mX", 5, 12},
		{"right before ESC", "ab\x1b[0mX", 2, 2},
		{"inside OSC ended by BEL", "\x1b]0;title\aX", 4, 10},
		{"inside OSC ended by ST", "\x1b]0;title\x1b\\X", 4, 11},
		{"inside DCS", "\x1bPq#0~\x1b\\X", 3, 8},
		{"inside ESC with intermediate", "\x1b(BX", 2, 3},
		{"inside SS3", "\x1bOAX", 2, 3},
		{"CAN ends a sequence", "\x1b[38\x18X", 3, 5},
		{"sequence that never ends", "\x1b]0;never ends", 4, 4},
		{"C1 bytes are not special", "a\x9bX", 2, 2},
	} {
		if got := safeCut([]byte(tt.in), tt.from); got != tt.want {
			t.Errorf("%s: safeCut(%q, %d) = %d, want %d", tt.name, tt.in, tt.from, got, tt.want)
		}
	}
}

func TestWholeRunes(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want int
	}{
		{"", 0}, {"a", 1}, {"é", 2}, {"a\xc3", 1}, {"a\xe2\x82", 1}, {"\xe2\x82", 0}, {"a\xf0\x9f\x98", 1}, {"😀", 4},
		{"a\xff", 2}, {"a\x80\x80\x80\x80", 5}, {"\xc3(", 2}, {"a\xc0", 2},
	} {
		if got := wholeRunes([]byte(tt.in)); got != tt.want {
			t.Errorf("wholeRunes(%q) = %d, want %d", tt.in, got, tt.want)
		}
	}
}

// Whatever the bytes, cutting again and again loses nothing and never leaves a
// whole character in two pieces.
func FuzzWholeRunes(f *testing.F) {
	for _, s := range []string{"", "héllo", "\xe2\x82\xac\xff", "\x1b[0m😀"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		n := wholeRunes(p)
		if n < 0 || n > len(p) || len(p)-n >= utf8.UTFMax {
			t.Fatalf("wholeRunes(%q) = %d", p, n)
		}
		if n < len(p) && utf8.FullRune(p[n:]) {
			t.Fatalf("wholeRunes(%q) = %d leaves a whole character", p, n)
		}
		if utf8.Valid(p) && n != len(p) {
			t.Fatalf("wholeRunes(%q) = %d cuts valid text", p, n)
		}
	})
}

func FuzzSafeCut(f *testing.F) {
	f.Add([]byte("ab\x1b[38;5;10mX"), 5)
	f.Add([]byte("a€"), 2)
	f.Fuzz(func(t *testing.T, p []byte, from int) {
		if from < 0 || from > len(p) {
			return
		}
		if got := safeCut(p, from); got < from || got > len(p) {
			t.Fatalf("safeCut(%q, %d) = %d", p, from, got)
		}
	})
}
