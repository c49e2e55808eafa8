//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"holdfast/session"
	"holdfast/store"

	"github.com/google/go-cmp/cmp"
)

// A said is what a command left behind.
type said struct {
	Status         int
	Stdout, Stderr string
}

// hold runs a command in a process of its own.
func hold(t *testing.T, dir, stdin string, args ...string) said {
	t.Helper()
	return holdBy(t, buildHoldfast(t), dir, stdin, args...)
}

func shown(t *testing.T, dir, ref string) (v session.View) {
	t.Helper()
	got := hold(t, dir, "", "show", "--json", ref)
	if err := json.Unmarshal([]byte(got.Stdout), &v); err != nil {
		t.Fatalf("show %s = %+v: %v", ref, got, err)
	}
	return v
}

// holdBy is hold with another program, which runs it elsewhere.
func holdBy(t *testing.T, exe, dir, stdin string, args ...string) said {
	t.Helper()
	c := exec.CommandContext(t.Context(), exe, args...)
	c.Env = append(os.Environ(), "HOLDFAST_STORE="+dir)
	c.Stdin = strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); c.ProcessState == nil {
		t.Fatalf("holdfast %q: %v", args, err)
	}
	return said{c.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// shortStore is a folder whose path is short enough for a socket in it.
func shortStore(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "hf")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// passing is what differs from one moment to the next.
var passing = regexp.MustCompile(`\b(now|\d+[smhd] ago)`)

func timeless(s said) said {
	s.Stdout = strings.Join(strings.Fields(passing.ReplaceAllString(s.Stdout, "AGO")), " ")
	return s
}

func create(ts *testServer, name, script string) session.View {
	ts.t.Helper()
	body, err := json.Marshal(map[string]any{"name": name, "argv": []string{"sh", "-c", script}})
	if err != nil {
		ts.t.Fatal(err)
	}
	return must[session.View](ts, ts.do("POST", "/sessions", string(body)), 201)
}

func (p *serverProcess) endOrderly() {
	p.Process.Signal(syscall.SIGTERM)
	p.wait()
}

// startMany serves a store with sessions that have ended, one of them called
// demo, and a damaged one.
func startMany(t *testing.T, dir string) (p *serverProcess, demo, damaged string) {
	t.Helper()
	p = startServerProcess(t, "", dir)
	ts := p.client(t)
	for _, name := range []string{"..", "a/b", "per%cent ?#", "twin", "twin"} {
		ts.output(create(ts, name, "printf gone").ID)
	}
	demo = create(ts, "demo", `printf '\033[1mh\303\251llo\033[0m\r\n\377'; exit 3`).ID
	ts.output(demo)
	damaged = store.NewID()
	damage(t, dir, damaged, "{")
	return p, demo, damaged
}

func TestCommandsDoTheSameWithAndWithoutAServer(t *testing.T) {
	dir := shortStore(t)
	p, id, damaged := startMany(t, dir)
	tests := []struct {
		args   []string
		status int
		stderr string
	}{
		{args: []string{"ls"}},
		{args: []string{"ls", "--json"}},
		{args: []string{"ls", "--state", "ended", "--json", "twin"}},
		{args: []string{"ls", "--state", "unreadable"}},
		{args: []string{"ls", "nothing like it"}},
		{args: []string{"show", strings.ToUpper(id)}},
		{args: []string{"show", "--json", id[:8]}},
		{args: []string{"show", "--json", strings.ToUpper(id[:8])}},
		{args: []string{"show", "..", "--json"}},
		{args: []string{"show", "a/b", "--json"}},
		{args: []string{"show", "per%cent ?#", "--json"}},
		{args: []string{"show", damaged}},
		{[]string{"show", "none"}, 1, "holdfast: there is no session \"none\"; holdfast ls lists them\n"},
		{[]string{"show", "dmeo"}, 1, "holdfast: there is no session \"dmeo\"; did you mean \"demo\"?\n"},
		{[]string{"show", "0Badc0d"}, 1, "holdfast: there is no session \"0Badc0d\"; the beginning of an id counts from 8 characters on; holdfast ls lists them\n"},
		{[]string{"show", store.NewID()}, 1, "holdfast: there is no session"},
		{[]string{"show", "twin"}, 1, "holdfast: \"twin\" fits 2 sessions: "},
		{args: []string{"wait", "demo"}},
		{args: []string{"wait", "--from", "0", "demo", "--for", "exit,idle"}},
		{args: []string{"wait", "--from", "-14", "demo", "--match", "l+", "--json"}},
		{args: []string{"wait", "demo", "--for", "quiet", "--quiet", "1ms", "--json"}},
		{[]string{"wait", "demo", "--match", "x", "--from", "0"}, 1, "holdfast: the session has no program any more, and its output from 0 on does not match \"x\"\n"},
		{[]string{"wait", "demo", "--match", "x", "--from", "now"}, 1, "does not match \"x\"; --from -N looks at output from before\n"},
		{[]string{"wait", "demo", "--for", "match", "--match", "x", "--timeout", "10ms"}, 1, "holdfast: nothing came within 10ms of what was waited for: a match of \"x\"; give a longer --timeout, or --from to look at output from before too\n"},
		{[]string{"wait", "demo", "--for", "match", "--match", "a,match", "--timeout", "0", "--from", "0"}, 1, "nothing came within 0s of what was waited for: a match of \"a,match\"; give a longer --timeout\n"},
		{[]string{"wait", "demo", "--from", "999"}, 1, "holdfast: --from 999 is past the end of the output"},
		{[]string{"wait", "demo", "--from", "99999999999999999999"}, 1, "holdfast: --from 99999999999999999999 is past the end of the output"},
		{[]string{"stop", damaged}, 1, "is unreadable; holdfast show has the reason"},
		{args: []string{"stop", "demo"}},
		{args: []string{"stop", "demo", "--json"}},
		{args: []string{"export", "demo", "--raw"}},
		{args: []string{"export", "demo", "--raw", "-o", "-"}},
		{args: []string{"export", "--text", "demo"}},
		{args: []string{"export", "demo", "--cast"}},
		{[]string{"export", "none", "--cast"}, 1, "holdfast: there is no session \"none\""},
		{[]string{"rm", "demo", "none"}, 1, "holdfast: there is no session \"none\""},
	}
	served := make([]said, len(tests))
	for i, tt := range tests {
		served[i] = timeless(hold(t, dir, "", tt.args...))
		if served[i].Status != tt.status || !strings.Contains(served[i].Stderr, tt.stderr) || tt.status == 0 && served[i].Stderr != "" {
			t.Errorf("holdfast %q = %+v, want status %d and %q", tt.args, served[i], tt.status, tt.stderr)
		}
	}
	p.endOrderly()
	for i, tt := range tests {
		if diff := cmp.Diff(served[i], timeless(hold(t, dir, "", tt.args...))); diff != "" {
			t.Errorf("holdfast %q (-with a server +without):\n%s", tt.args, diff)
		}
	}
}

func TestListsExportsAndRemovals(t *testing.T) {
	dir := shortStore(t)
	p, id, damaged := startMany(t, dir)
	p.endOrderly()
	for args, want := range map[string]int{"": 7, "twin": 2, "DEMO": 1, "--state=ended": 6, "--state=unreadable": 1, "--state=ended twin": 2, "--state=running": 0, "--state=live": 0, "nothing": 0} {
		var list sessionList
		got := hold(t, dir, "", append([]string{"ls", "--json"}, strings.Fields(args)...)...)
		if err := json.Unmarshal([]byte(got.Stdout), &list); err != nil || list.Sessions == nil || len(list.Sessions) != want {
			t.Errorf("ls %s lists %d sessions, %v; want %d", args, len(list.Sessions), err, want)
		}
	}
	if got, want := hold(t, dir, "", "export", "demo", "--raw").Stdout, "\x1b[1mhéllo\x1b[0m\r\r\n\xff"; got != want {
		t.Errorf("raw export = %q, want %q", got, want)
	}
	if got, want := hold(t, dir, "", "export", "demo", "--raw", "-o", "-").Stdout, "\x1b[1mhéllo\x1b[0m\r\r\n\xff"; got != want {
		t.Errorf("raw export to - = %q, want %q", got, want)
	}
	if got, want := hold(t, dir, "", "export", "demo", "--text").Stdout, "héllo\n\uFFFD"; got != want {
		t.Errorf("text export = %q, want %q", got, want)
	}
	if got := hold(t, dir, "", "rm", "demo", id, "--json"); got.Status != 0 || got.Stdout != fmt.Sprintf("{\"removed\":[%q]}\n", id) {
		t.Errorf("rm of one session by two words = %+v", got)
	}
	if got := hold(t, dir, "", "rm", "..", "a/b", damaged); got.Status != 0 || strings.Count(got.Stdout, "is removed\n") != 3 {
		t.Errorf("rm of three sessions = %+v", got)
	}
}

func TestCommandsOnALiveSession(t *testing.T) {
	dir := shortStore(t)
	ts := startServerProcess(t, "", dir).client(t)
	v := create(ts, "echo", "stty -echo; echo ready; cat")
	call := func(stdin string, args ...string) said {
		t.Helper()
		got := hold(t, dir, stdin, args...)
		if got.Status != 0 || got.Stderr != "" {
			t.Fatalf("holdfast %q = %+v", args, got)
		}
		return got
	}
	call("", "wait", "echo", "--from", "0", "--match", "ready")
	call("", "send", "echo", "--enter", "--", "two", "-words")
	if got := call("", "wait", "echo", "--from", "0", "--match", "words\r\n").Stdout; got != "ready\r\ntwo -words\r\n" {
		t.Errorf("output after send = %q", got)
	}
	if got := call("from stdin", "send", "--enter", "echo", "--json").Stdout; !strings.HasPrefix(got, `{"written":11,"cursor":`) {
		t.Errorf("send of standard input = %q", got)
	}
	call("", "wait", "echo", "--from", "0", "--match", "stdin\r\n")
	if got := hold(t, dir, "", "send", "echo"); got.Status != 1 || !strings.Contains(got.Stderr, "standard input is empty") {
		t.Errorf("send of nothing = %+v", got)
	}
	if got := hold(t, dir, "", "wait", "echo", "--match", "never", "--timeout", "10ms"); got.Status != 1 {
		t.Errorf("wait for what does not come = %+v", got)
	}
	if got := call("", "stop", "echo").Stdout; got != v.ID+" echo is stopped\n" {
		t.Errorf("stop prints %q", got)
	}
	v = create(ts, "second", "cat")
	call("", "rm", "second")
	if got := hold(t, dir, "", "show", v.ID); got.Status != 1 {
		t.Errorf("show of a removed session = %+v", got)
	}
}

// damage makes the row of a session, which may be a new one, something else.
func damage(t *testing.T, dir, id, row string) {
	t.Helper()
	folder := filepath.Join(dir, "sessions", id)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "session.json"), []byte(row), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAPrefixOfSeveralIDsListsThem(t *testing.T) {
	dir := shortStore(t)
	ids := []string{"11111111-0000-4000-8000-000000000001", "11111111-0000-4000-8000-000000000002"}
	for _, id := range ids {
		damage(t, dir, id, "{")
	}
	want := fmt.Sprintf("holdfast: \"11111111\" fits 2 sessions: %s (unreadable), %s (unreadable); give the id of one\n", ids[0], ids[1])
	ask := func() {
		t.Helper()
		for _, args := range [][]string{
			{"show", "11111111"}, {"send", "11111111", "x"}, {"wait", "11111111"}, {"stop", "11111111"}, {"rm", "11111111"}, {"export", "--raw", "11111111"},
		} {
			if got := hold(t, dir, "", args...); got != (said{1, "", want}) {
				t.Errorf("holdfast %q = %+v, want %q", args, got, want)
			}
		}
	}
	ask()
	p := startServerProcess(t, "", dir)
	ask()
	p.endOrderly()
	if got := hold(t, dir, "", "show", "1111111"); got.Status != 1 || got.Stderr != "holdfast: there is no session \"1111111\"; the beginning of an id counts from 8 characters on; holdfast ls lists them\n" {
		t.Errorf("show of too short a prefix = %+v", got)
	}
}

// What a newer version wrote is shown with the reason, and left alone.
func TestASessionOfANewerVersion(t *testing.T) {
	dir := shortStore(t)
	const id = "22222222-0000-4000-8000-000000000003"
	row := fmt.Sprintf(`{"version":99,"id":%q}`, id)
	damage(t, dir, id, row)
	const refused = "is unreadable; holdfast show has the reason"
	for _, tt := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"ls", "--state", "unreadable"}, 0, id},
		{[]string{"show", id}, 0, "written by a newer holdfast (version 99)"},
		{[]string{"stop", id}, 1, refused},
		{[]string{"wait", id}, 1, refused},
		{[]string{"attach", id}, 1, refused},
		{[]string{"send", id, "x"}, 1, refused},
		{[]string{"export", id, "--cast"}, 1, refused},
		{[]string{"export", id, "--raw"}, 1, "the output of the session cannot be read: no such file or directory"},
		{[]string{"serve", "--listen", "127.0.0.1:0", "--resume", id}, 1, refused},
		{[]string{"doctor"}, 1, "written by a newer holdfast (version 99) (left as it is)"},
	} {
		if got := hold(t, dir, "", tt.args...); got.Status != tt.status || !strings.Contains(got.Stdout+got.Stderr, tt.want) {
			t.Errorf("holdfast %q = %+v, want status %d and %q", tt.args, got, tt.status, tt.want)
		}
	}
	if b, err := os.ReadFile(filepath.Join(dir, "sessions", id, "session.json")); err != nil || string(b) != row {
		t.Errorf("session.json afterwards: %q, %v; want it as it was", b, err)
	}
}

// What arrives on standard input is typed while more is still to come.
func TestSendTypesAsItArrives(t *testing.T) {
	dir := shortStore(t)
	ts := startServerProcess(t, "", dir).client(t)
	v := create(ts, "echo", "stty -echo; echo ready; cat")
	ts.awaitOutput(v.ID, "ready\r\n")
	c := exec.CommandContext(t.Context(), buildHoldfast(t), "send", "echo", "--json")
	c.Env = append(os.Environ(), "HOLDFAST_STORE="+dir)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	stdin, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"one", "two", "three"} {
		fmt.Fprintln(stdin, line)
		if got := hold(t, dir, "", "wait", "echo", "--from", "0", "--match", line+"\r\n", "--timeout", patience.String()); got.Status != 0 {
			t.Fatalf("%q was not typed before the end of standard input: %+v", line, got)
		}
	}
	stdin.Close()
	if err := c.Wait(); err != nil || !strings.HasPrefix(stdout.String(), `{"written":14,`) {
		t.Errorf("send: %v, stdout %q, stderr %q", err, &stdout, &stderr)
	}
}

func TestRemovalOfManyShowsHowFarItIs(t *testing.T) {
	dir, ids := namedSessions(t, "one", "two", "three")
	tm := holdfastOnTerminal(t, dir, "rm", "--json", "one", "two", "three")
	const gone = "\r\x1b[K"
	tm.see("\rremoving 1 of 3\x1b[K" + gone + "\rremoving 2 of 3\x1b[K" + gone + "\rremoving 3 of 3\x1b[K" + gone + `{"removed":["` + ids["one"])
	dir, _ = namedSessions(t, "one")
	tm = holdfastOnTerminal(t, dir, "rm", "one")
	if tm.see("one is removed\r\n"); strings.Contains(tm.out.String(), "removing") {
		t.Errorf("removal of one session shows %q", tm.out)
	}
}

func TestCommandsLeaveAHeldSessionAlone(t *testing.T) {
	dir := shortStore(t)
	id := keepOne(t, dir, "mine")
	tests := [][]string{{"stop", "mine"}, {"rm", "mine"}, {"send", "mine", "x"}, {"show", "mine"}, {"show", "mine", "--json"}, {"ls"}, {"wait", "mine", "--quiet", "1ms", "--json"}}
	line := fmt.Sprintf("session is in use by pid %d on ", os.Getpid())
	todo := []string{"; close it there\n", "; close it there\n", "; type there, or watch it with holdfast attach mine\n"}
	alone := make([]said, len(tests))
	for i, args := range tests {
		alone[i] = timeless(hold(t, dir, "", args...))
		if i < 3 && (alone[i].Status != 1 || !(strings.HasPrefix(alone[i].Stderr, "holdfast: "+line) && strings.HasSuffix(alone[i].Stderr, todo[i]))) || i >= 3 && alone[i].Status != 0 {
			t.Errorf("holdfast %q = %+v, want %q", args, alone[i], line)
		}
	}
	ts := startServerProcess(t, "", dir).client(t)
	other := create(ts, "other", "exit")
	got := hold(t, dir, "", "rm", "mine", "other")
	if want := "holdfast: " + id + " mine: " + line; got.Status != 1 || got.Stdout != other.ID+" other is removed\n" || !strings.HasPrefix(got.Stderr, want) {
		t.Errorf("rm of a held session and another = %+v, want %q", got, want)
	}
	for i, args := range tests {
		if diff := cmp.Diff(timeless(hold(t, dir, "", args...)), alone[i]); diff != "" {
			t.Errorf("holdfast %q (-with a server +without):\n%s", args, diff)
		}
	}
	if now := shown(t, dir, id); now.State != "running" {
		t.Errorf("held session afterwards = %+v", now)
	}
}

func TestListOfIDsAndOfWhatIsLive(t *testing.T) {
	dir, ids := namedSessions(t, "past")
	on := keepOne(t, dir, "on")
	for args, want := range map[string]string{
		"--ids": on + "\n" + ids["past"] + "\n", "--ids --state live": on + "\n", "--ids past": ids["past"] + "\n", "--ids nothing": "",
	} {
		if got := hold(t, dir, "", append([]string{"ls"}, strings.Fields(args)...)...); got != (said{0, want, ""}) {
			t.Errorf("ls %s = %+v, want %q", args, got, want)
		}
	}
	tm := holdfastOnTerminal(t, dir, "ls", "--ids")
	tm.see(ids["past"])
}
