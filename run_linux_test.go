package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"holdfast/session"
)

func TestRunInPipes(t *testing.T) {
	dir := shortStore(t)
	long := strings.Repeat("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde\n", 8<<10) // 512 KiB
	for _, tt := range []struct {
		name   string
		stdin  string
		args   []string
		status int
		want   string
	}{
		{"status", "", []string{"sh", "-c", "exit 3"}, 3, ""},
		{"success", "", []string{"true"}, 0, ""},
		{"signal", "", []string{"sh", "-c", "kill -9 $$"}, 137, ""},
		{"output", "", []string{"printf", `a\nb\377`}, 0, "a\r\nb\xff"},
		{"lines", "one\ntwo\n", []string{"sh", "-c", "stty -echo; echo go; cat"}, 0, "go\r\none\r\ntwo\r\n"},
		{"half a line", "one\ntw", []string{"sh", "-c", "stty -echo; echo go; cat"}, 0, "go\r\none\r\ntw"},
		{"much", long, []string{"sh", "-c", "stty -echo; echo go; sha256sum"}, 0, fmt.Sprintf("go\r\n%x  -\r\n", sha256.Sum256([]byte(long)))},
		{"a program that does not read", long, []string{"echo", "hi"}, 0, "hi\r\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := hold(t, dir, tt.stdin, append([]string{"run", "--"}, tt.args...)...)
			// What was typed before the program turned the echo off is in the way.
			if _, after, ok := strings.Cut(got.Stdout, "go\r\n"); ok {
				got.Stdout = "go\r\n" + after
			}
			if want := (said{tt.status, tt.want, ""}); tt.name != "a program that does not read" && got != want {
				t.Errorf("run = %.200v, want %.200v", got, want)
			} else if got.Status != tt.status || !strings.Contains(got.Stdout, tt.want) {
				t.Errorf("run = %.200v, want %.200v", got, want)
			}
		})
	}
	if got := hold(t, dir, strings.Repeat("x", 5000)+"\n", "run", "--", "cat"); got.Status != 1 || !strings.Contains(got.Stderr, "line too long") {
		t.Errorf("run with a line that the terminal would cut = status %d, %q", got.Status, got.Stderr)
	}
	if got := hold(t, dir, "", "run", "--", "no-such-program"); got.Status != 1 || !strings.Contains(got.Stderr, `"no-such-program"`) {
		t.Errorf("run of no program = %+v", got)
	}
	if got := hold(t, dir, "", "ls", "--json"); strings.Contains(got.Stdout, `"state":"running"`) {
		t.Errorf("after all of it: %s", got.Stdout)
	}
}

// A program in run has its terminal's size, and its keys, whatever they are.
func TestRunIsTheProgramsTerminal(t *testing.T) {
	m := holdfastOnTerminal(t, shortStore(t), "run", "--", "sh", "-c", `stty size; trap "stty size" WINCH; trap "echo interrupted" INT; echo ready; while :; do read line && echo "got $line"; done`)
	m.see("30 100\r\nready")
	if m.has(m.was) {
		t.Error("the terminal still collects lines")
	}
	m.press("\x03")
	m.see("interrupted")
	m.press("hello\r")
	m.see("got hello")
	m.resize(80, 24)
	m.see("24 80")
	m.press("\x1c") // ^\ ends it
	if got := m.wait(); got != 131 {
		t.Errorf("exit status %d, want 131", got)
	}
	if !m.has(m.was) {
		t.Errorf("the terminal is left as %+v, was %+v", m.modes(), m.was)
	}
}

// Whatever ends it, the terminal is as a shell expects it.
func TestRunGivesTheTerminalBack(t *testing.T) {
	for _, tt := range []struct {
		name   string
		signal syscall.Signal
		status int
		state  string
	}{
		{"TERM", syscall.SIGTERM, 143, "interrupted"},
		{"INT", syscall.SIGINT, 130, "interrupted"},
		{"HUP", syscall.SIGHUP, 129, "interrupted"},
		{"KILL", syscall.SIGKILL, 137, "interrupted"},
		{"ABRT", syscall.SIGABRT, 2, "interrupted"}, // as a panic does
		{"program", 0, 7, "ended"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := shortStore(t)
			m := holdfastOnTerminal(t, dir, "run", "--name", "it", "--", "sh", "-c", "printf '"+everyMode+"ready'; read x; exit 7")
			m.see("ready")
			before := len(m.out.String())
			if tt.signal != 0 {
				m.cmd.Process.Signal(tt.signal)
			} else {
				m.press("\r")
			}
			if got := m.wait(); got != tt.status {
				t.Errorf("exit status %d, want %d", got, tt.status)
			}
			m.until("a fresh terminal", func() bool { return m.has(m.was) && freshAfter(m.out.String()) })
			if got := m.out.String()[before:]; !strings.Contains(got, "\x1b[?1049l") {
				t.Errorf("after the end the terminal was sent %q", got)
			}
			if got := hold(t, dir, "", "ls", "--json"); !strings.Contains(got.Stdout, `"state":"`+tt.state+`"`) {
				t.Errorf("state is not %s: %s", tt.state, got.Stdout)
			}
		})
	}
}

// freshAfter reports whether a terminal that was sent text is as a fresh one.
func freshAfter(text string) bool {
	var m session.Modes
	m.Write([]byte(text))
	return len(m.Reset()) == 0
}

// everyMode is what a program prints that leaves the terminal changed.
const everyMode = `\033[?1049h\033[?1000h\033[?1006h\033[?2004h\033[?1h\033[?25l\033[1;31m`

func TestRunIsSuspendedAndContinued(t *testing.T) {
	m := holdfastOnTerminal(t, shortStore(t), "run", "--", "sh", "-c", "printf '\\033[?2004h'; stty -echo; echo ready; exec cat")
	m.see("ready")
	raw := m.modes()
	m.cmd.Process.Signal(syscall.SIGTSTP)
	m.untilStopped()
	m.until("a fresh terminal", func() bool { return m.has(m.was) && freshAfter(m.out.String()) })
	m.resize(90, 24)
	before := len(m.out.String())
	m.cmd.Process.Signal(syscall.SIGCONT)
	m.until("the screen again", func() bool { return strings.Contains(m.out.String()[before:], "\x1b[?2004h") })
	m.press("hello\r")
	m.see("hello\r\n")
	if !m.has(raw) {
		t.Error("the terminal collects lines after it was continued")
	}
	m.press("\x04")
	if got := m.wait(); got != 0 {
		t.Errorf("exit status %d, want 0", got)
	}
}

// A terminal that goes away interrupts the session, and nothing is lost.
func TestRunWithoutItsTerminal(t *testing.T) {
	dir := shortStore(t)
	m := holdfastOnTerminal(t, dir, "run", "--name", "it", "--", "sh", "-c", "trap '' HUP; echo once; exec cat")
	m.see("once")
	m.pty.Close()
	if got := m.wait(); got != 129 {
		t.Errorf("exit status %d, want 129", got)
	}
	if got := hold(t, dir, "", "show", "it").Stdout; !regexp.MustCompile(`state +interrupted\ncause +gateway_shutdown\n`).MatchString(got) {
		t.Errorf("afterwards: %s", got)
	}
	m = holdfastOnTerminal(t, dir, "run", "--resume", "it")
	m.see("once\r\n\r\n[the program was started again]\r\nonce")
	m.press("more\r")
	m.see("more\r\nmore")
	m.press("\x04")
	if got := m.wait(); got != 0 {
		t.Errorf("exit status of the second run %d, want 0", got)
	}
	if got := hold(t, dir, "", "export", "it", "--raw").Stdout; got != "once\r\nonce\r\nmore\r\nmore\r\n" {
		t.Errorf("the log has %q", got)
	}
}

// An end of file that was typed before the terminal is raw, as script(1) does
// whose own input has ended, is the program's.
func TestRunIsToldOfAnEndThatWasTypedBefore(t *testing.T) {
	begin := filepath.Join(t.TempDir(), "begin")
	run := exec.Command("sh", "-c", `until [ -e "$0" ]; do sleep 0.02; done; exec "$@"`, begin, buildHoldfast(t), "run", "--", "sh", "-c", "cat; exit 3")
	run.Env = append(os.Environ(), "HOLDFAST_STORE="+shortStore(t))
	m := onTerminal(t, run)
	m.press("\x04")
	if err := os.WriteFile(begin, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := m.wait(); got != 3 {
		t.Errorf("exit status = %d, want the program's 3; the terminal shows %q", got, m.out)
	}
}
