package main

import (
	"fmt"
	"strings"
	"testing"

	"holdfast/session"
)

// A session that is shown in itself would print its own output for ever. It is
// refused however one comes to it, and never chosen.
func TestAttachRefusesItsOwnSession(t *testing.T) {
	dir, exe := shortStore(t), buildHoldfast(t)
	ts := startServerProcess(t, "", dir).client(t)
	own := create(ts, "its-own", "PS1='$ ' exec sh")
	must[session.View](ts, ts.do("POST", "/resume", fmt.Sprintf(`{"id":%q}`, own.ID)), 200) // bound
	m := holdfastOnTerminal(t, dir, "attach", "its-own")
	m.see("$ ")
	const refusal = `session "its-own" is the one that this runs in ($HOLDFAST_SESSION)`
	for args, want := range map[string]string{
		"its-own": "holdfast: " + refusal, "--read-only its-own": "holdfast: " + refusal, "": "holdfast: no other session is live, and " + refusal,
	} {
		m.press(exe + " attach " + args + "; echo status $?\r")
		m.see(want[:48]) // a line has 100
		m.see("status 1\r\n")
	}

	create(ts, "other", "echo second; exec cat")
	m.press(exe + " attach\r")
	m.see("second")
	m.press("\x1d")
	m.see("holdfast> ")
	m.press("\x1d") // which types it
	m.see("holdfast> ")
	m.press("/resume its-own\r")
	m.see(refusal[:40])
	m.press("/sessions\r")
	m.see("2 of 2 sessions")
	m.press("its-own\r")
	m.see(refusal[:40])
	m.press("/quit\r")
	m.see(" other, which goes on; holdfast attach ")
}

// To point at a session in a list is not to run its program again.
func TestTheListAsksBeforeItStartsAProgram(t *testing.T) {
	dir := shortStore(t)
	ts := startServerProcess(t, "", dir).client(t)
	create(ts, "deploy", "echo ran")
	eventually(t, "its end", func() bool { return shown(t, dir, "deploy").State == "ended" })
	create(ts, "it", "echo ready; exec cat")
	m := holdfastOnTerminal(t, dir, "attach", "it")
	m.see("ready")
	m.press("\x1d")
	m.see("holdfast> ")
	for _, answer := range []string{"n\r", "\r", "\x1b", "\x1d", "y\r"} {
		if answer == "y\r" { // in a copy, which gets no key of the questions before
			m.press("/fork\r")
			m.see(" leads back]\r\nready\r\n")
			m.press("typed\r")
			m.see("typed\r\ntyped\r\n")
			if got := m.out.String(); strings.Contains(got, "^]") {
				t.Errorf("a key of a question was typed into the program: %q", got)
			}
			m.press("\x1d")
			m.see("holdfast> ")
		}
		m.press("/sessions\r")
		m.see(" sessions")
		m.press("deploy\r")
		m.see("deploy is ended; run `sh -c 'echo ran'` again? [y/N] ")
		if got := shown(t, dir, "deploy").Runs; got != 1 {
			t.Fatalf("before the answer %q it has run %d times, want 1", answer, got)
		}
		m.press(answer)
		if answer != "y\r" {
			m.see("nothing was changed\r\nholdfast> ")
		}
	}
	m.see(" deploy is ended, with status 0]")
	if got := shown(t, dir, "deploy").Runs; got != 2 {
		t.Errorf("after a yes it has run %d times, want 2", got)
	}
}

// Of two terminals the one whose person types has its size, and none by being
// there.
func TestWhoTypesHasTheSize(t *testing.T) {
	dir := shortStore(t)
	ts := startServerProcess(t, "", dir).client(t)
	create(ts, "it", `trap "stty size" WINCH; echo ready; while :; do read line && echo "got $line"; done`)
	one := holdfastOnTerminal(t, dir, "attach", "it")
	one.see("ready")
	other := holdfastOnTerminal(t, dir, "attach", "it")
	other.see("ready")
	for i := range 3 {
		one.mark = len(one.out.String())
		other.resize(90, 20+uint16(i))
		one.see(fmt.Sprintf("%d 90\r\n", 20+i))
		other.press(fmt.Sprintf("other %d\r", i))
		one.see(fmt.Sprintf("got other %d\r\n", i))
		if v := shown(t, dir, "it"); v.Cols != 90 {
			t.Fatalf("without a key the session is %d columns wide, want 90", v.Cols)
		}
		one.press("\x1b[?62;22c\x1b[I") // no key
		one.press(fmt.Sprintf("one %d\r", i))
		one.see("30 100\r\n")
		other.press("x")
		one.see(fmt.Sprintf("%d 90\r\n", 20+i))
		one.press("\r")
		one.see("30 100\r\n")
	}
}

// A program that was started again under a terminal is marked there, once.
func TestAttachMarksAnotherRun(t *testing.T) {
	dir := shortStore(t)
	p := startServerProcess(t, "", dir)
	ts := p.client(t)
	must[session.View](ts, ts.do("POST", "/sessions",
		fmt.Sprintf(`{"name":"it","argv":["sh","-c","[ -e %[1]s/ran ] || echo ready; touch %[1]s/ran; exec cat"],"auto_resume":true}`, t.TempDir())), 201)
	m := holdfastOnTerminal(t, dir, "attach", "it")
	m.see("ready")
	p.kill()
	startServerProcess(t, "", dir)
	const line = "\r\n[the program was started again]\r\n"
	m.see(line)
	for range 2 { // the stream begins there again
		m.press("\x1d")
		m.see("holdfast> ")
		m.press("\x1b")
		m.see("\x1b[?1049l") // back on the screen of the session
	}
	m.press("hello\r")
	m.see("hello\r\n")
	if n := strings.Count(m.out.String(), line); n != 1 {
		t.Errorf("another run is marked %d times, want once: %q", n, m.out.String())
	}
}
