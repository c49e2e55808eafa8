package acp

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestOutputIsToldAsItWasSeen(t *testing.T) {
	for _, tt := range []struct {
		name, output, want string
	}{
		{"lines", "one\r\ntwo\r\n", "one\ntwo\n"},
		{"a line without its end", "$ ", "$ "},
		{"empty lines", "a\r\n\r\n\r\nb", "a\n\n\nb"},
		{"colours", "\x1b[1;31mred\x1b[0m and \x1b[38;5;12mblue\x1b[m", "red and blue"},
		{"title and links", "\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b\x1b]8;;\x1b\\c", "abc"},
		{"a device control string", "\x1bPq#0;2;0\x1b\\x", "x"},
		{"queries", "\x1b[c\x1b[6n\x1b[>q\x1b[?u\x1b[?1$px", "x"},
		{"overwritten by a return", "old text\rnew", "new text"},
		{"a progress bar", "\r 10% [#   ]\r 50% [##  ]\r100% [####]\r\ndone\r\n", "100% [####]\ndone\n"},
		{"a progress bar that erases", "working\r\x1b[Kstill\r\x1b[Kdone\r\n", "done\n"},
		{"backspaces", "abd\bc\r\nspin /\b-\b\\\b \r\n", "abc\nspin\n"},
		{"cursor left and erase", "abcdef\x1b[3D\x1b[KX\r\n", "abcX\n"},
		{"characters out and in", "abcdef\x1b[4D\x1b[2P\x1b[D\x1b[2@\r\n", "a  bef\n"},
		{"a column", "abc\x1b[10Gx\x1b[1G_", "_bc      x"},
		{"tabs", "a\tb\t\tc", "a       b               c"},
		{"several lines of progress", "one: 1\r\ntwo: 1\r\n\x1b[2Aone: 2\r\ntwo: 2\r\n\x1b[2A\x1b[Kone: done\r\n\x1b[Ktwo: done\r\n", "one: done\ntwo: done\n"},
		{"a list that is shortened", "a\r\nb\r\nc\r\n\x1b[3A\x1b[Jall\r\n", "all\n"},
		{"a line that wraps", strings.Repeat("x", 79) + "yz\r\n", strings.Repeat("x", 79) + "yz\n"},
		{"a line as wide as the screen", strings.Repeat("x", 80) + "\r\nnext", strings.Repeat("x", 80) + "\nnext"},
		{"a shell that wraps by itself", strings.Repeat("x", 80) + " \rrest\r\n", strings.Repeat("x", 80) + "rest\n"},
		{"a shell that marks unfinished lines", "unfinished\x1b[7m%\x1b[27m" + strings.Repeat(" ", 79) + "\r \r$ ", "unfinished%\n$ "},
		{"more than a screen", strings.Repeat("line\r\n", 100), strings.Repeat("line\n", 100)},
		{"wide characters", "漢字\b\b\b\bab|é|e\u0301|👍\r\n", "ab|é|e\u0301|👍\n"},
		{"half a wide character", "漢字\x1b[2Gx\x1b[3Gy", " xy"},
		{"line drawing", "\x1b(0lqk\x1b(B q", "┌─┐ q"},
		{"no UTF-8", "a\xffb\xe2\x82c\r\n", "a\uFFFDb\uFFFD\uFFFDc\n"},
		{"C1 controls", "a\u0085b\u009bc", "abc"},
		{"cancelled sequences", "a\x1b[31\x18b\x1b]x\x1ac", "abc"},
		{"controls in sequences", "ab\x1b[\b1Kc", " c"},
		{"a full-screen program", "$ top\r\n\x1b[?1049h\x1b[H\x1b[2Jload: 1\x1b[H\x1b[2Jload: 2\x1b[?1049l$ ", "$ top\n$ "},
		{"a full-screen program that stays", "$ top\r\n\x1b[?1049h\x1b[H\x1b[2J\x1b[Hload: 1\x1b[1;7H2\x1b[3;3Hpid\x1b[24;1H", "$ top\nload: 2\n\n  pid"},
		{"the screen is cleared", "old\r\n\x1b[H\x1b[2J\x1b[3Jnew", "new"},
		{"a reset", "old\x1bcnew", "new"},
		{"text pushed up above a region", "\x1b[1;2ra\r\nb\r\nc\x1b[r\x1b[3;1Hprompt", "a\nb\nc\nprompt"},
		{"lines in and out", "a\r\nb\r\nc\x1b[1;1H\x1b[Lnew\x1b[3;1H\x1b[M", "new\na\nc"},
		{"reverse index", "a\r\nb\x1b[H\x1bMtop", "top\na\nb"},
		{"repeated characters", "-\x1b[9b\r\n", "----------\n"},
		{"no wrapping", "\x1b[?7l" + strings.Repeat("x", 90) + "\r\n", strings.Repeat("x", 80) + "\n"},
		{"saved places", "abc\x1b7\r\ndef\x1b8X\x1b[s\x1b[5;5H\x1b[uY", "abcXY\ndef"},
	} {
		whole := newScreen()
		whole.write([]byte(tt.output))
		whole.quiet()
		if got := whole.take(); got != tt.want {
			t.Errorf("%s: %q is told as\n%q, want\n%q", tt.name, tt.output, got, tt.want)
		}
		pieces := newScreen()
		for i := range len(tt.output) {
			pieces.write([]byte{tt.output[i]})
		}
		pieces.quiet()
		if got := pieces.take(); got != tt.want {
			t.Errorf("%s: in pieces it is told as\n%q, want\n%q", tt.name, got, tt.want)
		}
	}
}

// steps writes the pieces to a screen, with a look at it after each, and
// returns what was told then. "|" is a pause, "." a quiet moment, "~" a
// look at what is steady.
func steps(s *screen, pieces ...string) (told []string) {
	for _, p := range pieces {
		switch p {
		case "|":
			s.pause()
		case ".":
			s.quiet()
		case "~":
			s.steady()
		default:
			s.write([]byte(p))
			continue
		}
		told = append(told, s.take())
	}
	return told
}

func TestOutputIsToldOnce(t *testing.T) {
	for _, tt := range []struct {
		name   string
		pieces []string
		want   []string
	}{
		{"a pause holds the unfinished line back", []string{"a\r\nb", "|", "c\r\nd", "|", "."}, []string{"a", "\nbc", "\nd"}},
		{"a line that goes on", []string{"ab", ".", "cd\r\n", "."}, []string{"ab", "cd\n"}},
		{"a prompt stays as it is", []string{"$ ", ".", "\r\n$ ", "."}, []string{"$ ", "\n$ "}},
		{"a line that changes", []string{"1%", ".", "\r2%", "."}, []string{"1%", "\n2%"}},
		{"a line above that changes", []string{"a: wait\r\nb", ".", "\x1b[A\ra: done\r\n", "."}, []string{"a: wait\nb", "\na: done"}},
		{"lines that leave the screen", []string{"x\r\n", "|", strings.Repeat("y\r\n", 30), "."}, []string{"x", strings.Repeat("\ny", 30) + "\n"}},
		{"a spinner below a line", []string{"a\r\n-", "~", "\b/", "~", "\b|", "~"}, []string{"", "a", ""}},
		{"a line above that spins", []string{"a-\r\nb\r\n", "~", "\x1b[2A\ra/\r\n\r\n", "~", "~"}, []string{"", "", "a/\nb"}},
		{"a cleared screen", []string{"a\r\nb\r\n", ".", "\x1b[H\x1b[Jc", "."}, []string{"a\nb\n", "\nc"}},
		{"a full-screen program that draws", []string{"\x1b[?1049hone", "|", "\x1b[Htwo", "|", "."}, []string{"", "", "two"}},
		{"back from a full-screen program", []string{"$ vi\r\n", "|", "\x1b[?1049h\x1b[H~", ".", "\x1b[?1049l$ ", "."}, []string{"$ vi", "\n~", "\n$ "}},
	} {
		if got := steps(newScreen(), tt.pieces...); strings.Join(got, "|") != strings.Join(tt.want, "|") {
			t.Errorf("%s: told %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestTheEchoOfAPromptIsNotTold(t *testing.T) {
	long := strings.Repeat("word ", 40) + "end"
	for _, tt := range []struct {
		name, before, typed, after, want string
	}{
		{"of the terminal", "", "hi", "hi\r\nHI\r\n", "HI\n"},
		{"of a shell", "$ ", "ls", "\r$ ls\x1b[K\r\nfile\r\n$ ", "file\n$ "},
		{"several lines", "> ", "a\nb", "a\r\nb\r\nresult\r\n", "result\n"},
		{"lines with answers between them", "", "a\nb", "a\r\nA\r\nb\r\nB\r\n", "A\nb\nB\n"},
		{"a line that wraps", "$ ", long, long[:78] + " \r" + long[78:158] + " \r" + long[158:] + "\r\nout\r\n", "out\n"},
		{"tabs", "$ ", "if x:\n\tprint \t'a\t\tb' \t\nend", "if x:\r\n\tprint \t'a\t\tb' \t\r\nend\r\nout\r\n", "out\n"},
		{"none of a tab", "", "a\tb", "ab\r\nout\r\n", "ab\nout\n"},
		{"none at all", "", "secret", "\r\nwelcome\r\n", "welcome\n"},
		{"another text", "", "hi", "bonjour\r\nhi\r\n", "bonjour\nhi\n"},
		{"a text that begins alike", "", "hi there", "hi\r\n", "hi\n"},
		{"only the first time", "", "hi", "hi\r\nhi\r\n", "hi\n"},
	} {
		s := newScreen()
		s.write([]byte(tt.before))
		s.quiet()
		s.take()
		s.begin()
		s.expect(tt.typed, false)
		s.write([]byte(tt.after))
		s.quiet()
		if got := s.take(); got != tt.want {
			t.Errorf("%s: told %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestScreenSizes(t *testing.T) {
	s := newScreen()
	s.write([]byte("a\r\nb\r\nc\r\nd"))
	s.resize(40, 2)
	s.write([]byte("\r\n" + strings.Repeat("x", 41)))
	s.quiet()
	if got, want := s.take(), "a\nb\nc\nd\n"+strings.Repeat("x", 41); got != want {
		t.Errorf("after a resize it is told %q, want %q", got, want)
	}
	s.resize(65535, 65535)
	if s.cols != maxCols || s.rows != maxRows {
		t.Errorf("the largest screen is %d × %d", s.cols, s.rows)
	}
}

// FuzzScreen checks that any output is told as clean text, whatever it is cut
// into, and that memory for it is bounded.
func FuzzScreen(f *testing.F) {
	f.Add([]byte("$ ls\r\n\x1b[31mfile\x1b[0m\r\n"), 3)
	f.Add([]byte("\x1b[?1049h\x1b[2J\x1b[5;10Hx\x1b[3L\x1b[2M\x1b[?1049l"), 1)
	f.Add([]byte("\x1b[2;5r\x1b[5;1H\n\n\x1bM\x1b[9b漢\b字\x1b[3@\x1b[2P"), 7)
	f.Fuzz(func(t *testing.T, output []byte, cut int) {
		s := newScreen()
		var text strings.Builder
		for n := 0; len(output) > 0; n++ {
			p := output[:min(len(output), max(1, (cut+n)%17))]
			output = output[len(p):]
			s.write(p)
			if n%3 == 0 {
				s.pause()
			}
			text.WriteString(s.take())
		}
		s.quiet()
		text.WriteString(s.take())
		if !utf8.ValidString(text.String()) {
			t.Errorf("told %q, which is no UTF-8", text.String())
		}
		for _, r := range text.String() {
			if r != '\n' && unicode.IsControl(r) {
				t.Errorf("told the control character %q", r)
			}
		}
		if len(s.grid) > s.rows || s.x >= s.cols || s.y >= s.rows {
			t.Errorf("%d rows of %d, cursor %d, %d", len(s.grid), s.rows, s.x, s.y)
		}
		for _, l := range s.grid {
			if len(l.cells) > s.cols {
				t.Errorf("a row has %d cells", len(l.cells))
			}
		}
	})
}
