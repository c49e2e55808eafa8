package store

import (
	"path/filepath"
	"testing"
)

func FuzzParseSegment(f *testing.F) {
	for _, name := range []string{
		"", "00000000000000000000", "00000000000008388608", "04611686018427387903", "04611686018427387904",
		"09223372036854775807", "18446744073709551616", "99999999999999999999", "0000000000000000001", "000000000000000000001",
		"-0000000000000000001", "+0000000000000000001", "0000000000000000000x", "00000000000000000000.tmp",
	} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		first, ok := parseSegment(name)
		if !ok {
			return
		}
		if first < 0 || first > maxOffset {
			t.Fatalf("parseSegment(%q) = %d", name, first)
		}
		if got := filepath.Base(segmentPath("", first)); got != name {
			t.Fatalf("the segment at %d is named %q, parsed from %q", first, got, name)
		}
	})
}

func TestSegmentNameRange(t *testing.T) {
	for _, tt := range []struct {
		name  string
		first int64
		ok    bool
	}{
		{"00000000000000000000", 0, true},
		{"00000000000008388608", 8 << 20, true},
		{"04611686018427387903", maxOffset, true},
		{"04611686018427387904", maxOffset + 1, false},
		{"18446744073709551616", 0, false}, // 1<<64
		{"99999999999999999999", 0, false},
		{"0000000000000000000x", 0, false},
		{"0", 0, false},
	} {
		first, ok := parseSegment(tt.name)
		if ok != tt.ok || ok && first != tt.first {
			t.Errorf("parseSegment(%q) = %d, %v; want %d, %v", tt.name, first, ok, tt.first, tt.ok)
		}
	}
}
