package main

import (
	"fmt"
	"strings"
	"testing"
)

const opens = "; Ctrl-] opens a command line"

// A terminal says which session it has come to, before what that has printed;
// neither the log nor a pipe has that line.
func TestATerminalSaysWhereItIs(t *testing.T) {
	dir := shortStore(t)
	ts := startServerProcess(t, "", dir).client(t)
	it := create(ts, "it", "echo ready; exec cat").ID[:8]
	wide := create(ts, strings.Repeat("wide ", 20)+"name", "echo wide; exec cat").ID[:8]
	m := holdfastOnTerminal(t, dir, "attach", it)
	m.see("\x1b[2J\x1b[H[this is " + it + " it" + opens + "]\r\nready\r\n")
	m.press("\x1d")
	m.see("holdfast> ")
	m.press("/resume " + wide + "\r")
	m.see("[this is " + wide + strings.Repeat(" wide", 16) + "\r\nwide wide wide wide name" + opens + "]\r\nwide\r\n")
	m.press("\x1d")
	m.see("holdfast> ")
	m.press("/detach\r")
	m.wait()
	if log := hold(t, dir, "", "export", "--raw", it).Stdout; log != "ready\r\n" {
		t.Errorf("the log has %q", log)
	}
	if got := hold(t, dir, "hello\n\x04", "attach", it); got != (said{0, "hello\r\nhello\r\n", ""}) {
		t.Errorf("attach in pipes = %+v", got)
	}

	m = holdfastOnTerminal(t, dir, "run", "--name", "own", "--", "sh", "-c", "echo once")
	m.wait()
	if got := m.out.String(); got != "once\r\n" {
		t.Errorf("a new session shows %q, want its output alone", got)
	}
	m = holdfastOnTerminal(t, dir, "run", "--resume", "own")
	m.see("[this is " + shown(t, dir, "own").ID[:8] + " own" + opens + "]\r\nonce\r\n")
}

// Nothing is put onto the screen that a program has drawn: what it draws next
// would stand elsewhere.
func TestArrivalLeavesTheScreenAlone(t *testing.T) {
	dir := shortStore(t)
	ts := startServerProcess(t, "", dir).client(t)
	for name, script := range map[string]string{"long": "seq 99; printf '$ '; exec cat", "full": `printf '\033[?1049h\033[H\033[2J$ '; exec cat`} {
		id := create(ts, name, script).ID
		eventually(t, "its prompt", func() bool { return strings.HasSuffix(hold(t, dir, "", "export", "--raw", id).Stdout, "$ ") })
		log := hold(t, dir, "", "export", "--raw", id).Stdout
		m := holdfastOnTerminal(t, dir, "attach", name)
		m.see("$ ")
		m.press("x")
		m.see("x")
		if _, shown, _ := strings.Cut(m.out.String(), opens+"]\r\n"); shown != log+"x" {
			t.Errorf("%s: below the line on arrival the terminal has %q, want %q", name, shown, log+"x")
		}
	}
}

// Who only watches is told so, with who has the session, and again at the first
// key; others ring the bell. Esc leads back from the command line.
func TestATerminalSaysThatItWatches(t *testing.T) {
	dir := shortStore(t)
	ts := startServerProcess(t, "", dir).client(t)
	it := create(ts, "it", "echo ready; exec cat").ID[:8]
	m := holdfastOnTerminal(t, dir, "attach", "--read-only", "it")
	m.see("[this is " + it + " it" + opens + "; this terminal only watches]\r\nready\r\n")

	run := holdfastOnTerminal(t, dir, "run", "--name", "own", "--", "sh", "-c", "stty -echo; echo begun; exec cat")
	run.see("begun")
	own := shown(t, dir, "own")
	m = holdfastOnTerminal(t, dir, "attach", "own")
	m.see("[this is " + own.ID[:8] + " own" + opens + "; this terminal only watches: session is in use by\r\n" +
		fmt.Sprintf("pid %d on %s since ", own.Holder.PID, own.Holder.Host))
	m.see("]\r\nbegun\r\n")
	m.press("x")
	m.see("\r\nthis terminal only watches: session is in use by")
	m.see("holdfast> ")
	m.press("\x1b")
	m.see("\x1b[?1049l")
	m.press("x")
	m.see("\a")
	run.press("more\r")
	run.see("more\r\n")
	m.see("more\r\n")
	run.press("\x1d")
	run.see("holdfast> ")
	run.press("/resume it\r")
	run.see("session is in use by pid ")
	run.see(" terminal with holdfast attach " + it + "\r\nholdfast> ")
	if log := hold(t, dir, "", "export", "--raw", "own").Stdout; log != "begun\r\nmore\r\n" {
		t.Errorf("the log has %q", log)
	}
}
