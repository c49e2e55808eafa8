package cli

import (
	"fmt"
	"strings"
	"testing"
)

func TestTabCompletesWholeCharacters(t *testing.T) {
	p := &prompt{width: func() int { return 80 }, complete: func(string) ([]string, int) { return []string{"\u00e9a", "\u00e8b"}, 0 }}
	var screen strings.Builder
	p.screen = &screen
	p.keys = strings.NewReader("")
	p.renew(nil)
	if line, pos, ok := p.tab("", 0, '\t'); line != "" || pos != 0 || !ok {
		t.Errorf("tab = %q, %d, %t; want an empty line", line, pos, ok)
	}
}

// A long list of words is cut, and says so.
func TestTabListsNoFlood(t *testing.T) {
	var words []string
	for i := range shownWords + 5 {
		words = append(words, fmt.Sprintf("word%03d", i))
	}
	var screen strings.Builder
	p := &prompt{width: func() int { return 80 }, complete: func(string) ([]string, int) { return words, 0 }, screen: &screen, keys: strings.NewReader("")}
	p.renew(nil)
	p.tab("word", 4, '\t')
	if got := screen.String(); strings.Count(got, "word") != shownWords || !strings.Contains(got, "(5 more)") {
		t.Errorf("the screen has %q", got)
	}
}

// What leaves the line does so also behind other keys, and is known by the key
// that it was.
func TestKeysThatLeaveTheLine(t *testing.T) {
	for _, tt := range []struct {
		typed, got string
		key        byte
	}{
		{"\x1b", "\x03", escKey},
		{"/st\x1d", "/st\x03", commandKey},
		{"\x03", "\x03", leaveKey},
		{"\x04", "\x04", endKey},
		{"\x1b[A", "\x1b[A", 'A'},
		{"/stop\r/quit", "/stop\r", '\r'},
	} {
		p, buf := new(prompt), make([]byte, 20)
		n, err := promptKeys{&keys{line: []byte(tt.typed)}, p}.Read(buf)
		if got := string(buf[:n]); got != tt.got || p.key != tt.key || err != nil {
			t.Errorf("of %q the line reads %q, and the key was %q, %v; want %q and %q", tt.typed, got, p.key, err, tt.got, tt.key)
		}
	}
}
