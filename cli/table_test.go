//go:build unix

package cli

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"holdfast/session"
	"holdfast/store"

	"github.com/creack/pty"
)

var views = []session.View{
	{ID: "11111111-aaaa", Name: "a name that is long enough to be cut somewhere", State: "running", Argv: []string{"bash", "-c", strings.Repeat("long ", 40)}},
	{ID: "11111111-bbbb", State: session.Unreadable, Argv: []string{}},
	{ID: "22222222-cccc", Name: "日本語", State: "ended", Argv: []string{"日本語日本語日本語日本語日本語日本語"}},
}

func TestTablesFitEveryTerminal(t *testing.T) {
	for width := 1; width < 200; width++ {
		var b bytes.Buffer
		s := screen{Writer: &b, width: width}
		if err := printSessions(s, views, idLength(s, views), time.Now()); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		if len(lines) != len(views)+1 {
			t.Fatalf("%d cells: %d lines", width, len(lines))
		}
		for _, line := range lines {
			if cells(line) > width {
				t.Errorf("%d cells: %q takes %d", width, line, cells(line))
			}
		}
	}
}

func TestWhatIsShownOfOneSession(t *testing.T) {
	since := time.Date(2026, 11, 30, 14, 5, 9, 0, time.Local)
	for _, tt := range []struct {
		view session.View
		want string
	}{
		{session.View{Holder: &session.Holder{PID: 42, Host: "build7", Since: &since}}, "\nholder   pid 42 on build7 since 2026-11-30 14:05:09\n"},
		{session.View{Holder: &session.Holder{}}, "\nholder   another process\n"},
		{session.View{AutoResume: true}, "\nrestart  with the server\n"},
		{session.View{}, "\nrestart  on request\n"},
	} {
		var b strings.Builder
		if err := printSession(screen{Writer: &b}, &tt.view, since); err != nil || !strings.Contains("\n"+b.String(), tt.want) {
			t.Errorf("shown is %q, %v; want %q", b.String(), err, tt.want)
		}
	}
}

// What a profile makes of its program says less than its name.
func TestAListHasTheNamesOfProfiles(t *testing.T) {
	v := session.View{ID: "33333333-dddd", State: "running", Profile: "claude", Argv: []string{"agent", "--session-id", "33333333-dddd"}}
	var b strings.Builder
	if err := printSessions(screen{Writer: &b}, []session.View{v}, 8, time.Now()); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Fields(b.String()), "claude"; got[len(got)-1] != want || strings.Contains(b.String(), "--session-id") {
		t.Errorf("the list is %q, want %q as what runs", b.String(), want)
	}
	for query, want := range map[string]bool{"laude": true, "session-id": true, "CLAUDE": true, "gemini": false} {
		if got := (session.Filter{Query: query}).Match(&v); got != want {
			t.Errorf("a search for %q finds it: %t, want %t", query, got, want)
		}
	}
}

func TestTheLastColumnIsCutFirst(t *testing.T) {
	tab := table{{"A", "B", "C"}, {"first", "the second", "the third column"}}
	for width, want := range map[int]string{
		0:  "first  the second  the third column",
		35: "first  the second  the third column",
		30: "first  the second  the third …",
		26: "first  the seco…  the thi…",
		9:  "first  t…",
	} {
		var b strings.Builder
		if err := tab.print(screen{Writer: &b, width: width}, func(int, int) string { return "" }); err != nil {
			t.Fatal(err)
		}
		if got := strings.Split(b.String(), "\n")[1]; got != want {
			t.Errorf("in %d cells: %q, want %q", width, got, want)
		}
	}
}

func TestIDsOnATerminalTellSessionsApart(t *testing.T) {
	if got := idLength(screen{width: 80}, views); got != 10 {
		t.Errorf("ids are cut to %d, want 10", got)
	}
	if got := idLength(screen{}, views); got != 36 {
		t.Errorf("ids in a pipe are cut to %d, want 36", got)
	}
}

// onTerminal returns what do prints on a terminal of 60 columns.
func onTerminal(t *testing.T, do func(tty *os.File) error) string {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	if err := pty.Setsize(tty, &pty.Winsize{Cols: 60, Rows: 10}); err != nil {
		t.Fatal(err)
	}
	if err := do(tty); err != nil {
		t.Fatal(err)
	}
	if _, err := tty.WriteString("\x04"); err != nil {
		t.Fatal(err)
	}
	var out []byte
	buf := make([]byte, 1<<10)
	for !bytes.HasSuffix(out, []byte("\x04")) {
		n, err := master.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, buf[:n]...)
	}
	tty.Close()
	return string(out)
}

func TestColourIsForTerminalsThatWantIt(t *testing.T) {
	dir := t.TempDir()
	st, err := store.Open(dir, store.Options{Boot: "test"})
	if err != nil {
		t.Fatal(err)
	}
	ctl, err := session.Open(session.Config{Store: st, Front: "test", ShutdownGrace: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer ctl.Close()
	long := strings.Repeat("x", 100)
	v, err := ctl.Create(session.Spec{Argv: []string{"sh", "-c", "cat; # " + long}})
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TERM", "xterm")
	for name, do := range map[string]func(tty *os.File) error{
		"ls":   func(tty *os.File) error { return List(t.Context(), []string{"--store", dir}, tty, io.Discard) },
		"show": func(tty *os.File) error { return Show(t.Context(), []string{"--store", dir, v.ID}, tty, io.Discard) },
	} {
		t.Setenv("NO_COLOR", "")
		if got := onTerminal(t, do); !strings.Contains(got, "\x1b[32mrunning") {
			t.Errorf("%s: no colour on a terminal: %q", name, got)
		}
		t.Setenv("NO_COLOR", "1")
		got := onTerminal(t, do)
		if strings.Contains(got, "\x1b") {
			t.Errorf("%s: colour with NO_COLOR: %q", name, got)
		}
		for line := range strings.Lines(got) {
			if cells(strings.Trim(line, "\r\n\x04")) > 60 {
				t.Errorf("%s: %q is wider than the terminal", name, line)
			}
		}
		if got = strings.Join(strings.Fields(got), ""); name == "show" && !strings.Contains(got, long) {
			t.Errorf("show has cut something off: %q", got)
		}
	}
	t.Setenv("NO_COLOR", "")
	pipe, err := os.Create(dir + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	if err := List(t.Context(), []string{"--store", dir}, pipe, io.Discard); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(pipe.Name())
	if err != nil || bytes.Contains(b, []byte("\x1b")) || !bytes.Contains(b, []byte(strings.Repeat("x", 100))) {
		t.Errorf("in a file: %q, %v", b, err)
	}
}
