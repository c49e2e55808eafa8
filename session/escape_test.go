package session

import (
	"testing"
	"unicode/utf8"
)

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
