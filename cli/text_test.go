package cli

import (
	"strings"
	"testing"
	"time"
)

func TestNamesCannotDoAnythingToATerminal(t *testing.T) {
	for in, want := range map[string]string{
		"demo 1": "demo 1", "日本 é": "日本 é", "a\x1b[2Jb": `a\x1b[2Jb`, "a\nb\t": `a\nb\t`, "\xff": `\xff`, "\u202eevil": `\u202eevil`, "\u009b": `\u009b`, `a\b'"`: `a\b'"`,
	} {
		if got := Plain(in); got != want {
			t.Errorf("Plain(%q) = %q, want %q", in, got, want)
		}
	}
	if got, want := commandText([]string{"sh", "-c", "echo \x07", "", `a"b`}), `sh -c 'echo \a' '' 'a"b'`; got != want {
		t.Errorf("command = %s, want %s", got, want)
	}
}

func TestCutFitsTheWidth(t *testing.T) {
	for _, s := range []string{"", "a", "abcdefgh", "日本語日本語", "a日b本"} {
		for width := range 12 {
			got := cut(s, width)
			if cells(got) > width {
				t.Errorf("cut(%q, %d) = %q takes %d cells", s, width, got, cells(got))
			}
			if cells(s) <= width && got != s {
				t.Errorf("cut(%q, %d) = %q although it fits", s, width, got)
			}
		}
	}
}

func TestLongLinesGoOnBelow(t *testing.T) {
	for _, s := range []string{"", "short", strings.Repeat("long ", 20), strings.Repeat("日本", 20), strings.Repeat("a日", 20)} {
		for width := range 30 {
			lines := wrap(s, width)
			if got := strings.Join(lines, ""); got != s {
				t.Errorf("wrap(%q, %d) has the text %q", s, width, got)
			}
			for _, line := range lines {
				if width >= leastColumn && cells(strings.TrimRight(line, " ")) > width {
					t.Errorf("wrap(%q, %d): %q takes %d cells", s, width, line, cells(line))
				}
			}
		}
	}
}

func TestLinesBreakAtWords(t *testing.T) {
	for in, want := range map[string]string{
		"a word and another":       "a word |and |another",
		"twelve chars":             "twelve |chars",
		"unbreakable":              "unbreaka|ble",
		"so unbreakable a word":    "so |unbreaka|ble a |word",
		"two  spaces   between  x": "two  |spaces   |between  |x",
		"eight ab no more":         "eight ab |no more",
		" 日本語日本語":                  " 日本語|日本語",
	} {
		if got := strings.Join(wrap(in, leastColumn), "|"); got != want {
			t.Errorf("wrap(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestTimesAreRelative(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		-time.Hour: "now", time.Second - 1: "now", time.Second: "1s ago", time.Minute - 1: "59s ago", time.Minute: "1m ago",
		time.Hour - 1: "59m ago", time.Hour: "1h ago", 48*time.Hour - 1: "47h ago", 48 * time.Hour: "2d ago",
	} {
		at := now.Add(-d)
		if got := ago(&at, now); got != want {
			t.Errorf("%s before now is %q, want %q", d, got, want)
		}
	}
	if got := ago(nil, now); got != "-" {
		t.Errorf("no time is %q", got)
	}
}

// A bytes.Buffer is no terminal: 80 columns.
func TestProseIsSetForPipes(t *testing.T) {
	long := strings.TrimSuffix(strings.Repeat("word ", 20), " ") // 99 cells
	in := "usage: holdfast x\n       holdfast y\n\n" + long + "\n" + long + "\n\n  as it is\n        " + long + "\nend\n"
	sixteen := strings.Repeat("word ", 15) + "word\n"
	want := "usage: holdfast x\n       holdfast y\n\n" + sixteen + sixteen + strings.Repeat("word ", 7) + "word\n\n  as it is\n        " +
		strings.Repeat("word ", 13) + "word\n        " + strings.Repeat("word ", 5) + "word\nend\n"
	var w strings.Builder
	if got := Prose(&w, in); got != want {
		t.Errorf("Prose = %q\nwant %q", got, want)
	}
	if got := Prose(&w, want); got != want {
		t.Errorf("Prose of what it has set = %q, want no change", got)
	}
	if got := Fitting(&w, long); got != long {
		t.Errorf("Fitting for a pipe = %q, want it whole", got)
	}
}
