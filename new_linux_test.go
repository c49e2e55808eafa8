package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"holdfast/session"
	"holdfast/store"
)

// id returns the id that a command printed, alone in a line.
func (s said) id(t *testing.T) string {
	t.Helper()
	id, ok := strings.CutSuffix(s.Stdout, "\n")
	if s.Status != 0 || s.Stderr != "" || !ok || !store.ValidID(id) {
		t.Fatalf("got %+v, want an id", s)
	}
	return id
}

// A script makes a session, uses it, starts it again and copies it.
func TestNewStartAndFork(t *testing.T) {
	dir := shortStore(t)
	startServerProcess(t, "", dir)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	id := hold(t, dir, "", "new", "--name", "it", "--", "sh", "-c", `echo "$PWD"; while read x; do echo "got $x"; done`).id(t)
	v := shown(t, dir, "it")
	if v.ID != id || !v.Live || v.Bound || v.Cwd != here {
		t.Fatalf("the session is %+v, want it live, unbound and in %s", v, here)
	}
	for _, text := range []string{"one", "two"} {
		hold(t, dir, "", "send", "it", "--enter", text)
		if got := hold(t, dir, "", "wait", "it", "--from", "0", "--match", "got "+text); got.Status != 0 {
			t.Fatalf("wait: %+v", got)
		}
	}
	if got := hold(t, dir, "", "start", "it"); got.Status != 1 || got.Stderr != "holdfast: session \"it\" is live already; holdfast attach it joins it\n" {
		t.Errorf("start of a live session = %+v", got)
	}
	hold(t, dir, "", "stop", "it")
	if got := hold(t, dir, "", "attach", "it"); got.Stderr != "holdfast: session \"it\" is not live: no program runs in it; holdfast start it starts it again\n" {
		t.Errorf("attach to a stopped session = %+v", got)
	}
	if got := hold(t, dir, "", "attach"); got.Stderr != "holdfast: no session is live; holdfast new starts one on the server, holdfast run one in this terminal\n" {
		t.Errorf("attach without a live session = %+v", got)
	}
	if got := hold(t, dir, "", "start", "it"); got.Stdout != id+" it is running\n" || got.Status != 0 {
		t.Errorf("start = %+v", got)
	}

	fork := hold(t, dir, "", "fork", "it", "--turn", "2", "--name", "again").id(t)
	v = shown(t, dir, "again")
	if v.ID != fork || !v.Live || v.Bound || v.Parent != id || v.Turns != 1 {
		t.Errorf("the fork is %+v, want it live, unbound and with one turn", v)
	}
	hold(t, dir, "", "wait", "again", "--from", "0", "--match", "(?s)one.*"+here)
	if text := hold(t, dir, "", "export", "again", "--text").Stdout; !strings.Contains(text, "got one\n") || strings.Contains(text, "two") {
		t.Errorf("the fork has %q", text)
	}
	for _, args := range [][]string{{"new", "--json", "--cwd", dir, "--", "true"}, {"start", "it", "--json"}, {"fork", "it", "--json"}} {
		hold(t, dir, "", "stop", "it")
		var v session.View
		got := hold(t, dir, "", args...)
		if err := json.Unmarshal([]byte(got.Stdout), &v); err != nil || !store.ValidID(v.ID) || got.Status != 0 {
			t.Errorf("holdfast %q = %+v, %v", args, got, err)
		}
		if args[0] == "new" && v.Cwd != dir {
			t.Errorf("new --cwd %s runs in %s", dir, v.Cwd)
		}
	}
}

// A stop of a session whose server died ends nothing, but it is not without
// effect, and says so.
func TestStopOfAnInterruptedSession(t *testing.T) {
	dir := shortStore(t)
	p := startServerProcess(t, "", dir)
	id := hold(t, dir, "", "new", "--name", "it", "--", "sh").id(t)
	p.kill()
	if v := shown(t, dir, "it"); v.State != "interrupted" || !v.AutoResume {
		t.Fatalf("after the server's death: %+v, want it interrupted and to be started again", v)
	}
	want := said{0, id + " it is interrupted, and is not started again with the server\n", ""}
	if got := hold(t, dir, "", "stop", "it"); got != want {
		t.Errorf("stop = %+v, want %+v", got, want)
	}
	if v := shown(t, dir, "it"); v.State != "interrupted" || v.AutoResume {
		t.Errorf("after the stop: %+v, want it interrupted and left alone", v)
	}
}

// A program is run instead of the profile's; the profile stays that of the
// session.
func TestAProgramOfAProfile(t *testing.T) {
	dir := shortStore(t)
	if got := hold(t, dir, "", "run", "--name", "it", "--profile", "claude", "--", "echo", "hello"); got.Status != 0 || got.Stdout != "hello\r\n" {
		t.Errorf("run = %+v", got)
	}
	if v := shown(t, dir, "it"); v.Profile != "claude" || v.Argv[0] != "echo" {
		t.Errorf("the session is of %q and runs %q", v.Profile, v.Argv)
	}
}

func TestWhatCannotBeMade(t *testing.T) {
	dir := shortStore(t)
	startServerProcess(t, "", dir)
	it := hold(t, dir, "", "new", "--name", "it", "--", "cat").id(t)
	for _, tt := range []struct{ args, want string }{
		{"new --cwd none", `cwd "` + filepath.Join(mustGetwd(t), "none") + `": no such folder`},
		{"new --profile none", `profile "none": no such profile; there are claude, codex, gemini, opencode, shell, and profiles.json in the store adds more`},
		{"new --profile claud", `there is no profile "claud"; did you mean "claude"?`},
		{"run --profile claud", `there is no profile "claud"; did you mean "claude"?`},
		{"new -- no-such-program", `program "no-such-program": no such program`},
		{"run -- no-such-program", `program "no-such-program": no such program`},
		{"serve --listen 127.0.0.1:0 --store " + t.TempDir() + " -- no-such-program", `program "no-such-program": no such program`},
		{"start itt", `there is no session "itt"; did you mean "it"?`},
		{"run --resume itt", `there is no session "itt"; did you mean "it"?`},
		{"start none", `there is no session "none"; holdfast ls lists them`},
		{"fork none", `there is no session "none"; holdfast ls lists them`},
		{"fork it --turn 1", `turn "1": no such turn; the log has none; holdfast show it --turns lists what was entered`},
		{"fork " + it[:8] + " --turn -1", `turn "-1": no such turn; the log has none; holdfast show ` + it[:8] + ` --turns lists what was entered`},
	} {
		if got := hold(t, dir, "", strings.Fields(tt.args)...); got != (said{1, "", "holdfast: " + tt.want + "\n"}) {
			t.Errorf("holdfast %s = %+v, want %q", tt.args, got, tt.want)
		}
	}
}

func TestResumeOfWhatIsNotThere(t *testing.T) {
	dir, _ := namedSessions(t, "anything")
	for ref, hint := range map[string]string{"nowhere": "holdfast ls lists them", "anythign": `did you mean "anything"?`} {
		_, err := runServe(t, dir, "--resume", ref)
		if want := fmt.Sprintf("there is no session %q; %s", ref, hint); err == nil || err.Error() != want {
			t.Errorf("error = %v, want %q", err, want)
		}
	}
}

// What JSON cannot hold is refused, not changed into something else.
func TestTextThatIsNotUTF8(t *testing.T) {
	dir, at := shortStore(t), t.TempDir()
	startServerProcess(t, "", dir)
	it := hold(t, dir, "", "new", "--", "cat").id(t)
	bad := filepath.Join(at, "b\xff")
	if err := os.Mkdir(bad, 0o700); err != nil {
		t.Fatal(err)
	}
	const no = ": not UTF-8, and a session can have no other text; "
	argv := `argv "a\xff"` + no + "let the program read it from a file, or a shell make it with printf"
	name := `name "a\xff"` + no + "give it in UTF-8"
	cwd := `cwd "` + at + `/b\xff"` + no + "rename the folder, or use a symbolic link to it that has another name"
	for _, tt := range []struct {
		in, want string
		args     []string
	}{
		{at, argv, []string{"new", "--", "echo", "a\xff"}},
		{at, argv, []string{"run", "--", "echo", "a\xff"}},
		{at, name, []string{"new", "--name", "a\xff"}},
		{at, name, []string{"run", "--name", "a\xff"}},
		{at, name, []string{"fork", it, "--name", "a\xff"}},
		{at, cwd, []string{"new", "--cwd", bad}},
		{bad, cwd, []string{"new", "--", "pwd"}},
		{bad, cwd, []string{"run", "--", "pwd"}},
	} {
		if got := holdIn(t, tt.in, dir, "", tt.args...); got != (said{1, "", "holdfast: " + tt.want + "\n"}) {
			t.Errorf("holdfast %q in %q = %+v, want %s", tt.args, tt.in, got, tt.want)
		}
	}
	link := filepath.Join(at, "link")
	if err := os.Symlink(bad, link); err != nil {
		t.Fatal(err)
	}
	if got := holdIn(t, at, dir, "", "new", "--cwd", link, "--", "cat"); got.Status != 0 {
		t.Errorf("new in a link to it = %+v", got)
	}
}

// holdIn is hold in a folder.
func holdIn(t *testing.T, folder, dir, stdin string, args ...string) said {
	t.Helper()
	return holdBy(t, "sh", dir, stdin, append([]string{"-c", `cd "$0" && exec "$@"`, folder, buildHoldfast(t)}, args...)...)
}

// A folder that was removed is no obstacle to what does not need it.
func TestInAFolderThatIsGone(t *testing.T) {
	dir, at := shortStore(t), t.TempDir()
	startServerProcess(t, "", dir)
	gone := func(stdin string, args ...string) said {
		script := `mkdir "$0" && cd "$0" && rmdir "$0" && exec "$@"`
		return holdBy(t, "sh", dir, stdin, append([]string{"-c", script, filepath.Join(at, "gone"), buildHoldfast(t)}, args...)...)
	}
	id := gone("", "new", "--cwd", at, "--", "sh", "-c", "stty -echo; read x; echo got $x").id(t)
	if got := gone("it\n", "attach", id); got.Status != 0 || got.Stdout != "got it\r\n" {
		t.Errorf("attach = %+v", got)
	}
	if got := gone("", "run", "--resume", id, "--copy", "--", "echo", "copied"); got.Status != 0 || !strings.HasSuffix(got.Stdout, "copied\r\n") {
		t.Errorf("run --resume = %+v", got)
	}
	const lost = "the current folder cannot be found: no such file or directory; go to another one"
	for _, args := range [][]string{{"new"}, {"new", "--cwd", "x"}, {"run", "--continue"}} {
		if got := gone("", args...); got != (said{1, "", "holdfast: " + lost + "\n"}) {
			t.Errorf("%q = %+v", args, got)
		}
	}
	if got := gone("", "run", "--", "true"); got != (said{1, "", `holdfast: cwd ".": ` + lost + ", or name one\n"}) {
		t.Errorf("run = %+v", got)
	}
}

// A wait has an end of its own, also where the server does not keep to it.
func TestWaitForAFrozenServer(t *testing.T) {
	dir := shortStore(t)
	p := startServerProcess(t, "", dir)
	it := hold(t, dir, "", "new", "--", "cat").id(t)
	p.Process.Signal(syscall.SIGSTOP)
	defer p.Process.Signal(syscall.SIGCONT)
	const want = "the store's server does not answer: nothing came of it in 5.01s; it may be stopped, or its disk slow: " +
		"try again, or start it anew with holdfast serve"
	const told = "holdfast: the store's server does not answer; waiting for it; Ctrl-C leaves\n"
	if got := hold(t, dir, "", "wait", it, "--timeout", "10ms"); got != (said{1, "", told + "holdfast: " + want + "\n"}) {
		t.Errorf("wait = %+v, want %s", got, want)
	}
}

func mustGetwd(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// Without a server there is nobody to hold a program. A fork is a copy then,
// which goes on wherever it is resumed.
func TestNewStartAndForkWithoutAServer(t *testing.T) {
	dir := shortStore(t)
	hold(t, dir, "one\ntwo\n", "run", "--name", "it", "--", "sh", "-c", "stty -echo; while read x; do echo got $x; done")
	const none = "holdfast: no server on this host has the store, and a program needs one to stay; holdfast serve starts one, or holdfast run "
	if got := hold(t, dir, "", "new", "--", "cat"); got != (said{1, "", none + "runs a program in this terminal\n"}) {
		t.Errorf("new = %+v", got)
	}
	if got := hold(t, dir, "", "start", "it"); got != (said{1, "", none + "--resume goes on in this terminal\n"}) {
		t.Errorf("start = %+v", got)
	}
	const unserved = "holdfast: session \"it\" is not live, and no server on this host has the store; " +
		"start holdfast serve, then holdfast start it, or go on in this terminal with holdfast run --resume it\n"
	for _, command := range []string{"send", "attach"} {
		if got := hold(t, dir, "x", command, "it"); got != (said{1, "", unserved}) {
			t.Errorf("%s = %+v, want %q", command, got, unserved)
		}
	}
	id := hold(t, dir, "", "fork", "it", "--name", "again").id(t)
	if v := shown(t, dir, "again"); v.ID != id || v.State != "stopped" || v.Runs != 0 || v.Holder != nil || v.Parent != shown(t, dir, "it").ID {
		t.Errorf("the copy is %+v", v)
	}
	if got := hold(t, dir, "three\n", "run", "--resume", "again"); got.Status != 0 || !strings.Contains(got.Stdout, "got three") {
		t.Errorf("run --resume of the copy = %+v", got)
	}
	copied := hold(t, dir, "", "fork", "it").id(t)
	if v := shown(t, dir, copied); v.Name != "it (copy)" {
		t.Errorf("a copy without --name is called %q", v.Name)
	}
	startServerProcess(t, "", dir)
	if v := shown(t, dir, hold(t, dir, "", "fork", "again").id(t)); v.Name != "again (copy)" {
		t.Errorf("a copy by the server without --name is called %q", v.Name)
	}
	if got := hold(t, dir, "", "start", copied); got.Status != 0 || !shown(t, dir, copied).Live {
		t.Errorf("start of a copy = %+v", got)
	}
}
