package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"holdfast/session"
)

// hasIt starts a process that holds a session called it, in a store that has
// it, and returns how to kill that process.
type hasIt func(t *testing.T, dir string) (pid int, kill func())

func runHasIt(t *testing.T, dir string) (int, func()) {
	m := holdfastOnTerminal(t, dir, "run", "--resume", "it")
	m.see("ready")
	return m.cmd.Process.Pid, func() { m.cmd.Process.Kill(); m.wait() }
}

func serveHasIt(t *testing.T, dir string) (int, func()) {
	p := startServerProcess(t, buildHoldfast(t), dir, "--resume", "it")
	return p.Process.Pid, p.kill
}

func acpHasIt(t *testing.T, dir string) (int, func()) {
	e := startEditor(t, dir)
	e.must("session/load", of(shown(t, dir, "it").ID))
	return e.cmd.Process.Pid, func() { e.cmd.Process.Kill(); e.drain() }
}

// reaches tries to get the session called it, and returns what was said.
func reaches(t *testing.T, second, dir string) said {
	t.Helper()
	switch second {
	case "run":
		return hold(t, dir, "", "run", "--resume", "it")
	case "serve":
		return hold(t, dir, "", "serve", "--listen", "127.0.0.1:0", "--resume", "it")
	}
	e := startEditor(t, dir)
	r := e.ask("session/load", of(shown(t, dir, "it").ID))
	e.leave()
	if r.err == nil || r.err.Code != -32010 {
		t.Fatalf("session/load = %s, %+v; want -32010", r.result, r.err)
	}
	return said{1, "", r.err.Message}
}

// Two processes never have one session, whichever they are: the second is told
// who has it before it starts anything, and the death of the first is all it
// takes.
func TestTwoProcessesContendForASession(t *testing.T) {
	holders := map[string]hasIt{"run": runHasIt, "serve": serveHasIt, "acp": acpHasIt}
	for first, has := range holders {
		for _, second := range []string{"run", "serve", "acp"} {
			if first == "serve" && second == "serve" {
				continue // the second server is refused as such
			}
			t.Run(first+" before "+second, func(t *testing.T) {
				t.Parallel()
				dir := shortStore(t)
				marks := t.TempDir() + "/runs"
				script := `echo run >>` + marks + `; printf ready; exec cat`
				if got := hold(t, dir, "", "run", "--name", "it", "--", "sh", "-c", script); got.Status != 0 {
					t.Fatalf("run = %+v", got)
				}
				pid, kill := has(t, dir)
				before := shown(t, dir, "it")
				got := reaches(t, second, dir)
				line := regexp.MustCompile(fmt.Sprintf(`session is in use by pid %d on \S+ since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d`, pid))
				if got.Status != 1 || got.Stdout != "" || !line.MatchString(got.Stderr) {
					t.Errorf("the second = %+v, want status 1 and %v", got, line)
				}
				if second == "run" && !strings.Contains(got.Stderr, "holdfast attach "+before.ID) {
					t.Errorf("the second says %q, without a way out", got.Stderr)
				}
				if b, err := os.ReadFile(marks); err != nil || strings.Count(string(b), "run") != 2 {
					t.Errorf("the program was started %q times, want 2: %v", b, err)
				}
				kill()
				if v := shown(t, dir, "it"); v.State != "interrupted" || v.Cause != "gateway_crash" {
					t.Errorf("after kill -9 = %+v, want interrupted by it", v)
				}
				if got := hold(t, dir, "", "run", "--resume", "it"); got.Status != 0 || !strings.HasPrefix(got.Stdout, "ready") {
					t.Errorf("run after kill -9 = %+v", got)
				}
			})
		}
	}
}

func TestTheSecondServerIsToldOfTheFirst(t *testing.T) {
	dir := shortStore(t)
	p := startServerProcess(t, "", dir)
	got := hold(t, dir, "", "serve", "--listen", "127.0.0.1:0")
	if want := fmt.Sprintf("holdfast: store is in use by pid %d on ", p.Process.Pid); got.Status != 1 || !strings.HasPrefix(got.Stderr, want) {
		t.Errorf("a second server = %+v, want %q", got, want)
	}
}

// A server shows what run has, live, and keeps its hands off it.
func TestAServerShowsWhatRunHas(t *testing.T) {
	dir := shortStore(t)
	ts := startServerProcess(t, "", dir).client(t)
	m := holdfastOnTerminal(t, dir, "run", "--name", "it", "--", "sh", "-c", "stty -echo; echo ready; exec cat")
	m.see("ready")
	v := must[session.View](ts, ts.do("GET", "/sessions/it", ""), 200)
	if v.State != "running" || v.Live || v.Holder == nil || v.Holder.PID != m.cmd.Process.Pid {
		t.Errorf("the server shows %+v", v)
	}
	for _, request := range [][2]string{{"input", "x"}, {"resize", `{"cols":10,"rows":10}`}, {"signal", `{"signal":"INT"}`}, {"stop", ""}, {"start", ""}} {
		wantProblem(t, ts.do("POST", "/sessions/it/"+request[0], request[1]), 409, "held")
	}
	watcher := holdfastOnTerminal(t, dir, "attach", "it")
	watcher.see("ready")
	watcher.press("not typed\r")
	watcher.see("only watches: session is in use by pid ")
	watcher.see("holdfast> ")
	watcher.press("\x1b")
	m.press("hello\r")
	m.see("hello\r\n")
	watcher.see("hello\r\n")
	if log := hold(t, dir, "", "export", "--raw", "it").Stdout; log != "ready\r\nhello\r\n" {
		t.Errorf("the log has %q", log)
	}
	m.cmd.Process.Kill()
	m.wait()
	if v := must[session.View](ts, ts.do("GET", "/sessions/it", ""), 200); v.State != "interrupted" || v.Cause != "gateway_crash" || v.Holder != nil {
		t.Errorf("after kill -9 the server shows %+v", v)
	}
	v = must[session.View](ts, ts.do("POST", "/sessions/it/start", ""), 200)
	if !v.Live {
		t.Errorf("started by the server: %+v", v)
	}
}

func TestRunOfACopy(t *testing.T) {
	dir := shortStore(t)
	m := holdfastOnTerminal(t, dir, "run", "--name", "it", "--", "sh", "-c", "stty -echo; echo ready; exec cat")
	m.see("ready")
	m.press("one\r")
	m.see("one\r\n")
	before := hold(t, dir, "", "export", "--raw", "it").Stdout
	got := hold(t, dir, "two\n", "run", "--resume", "it", "--copy")
	if got.Status != 0 || !strings.HasSuffix(got.Stdout, "two\r\n") || strings.Contains(got.Stdout, "one") {
		t.Errorf("run of a copy = %+v, want its own run alone", got)
	}
	if after := hold(t, dir, "", "export", "--raw", "it").Stdout; after != before {
		t.Errorf("the source has %q, had %q", after, before)
	}
	source, v := shown(t, dir, "it"), shown(t, dir, "it (copy)")
	if v.Parent != source.ID || v.State != "ended" || v.Turns != source.Turns+1 || strings.Join(v.Argv, " ") != strings.Join(source.Argv, " ") || v.Holder != nil {
		t.Errorf("the copy is %+v, of %+v", v, source)
	}
	if log := hold(t, dir, "", "export", "--raw", v.ID).Stdout; !strings.HasPrefix(log, before) {
		t.Errorf("the copy has %q, want it to begin with %q", log, before)
	}
	if got := hold(t, dir, "", "rm", v.ID); got.Status != 0 {
		t.Errorf("rm of the copy = %+v", got)
	}
}

func TestRunGoesOnWithTheNewestSessionHere(t *testing.T) {
	dir := shortStore(t)
	if got := hold(t, dir, "", "run", "--continue"); got.Status != 1 || got.Stderr != "holdfast: there is no session to go on with; holdfast run starts one\n" {
		t.Errorf("run --continue without sessions = %+v", got)
	}
	for _, name := range []string{"old", "new"} {
		if got := hold(t, dir, "", "run", "--name", name, "--", "echo", name); got.Status != 0 {
			t.Fatalf("run = %+v", got)
		}
	}
	if got := hold(t, dir, "", "run", "--continue"); got.Status != 0 || got.Stdout != "new\r\n" {
		t.Errorf("run --continue = %+v", got)
	}
	if got := hold(t, dir, "", "run", "--resume", "old"); got.Status != 0 || got.Stdout != "old\r\n" {
		t.Errorf("run --resume = %+v", got)
	}
	if got := hold(t, dir, "", "run", "--continue"); got.Stdout != "old\r\n" {
		t.Errorf("run --continue after that = %+v", got)
	}
	m := holdfastOnTerminal(t, dir, "run", "--name", "busy", "--", "sh", "-c", "stty -echo; echo ready; exec cat")
	m.see("ready")
	if got := hold(t, dir, "", "run", "--continue"); got.Stdout != "old\r\n" {
		t.Errorf("run --continue beside one that is held = %+v, want the newest that is free", got)
	}
	for _, name := range []string{"old", "new"} {
		hold(t, dir, "", "rm", name)
	}
	refusal := fmt.Sprintf("holdfast: busy: session is in use by pid %d ", m.cmd.Process.Pid)
	for _, args := range [][]string{{"run", "--continue"}, {"serve", "--listen", "127.0.0.1:0", "--continue"}} {
		if got := hold(t, dir, "", args...); got.Status != 1 || !strings.HasPrefix(got.Stderr, refusal) {
			t.Errorf("%q with nothing but one that is held = %+v", args, got)
		}
	}
	if got := hold(t, dir, "two\n", "run", "--continue", "--copy"); got.Status != 0 || !strings.HasSuffix(got.Stdout, "two\r\n") {
		t.Errorf("run --continue --copy of one that is held = %+v", got)
	}
}
