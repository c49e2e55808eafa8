package session

import (
	"bytes"
	"strings"
	"testing"
)

func TestReplayAsksNothing(t *testing.T) {
	const st = "\x1b\\"
	for _, query := range []string{
		"\x1b[c", "\x1b[>0c", "\x1b[=c", "\x1b[5n", "\x1b[6n", "\x1b[?6n", "\x1b[?996n", "\x1b[x", "\x1b[?2026$p", "\x1b[4$p", "\x1b[>q", "\x1b[>0q", "\x1b[?u",
		"\x1b[18t", "\x1b[14;2t", "\x1b]10;?\x07", "\x1b]11;?" + st, "\x1b]4;1;?" + st, "\x1b]52;c;?\x07", "\x1bP$qm" + st, "\x1bP+q544e" + st, "\x1bZ", "\x05",
	} {
		wantReplay(t, "a"+query+"b", "ab")
	}
	for _, kept := range []string{
		"text\r\n€", "\x1b[1;31m", "\x1b[2J", "\x1b[!p", "\x1b[3 q", "\x1b[>1u", "\x1b[8;24;80t", "\x1b[22;0t", "\x1b]0;a title?\x07", "\x1b]8;;http://x/?a;b" + st,
		"\x1bPq#0" + st, "\x1b7\x1b8", "\x1b(0", "\x1b[?1049h", "\x1b]" + strings.Repeat("x", 2*maxQuery) + "\x07", "\x1b[6\x18n", "\x1bM",
	} {
		wantReplay(t, kept, kept)
	}
	wantReplay(t, "\x1b[\x1b[6n!", "\x1b[!")
}

// wantReplay wants it of any two pieces too.
func wantReplay(t *testing.T, output, want string) {
	t.Helper()
	for i := range len(output) + 1 {
		var r Replay
		var got bytes.Buffer
		r.To(&got, []byte(output[:i]))
		r.To(&got, []byte(output[i:]))
		got.Write(r.Rest())
		if got.String() != want {
			t.Errorf("%q cut at %d is passed on as %q, want %q", output, i, &got, want)
			return
		}
	}
}

// What is held back when the terminal has caught up is the beginning of what
// follows.
func TestReplayEndsWithinASequence(t *testing.T) {
	var r Replay
	var got bytes.Buffer
	r.To(&got, []byte("ab\x1b[6"))
	if got.String() != "ab" || string(r.Rest()) != "\x1b[6" || len(r.Rest()) != 0 {
		t.Errorf("passed on %q", &got)
	}
}
