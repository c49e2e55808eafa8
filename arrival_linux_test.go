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

// Where that line is not on the screen any more, the last row has it until there
// is output.
func TestATerminalSaysWhereItIsBelow(t *testing.T) {
	dir := shortStore(t)
	ts := startServerProcess(t, "", dir).client(t)
	for name, script := range map[string]string{"long": "seq 29; printf '$ '; exec cat", "cleared": `printf '\033[H\033[2J$ '; exec cat`} {
		id := create(ts, name, script).ID[:8]
		ts.do("POST", "/sessions/"+id+"/resize", `{"cols":100,"rows":30}`)
		eventually(t, "its prompt", func() bool { return strings.HasSuffix(hold(t, dir, "", "export", "--raw", id).Stdout, "$ ") })
		m := holdfastOnTerminal(t, dir, "attach", name)
		m.see("$ \n\x1b[A\x1b7\x1b[999;1H\x1b[0m\x1b[7m this is " + id + " " + name + opens + " \x1b[0m\x1b[K\x1b8")
		m.press("x")
		m.see("\x1b7\x1b[999;1H\x1b[0m\x1b[K\x1b8x")
		m.press("\x1d")
		m.see("holdfast> ")
		m.press("\x1b")
		m.see("\x1b[?1049l")
		m.press("y")
		m.see("y")
		if n := strings.Count(m.out.String(), "\x1b[999;1H"); n != 2 {
			t.Errorf("%s: the last row is written %d times, want it once and cleared once: %q", name, n, m.out)
		}
	}
	// The answer of a shell to the size of this terminal takes nothing away.
	id := create(ts, "redraws", `trap 'printf "\r\033[Knew size"' WINCH; printf '\033[H\033[2J$ '; while :; do read line && echo "got $line"; done`).ID[:8]
	eventually(t, "its prompt", func() bool { return strings.HasSuffix(hold(t, dir, "", "export", "--raw", id).Stdout, "$ ") })
	m := holdfastOnTerminal(t, dir, "attach", id)
	m.see("new size")
	m.until("a greeting behind it", func() bool {
		return strings.HasSuffix(m.out.String(), " this is "+id+" redraws"+opens+" \x1b[0m\x1b[K\x1b8")
	})
	// In another size something else may stand on the last row by then.
	other := create(ts, "other", "seq 29; printf '$ '; exec cat").ID[:8]
	eventually(t, "its prompt", func() bool { return strings.HasSuffix(hold(t, dir, "", "export", "--raw", other).Stdout, "$ ") })
	m = holdfastOnTerminal(t, dir, "attach", other)
	m.see(" \x1b[0m\x1b[K\x1b8")
	m.resize(90, 20)
	eventually(t, "the size of the terminal", func() bool { return shown(t, dir, other).Rows == 20 })
	m.press("x")
	m.see("\x1b[2J\x1b[H[this is " + other + " other" + opens + "]\r\n1\r\n")
	m.see("$ x")
	if n := strings.Count(m.out.String(), "\x1b[999;1H"); n != 1 {
		t.Errorf("the last row is written %d times, want it once: %q", n, m.out)
	}
	short := create(ts, "short", "seq 28; printf '$ '; exec cat").ID
	eventually(t, "its prompt", func() bool { return strings.HasSuffix(hold(t, dir, "", "export", "--raw", short).Stdout, "$ ") })
	for _, args := range [][]string{{"attach", "short"}, {"run", "--", "sh", "-c", "seq 99; printf '$ '; exec cat"}} {
		m := holdfastOnTerminal(t, dir, args...)
		m.see("$ ")
		m.press("x")
		m.see("x")
		if strings.Contains(m.out.String(), "\x1b[999;1H") {
			t.Errorf("%v shows %q", args, m.out)
		}
	}
}

// Who only watches is told so, with who has the session; keys ring the bell,
// and Esc leads back from the command line.
func TestATerminalSaysThatItWatches(t *testing.T) {
	dir := shortStore(t)
	ts := startServerProcess(t, "", dir).client(t)
	it := create(ts, "it", "echo ready; exec cat").ID[:8]
	m := holdfastOnTerminal(t, dir, "attach", "--read-only", "it")
	m.see("[this is " + it + " it" + opens + "; this terminal only watches]\r\nready\r\n")

	full := create(ts, "full", `printf '\033[?1049hfull'; exec cat`).ID[:8]
	m = holdfastOnTerminal(t, dir, "attach", "--read-only", "full")
	m.see("full")
	m.see("\x1b[999;1H\x1b[0m\x1b[7m this is " + full + " full" + opens + "; this terminal only watches ")
	m.press("x")
	m.see("full")
	m.press("\x1d")
	m.see("holdfast> ")
	if n := strings.Count(m.out.String(), "\x1b[999;1H"); n != 1 {
		t.Errorf("a full screen is written over %d times, want once until a key", n)
	}

	run := holdfastOnTerminal(t, dir, "run", "--name", "own", "--", "sh", "-c", "stty -echo; echo begun; exec cat")
	run.see("begun")
	own := shown(t, dir, "own")
	m = holdfastOnTerminal(t, dir, "attach", "own")
	m.see("[this is " + own.ID[:8] + " own" + opens + "; this terminal only watches: session is in use by\r\n" +
		fmt.Sprintf("pid %d on %s since ", own.Holder.PID, own.Holder.Host))
	m.see("]\r\nbegun\r\n")
	m.press("x")
	m.see("\a")
	m.press("\x1d")
	m.see("holdfast> ")
	m.press("\x1b")
	m.see("\x1b[?1049l")
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
