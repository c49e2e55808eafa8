package session

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTurnPreview(t *testing.T) {
	for _, tt := range []struct {
		name  string
		typed []string
		want  string // of the turn that the last piece submits; "-": none
	}{
		{"a line", []string{"ls -l\r"}, "ls -l"},
		{"key by key", []string{"l", "s", "\r"}, "ls"},
		{"no Enter", []string{"ls"}, "-"},
		{"nothing", []string{""}, "-"},
		{"backspace takes a character", []string{"aé\x7fb\r"}, "ab"},
		{"^U starts over", []string{"rm -rf\x15ls\r"}, "ls"},
		{"^C starts over", []string{"rm -rf\x03", "ls\n"}, "ls"},
		{"cursor keys are not text", []string{"a\x1b[Db\x1bOA\r"}, "ab"},
		{"bracketed paste is text", []string{"\x1b[200~one\rtwo\x1b[201~", "\r"}, "one two"},
		{"only Enter", []string{"\r"}, ""},
		{"invalid bytes", []string{"a\xffb\r"}, "ab"},
		{"second turn", []string{"one\r", "two\r"}, "two"},
		{"long", []string{strings.Repeat("x", 300) + "\r"}, strings.Repeat("x", maxPreview)},
	} {
		var turn turnText
		got := "-"
		for _, p := range tt.typed {
			got = "-"
			if e := turn.add([]byte(p), 0, false); e != nil {
				got = e.Preview
			}
		}
		if got != tt.want {
			t.Errorf("%s: preview of %q = %q, want %q", tt.name, tt.typed, got, tt.want)
		}
	}
}

// A turn begins where the log stood when its first key was typed, so that a
// fork at the turn has nothing of it.
func TestTurnBeginsWithItsFirstByte(t *testing.T) {
	var turn turnText
	turn.add([]byte("l"), 10, false)
	turn.add([]byte("s"), 11, false)
	if e := turn.add([]byte("\r"), 12, false); e == nil || e.At != 10 {
		t.Errorf("first turn = %+v, want At 10", e)
	}
	if e := turn.add([]byte("x\r"), 20, false); e == nil || e.At != 20 {
		t.Errorf("second turn = %+v, want At 20", e)
	}
}

// A password that is asked for as programs do it is kept nowhere.
func TestWhatIsTypedWithoutAnEchoIsNotKept(t *testing.T) {
	dir := t.TempDir()
	c := open(t, dir)
	v := newSession(t, c, "sh", "-c", "stty -echo; echo password; read p; stty echo; echo ${#p}; exec cat")
	waitOutput(t, c, v.ID, "password\r\n")
	typeIn(t, c, v.ID, "hun")
	typeIn(t, c, v.ID, "ter2\r")
	waitOutput(t, c, v.ID, "password\r\n7\r\n")
	typeIn(t, c, v.ID, "seen\r")
	turns, err := c.Turns(v.ID)
	if err != nil || len(turns) != 2 || turns[0].Preview != "" || turns[1].Preview != "seen" {
		t.Errorf("Turns = %+v, %v; want a hidden one and seen", turns, err)
	}
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte("hun")) || bytes.Contains(b, []byte("ter2")) {
			t.Errorf("%s has the password: %q", path, b)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
