package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// However keys come together, the ones that end a line are told apart.
func TestKeysOfTheCommandLine(t *testing.T) {
	for _, tt := range []struct {
		typed string
		want  []string
	}{
		{"/help", []string{"/help"}},
		{"/help\r\x1b", []string{"/help\r", "\x1b"}},
		{"/he\x1b\x1d", []string{"/he", "\x1b", "\x1d"}},
		{"\x1b\r", []string{"\x1b", "\r"}},
		{"\x1b\x1b[A\x1bOB", []string{"\x1b", "\x1b[A\x1bOB"}},
		{"a\x1bb\x03\x04\n", []string{"a\x1bb\x03", "\x04", "\n"}},
	} {
		t.Run(fmt.Sprintf("%q", tt.typed), func(t *testing.T) {
			k := &keys{line: []byte(tt.typed)}
			k.more.L = &k.mu
			var got []string
			for p := make([]byte, 64); len(k.line) > 0; {
				n, err := k.Read(p)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, string(p[:n]))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("read %q, want %q", got, tt.want)
			}
		})
	}
}

// A paste can have the command key in it. One without an end keeps nobody from
// the command line.
func TestTheCommandKeyInAPaste(t *testing.T) {
	for _, tt := range []struct {
		name  string
		typed []any // text, and times that pass
		opens bool
	}{
		{"no paste", []any{"\x1d"}, true},
		{"behind other keys", []any{"abc\x1d"}, true},
		{"in a paste", []any{"\x1b[200~a\x1db\x1b[201~"}, false},
		{"in a piece of its own", []any{"\x1b[200~a", "\x1d", "b\x1b[201~"}, false},
		{"behind a paste", []any{"\x1b[200~a\x1b[2", "01~", "\x1d"}, true},
		{"in a paste that was held up", []any{"\x1b[200~a", pasteQuiet, "b\x1dc\x1b[201~"}, false},
		{"too early", []any{"\x1b[200~a", pasteQuiet - 1, "\x1d"}, false},
		{"without an end", []any{"\x1b[200~a", pasteQuiet, "\x1d"}, true},
		{"without an end, as kitty sends it", []any{"\x1b[200~a", pasteQuiet, "\x1b[93;5u"}, true},
		{"after keys that were taken for the paste", []any{"\x1b[200~a", "ls\r", pasteQuiet, "\x1d"}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opened := 0
				k := &keys{pressed: func() { opened++ }}
				k.more.L = &k.mu
				for _, what := range tt.typed {
					switch what := what.(type) {
					case string:
						k.take([]byte(what))
					case time.Duration:
						time.Sleep(what)
					}
				}
				if opened > 1 || (opened == 1) != tt.opens || k.asking != tt.opens {
					t.Errorf("after %q the command line was opened %d times, want it open: %t", tt.typed, opened, tt.opens)
				}
			})
		})
	}
}

// A command that waits for something else than keys is left by the keys that
// leave the command line. What was typed behind them is kept.
func TestKeysThatLeaveACommand(t *testing.T) {
	for _, tt := range []struct {
		before, during string
		leaves         bool
		rest           string
	}{
		{"", "", false, ""},
		{"", "abc\r", false, "abc\r"},
		{"", "\x1b[A", false, "\x1b[A"},
		{"", "\x03", true, ""},
		{"", "\x1b", true, ""},
		{"", "\x1d", true, ""},
		{"", "ab\x03cd\r", true, "cd\r"},
		{"\x03", "x", true, "x"},
	} {
		t.Run(fmt.Sprintf("%q%q", tt.before, tt.during), func(t *testing.T) {
			k := &keys{asking: true, line: []byte(tt.before)}
			k.more.L = &k.mu
			left := false
			stop := k.leavable(func() { left = true })
			k.take([]byte(tt.during))
			stop(left)
			if left != tt.leaves || string(k.line) != tt.rest {
				t.Errorf("left: %t, and the next line has %q; want %t and %q", left, k.line, tt.leaves, tt.rest)
			}
		})
	}
}

// Keys that are not taken at once, and those behind them, come by next, in
// their order; the command key is seen all the same.
func TestKeysThatGoThrough(t *testing.T) {
	in, typed := io.Pipe()
	pressed := make(chan struct{}, 1)
	k := watchKeys(in, func() { pressed <- struct{}{} })
	var direct string
	takes := true
	k.through(func(p []byte) bool {
		if takes {
			direct += string(p)
		}
		return takes
	})
	press := func(p string, then bool) {
		t.Helper()
		io.WriteString(typed, p)
		io.WriteString(typed, "") // returns when the keys before are sorted
		k.mu.Lock()
		takes = then
		k.mu.Unlock()
	}
	next := func(want string) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		if want == "" {
			cancel()
		}
		defer cancel()
		if p, _, _ := k.next(ctx); string(p) != want {
			t.Errorf("next = %q, want %q", p, want)
		}
	}
	press("a", true)
	press("b", false)
	press("c", true)
	press("d", true) // waits behind c, also if it could go
	next("cd")
	press("e", true) // waits until cd is on its way
	next("e")
	next("") // so is e
	press("f\x1dg", true)
	<-pressed
	next("")
	if want := "abf"; direct != want {
		t.Errorf("%q went through, want %q", direct, want)
	}
	k.answered("", false)
	next("")
	if want := "abfg"; direct != want {
		t.Errorf("after the command line %q went through, want %q", direct, want)
	}
	typed.Close()
}

// What a terminal sends by itself claims nothing.
func TestKeysThatNobodyPressed(t *testing.T) {
	for _, tt := range []struct {
		typed string
		want  bool
	}{
		{"a", true},
		{"\r", true},
		{"\x1b", true},
		{"\x1b[A", true},
		{"\x1bOP", true},
		{"\x1b[1;5C", true},
		{"\x1b[15~", true},
		{"\x1b[97;5u", true},
		{"\x1b[200~paste\x1b[201~", true},
		{"\xff", true},
		{"\x1b[?62;22c", false},
		{"\x1b[>0;276;0c", false},
		{"\x1b[12;1R", false},
		{"\x1b[0n", false},
		{"\x1b[?2026;2$y", false},
		{"\x1b[8;30;100t", false},
		{"\x1b[?1u", false},
		{"\x1b]11;rgb:0000/0000/0000\x1b\\", false},
		{"\x1b]11;rgb:0000/0000/0000\a", false},
		{"\x1bP>|XTerm(390)\x1b\\", false},
		{"\x1b_Gi=1;OK\x1b\\", false},
		{"\x1b[I", false},
		{"\x1b[<35;10;5M", false},
		{"\x1b[M \xff\x80", false},
		{"\x1b[12;1R\x1b[?62c", false},
		{"\x1b[12;1Rx", true},
	} {
		if got := byPerson([]byte(tt.typed)); got != tt.want {
			t.Errorf("byPerson(%q) = %v, want %v", tt.typed, got, tt.want)
		}
	}
}

type (
	told   struct{} // next, which has to say that keys are lost
	sent   struct{} // a write of all that next returned
	failed struct{} // the same, but it fails
)

// What is typed behind keys that are lost is lost, up to a new beginning; a
// program is not left within a paste.
func TestKeysBehindLostKeys(t *testing.T) {
	full := strings.Repeat("x", maxTyped-len(pasteBegins))
	for _, tt := range []struct {
		name  string
		typed []any // text, times that pass, told, sent and failed
		want  string
	}{
		{"that fit", []any{full, "rm\r"}, full + "rm\r"},
		{"without a pause", []any{full, "xxxxxxxxxx", "rm\r"}, full},
		{"told, without a pause", []any{full, "xxxxxxxxxx", told{}, pasteQuiet - 1, "rm\r"}, full},
		{"a pause before it is told", []any{full, "xxxxxxxxxx", pasteQuiet, "rm\r"}, full},
		{"a pause, but not since it is told", []any{full, "xxxxxxxxxx", pasteQuiet, told{}, "rm\r"}, full},
		{"told again", []any{full, "xxxxxxxxxx", told{}, "rm\r", told{}}, full},
		{"after a pause", []any{full, "xxxxxxxxxx", told{}, pasteQuiet, "ls", "\r"}, full + "ls\r"},
		{"in a paste", []any{pasteBegins + full, "xx", told{}, pasteQuiet, "rm\r"}, pasteBegins + full + pasteEnds},
		{"behind a paste", []any{pasteBegins + full, "xx", told{}, "rm\r\x1b[20", "1~rm\r", told{}, pasteQuiet, "ls\r"},
			pasteBegins + full + pasteEnds + "ls\r"},
		{"of the end of a paste", []any{pasteBegins + full[3:] + "\x1b[2", "01~", told{}, pasteQuiet, "ls\r"},
			pasteBegins + full[3:] + "\x1b[2" + pasteEnds + "ls\r"},
		{"of a failed write", []any{"echo ", failed{}, "rm\r"}, ""},
		{"of a failed write, after a pause", []any{"echo ", failed{}, pasteQuiet, "ls\r"}, "ls\r"},
		{"of a failed write in a paste", []any{pasteBegins + "a", failed{}, "rm\r" + pasteEnds + "\r", told{}, pasteQuiet, "l", "s"}, pasteEnds + "ls"},
		{"of a failed write deep in a paste", []any{pasteBegins + "a", sent{}, "b", failed{}, pasteEnds, told{}, pasteQuiet, "ls"},
			pasteBegins + "a" + pasteEnds + "ls"},
		{"of a failed write of a paste", []any{pasteBegins + "a" + pasteEnds, failed{}, pasteQuiet, "l", "s"}, pasteEnds + "ls"},
		{"of a failed write behind a paste", []any{pasteBegins + pasteEnds, sent{}, "echo ", failed{}, pasteQuiet, "ls"}, pasteBegins + pasteEnds + "ls"},
		{"of a failed write behind a lost paste", []any{full, pasteBegins + "a", told{}, pasteEnds, told{}, pasteQuiet, sent{}, "echo ", failed{}, pasteQuiet, "ls"},
			full + "ls"},
		{"of two failed writes", []any{pasteBegins + "a" + pasteEnds, failed{}, pasteQuiet, "l", failed{}, pasteQuiet, "ls"}, pasteEnds + "ls"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if got := typeWithLosses(t, tt.typed); got != tt.want {
					t.Errorf("the program gets %d bytes with the end %q, want %d with %q",
						len(got), got[max(0, len(got)-20):], len(tt.want), tt.want[max(0, len(tt.want)-20):])
				}
			})
		})
	}
}

// typeWithLosses returns what the program gets.
func typeWithLosses(t *testing.T, typed []any) string {
	k := new(keys)
	k.more.L = &k.mu
	over, cancel := context.WithCancel(t.Context())
	cancel()
	var got []byte
	for i, what := range typed {
		switch what := what.(type) {
		case string:
			k.take([]byte(what))
		case time.Duration:
			time.Sleep(what)
		case told:
			p, lost, _ := k.next(over)
			if got = append(got, p...); !lost {
				t.Errorf("step %d: it is not told that keys are lost", i)
			}
		case sent:
			p, _, _ := k.next(over)
			got = append(got, p...)
			k.next(over)
		case failed:
			k.next(over)
			k.lose()
			k.next(over)
		}
	}
	p, _, _ := k.next(over)
	return string(append(got, p...))
}
