package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"holdfast/leasefs"
	"holdfast/session"
	"holdfast/session/process"
)

// wantFree checks that nobody holds a lease of a store with so many sessions,
// nor the server's.
func wantFree(t *testing.T, dir string, sessions int) {
	t.Helper()
	family, err := leasefs.Probe(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	locks, err := filepath.Glob(filepath.Join(dir, "locks", "*.lock"))
	if err != nil || len(locks) != sessions {
		t.Errorf("lock files %q, %v; want those of %d sessions", locks, err, sessions)
	}
	for _, lock := range append(locks, filepath.Join(dir, "server.lock")) {
		if busy, err := leasefs.Busy(lock, family); busy || err != nil {
			t.Errorf("%s is held: %v, %v; want it free", filepath.Base(lock), busy, err)
		}
	}
}

// The end of the server is no end of its sessions: with streams open it exits
// at once, and tells the store alone why its programs ended.
func TestSIGTERMInterruptsEverySession(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "store")
	p := startServerProcess(t, "", dir)
	c := p.client(t)
	bound := c.bind("bash", "-c", "echo ready; exec cat")
	loud := c.make("/sessions", "bash", "-c", "stty raw -echo; read -n 1; head -c 4000000 /dev/zero | tr '\\0' x; printf end; exec cat")
	stopped := c.make("/sessions", "bash", "--norc")
	c.awaitOutput(stopped.ID, "bash-") // its prompt
	c.do("POST", "/sessions/"+stopped.ID+"/stop", "")
	ended := c.make("/sessions", "true")
	c.output(ended.ID)
	// Readers that do not read: their streams are full when the server ends.
	c.open("GET", "/sessions/"+loud.ID+"/output?follow=1", "")
	c.open("GET", "/sessions/"+loud.ID+"/events?from=0", "")
	c.do("POST", "/sessions/"+loud.ID+"/input", "g")
	c.awaitOutput(loud.ID, "end")
	streams := []*testStream{
		c.events("/events?watch=1"), c.events("/sessions/" + loud.ID + "/events?from=-1"), c.events("/sessions/" + bound.ID + "/events"),
	}
	for _, s := range streams {
		s.await("live")
	}

	p.Process.Signal(unix.SIGTERM)
	for _, s := range streams {
		if kinds := s.rest(); slices.Contains(kinds, "end") {
			t.Error("a reader was told of an end that the server's own end made")
		}
	}
	if err := p.wait(); err != nil {
		t.Errorf("after SIGTERM: %v, want status 0\n%s", err, p.logs)
	}
	if strings.Contains(p.logs.String(), "requests cut short") {
		t.Error("the end of the server has waited for a reader")
	}
	if left := programsOf(dir); len(left) > 0 {
		t.Errorf("programs are left: %v", left)
	}
	wantFree(t, dir, 4)
	for id, want := range map[string]string{
		bound.ID: "interrupted gateway_shutdown", loud.ID: "interrupted gateway_shutdown", stopped.ID: "stopped <nil>", ended.ID: "ended <nil>",
	} {
		row := readRow(t, dir, id)
		if got := fmt.Sprintf("%v %v", row["state"], row["cause"]); got != want {
			t.Errorf("session.json says %q, want %q", got, want)
		}
	}

	c = startServerProcess(t, "", dir).client(t)
	if v := c.get(stopped.ID); v.State != "stopped" || !v.AutoResume {
		t.Errorf("the session that its user stopped is %s after the restart, want stopped", v.State)
	}
	if v := c.get(bound.ID); v.State != "interrupted" || !v.Bound {
		t.Errorf("the bound session is %s (bound %v) after the restart, want interrupted and bound", v.State, v.Bound)
	}
}

func rowPath(dir, id string) string { return filepath.Join(dir, "sessions", id, "session.json") }

// readRow returns session.json as it is on disk.
func readRow(t *testing.T, dir, id string) map[string]any {
	t.Helper()
	b, err := os.ReadFile(rowPath(dir, id))
	if err != nil {
		t.Fatal(err)
	}
	row := make(map[string]any)
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&row); err != nil {
		t.Fatal(err)
	}
	return row
}

// A reader keeps its last id over the death of the server. When the session is
// resumed it goes on: nothing is lost, nothing comes twice, and it is not told
// of an end.
func TestAReaderGoesOnOverTheDeathOfTheServer(t *testing.T) {
	t.Parallel()
	const deaths = 4
	dir := filepath.Join(t.TempDir(), "store")
	p := startServerProcess(t, "", dir)
	c := p.client(t)
	body := `{"argv":["bash","-c","for ((n = 0; n < 2000; n++)); do echo $$ line $n; done; exec sed -u 's/^/got /'"],"auto_resume":true}`
	v := must[session.View](c, c.do("POST", "/new", body), http.StatusCreated)
	var got []byte
	last := ""
	// read goes on for n output events, and on until the output has text.
	read := func(n int, text string) {
		t.Helper()
		s := c.events("/events?from=0", "Last-Event-ID", last)
		defer s.close()
		for begin := len(got); n > 0 || !bytes.Contains(got[begin:], []byte(text)); {
			e, err := s.next()
			if err != nil {
				t.Fatalf("after %d bytes: %v", len(got), err)
			}
			switch e.event {
			case "end", "gap":
				t.Fatalf("after %d bytes: %s %s", len(got), e.event, e.data)
			case "output", "bytes":
				got = append(got, e.bytes(t)...)
				last = e.id
				n--
			}
		}
	}
	enter := func(line string) {
		t.Helper()
		waitFor(t, "the session to be resumed", func() bool { return c.get(v.ID).Live })
		must[session.Receipt](c, c.do("POST", "/input?enter=1", line), http.StatusOK)
	}
	for i := range deaths {
		read(1, "")
		enter(fmt.Sprintf("typed %d", i))
		p.kill()
		p = startServerProcess(t, "", dir)
		c = p.client(t)
	}
	enter("the end")
	read(0, "got the end")
	want := c.do("GET", "/sessions/"+v.ID+"/output?to="+last[strings.Index(last, "/")+1:], "").body
	if !bytes.Equal(got, []byte(want)) {
		t.Errorf("%d bytes were read, first difference at %d; want the %d of the log", len(got), differ(got, []byte(want)), len(want))
	}
	if v := c.get(v.ID); v.Runs != deaths+1 || !v.Live {
		t.Errorf("%d runs, live %v; want %d, and live", v.Runs, v.Live, deaths+1)
	}
}

// deafProgram outlives its terminal, and does not obey either.
const deafProgram = "trap '' HUP TERM; echo deaf; exec sleep 600"

// killDeaf starts a program that ignores SIGHUP and SIGTERM, and kills its
// server. It returns the session and the pid.
func killDeaf(t *testing.T, dir string) (id string, pid int) {
	t.Helper()
	t.Cleanup(func() { killPrograms(dir) })
	p := startServerProcess(t, "", dir, "--no-auto-resume")
	c := p.client(t)
	v := c.bind("bash", "-c", deafProgram)
	c.awaitOutput(v.ID, "deaf")
	p.kill()
	return v.ID, v.PID
}

// What is left of a program whose server died is ended by whatever ends or
// replaces its run.
func TestLeftoversOfADeadRunAreEnded(t *testing.T) {
	for _, tt := range []struct{ method, path, state string }{
		{"POST", "/start", "running"},
		{"POST", "/stop", "interrupted"},
		{"DELETE", "", ""},
	} {
		t.Run(tt.method+tt.path, func(t *testing.T) {
			t.Parallel() // each waits for the grace
			dir := filepath.Join(t.TempDir(), "store")
			id, pid := killDeaf(t, dir)
			c := startServerProcess(t, "", dir, "--no-auto-resume").client(t)
			if v := c.get(id); v.State != "interrupted" || v.Cause != "gateway_crash" || v.Live {
				t.Errorf("after the restart: state %s, cause %s, live %v; want interrupted, gateway_crash, false", v.State, v.Cause, v.Live)
			}
			if !runs(pid) {
				t.Fatalf("pid %d has ended; what ignores its hangup should outlive its server", pid)
			}
			if a := c.do(tt.method, "/sessions/"+id+tt.path, ""); a.status >= 300 {
				t.Errorf("%s %s: %d %s", tt.method, tt.path, a.status, a.body)
			}
			if runs(pid) {
				t.Errorf("pid %d of the dead run outlives %s %s", pid, tt.method, tt.path)
			}
			if tt.state != "" {
				if v := c.get(id); v.State != tt.state {
					t.Errorf("after %s: %s, want %s", tt.path, v.State, tt.state)
				}
			}
		})
	}
}

// runs reports whether a process is there, and no zombie.
func runs(pid int) bool {
	cmdline, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && len(cmdline) > 0
}

// A pid alone says nothing: it may be somebody else's by now.
func TestARecycledPIDIsNeverTouched(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "store")
	id, pid := killDeaf(t, dir)
	dead := readRow(t, dir, id)
	if dead["boot"] != process.BootID() || fmt.Sprint(dead["pid"]) != fmt.Sprint(pid) {
		t.Fatalf("session.json has pid %v and boot %v, want %d and %s", dead["pid"], dead["boot"], pid, process.BootID())
	}
	start, err := dead["pid_start"].(json.Number).Int64()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		what  string
		start int64
		boot  any
		ended bool
	}{
		{"another start time", start + 1, dead["boot"], false},
		{"no start time", 0, dead["boot"], false},
		{"another boot", start, "another", false},
		{"no boot", start, "", false},
		{"all three right", start, dead["boot"], true},
	} {
		row := readRow(t, dir, id)
		row["state"], row["cause"], row["pid"], row["pid_start"], row["boot"] = "running", "", pid, tt.start, tt.boot
		b, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(rowPath(dir, id), b, 0o600); err != nil {
			t.Fatal(err)
		}
		p := startServerProcess(t, "", dir, "--no-auto-resume")
		c := p.client(t)
		v := must[session.View](c, c.do("POST", "/resume", `{"id":"`+id+`"}`), http.StatusOK)
		if !v.Live || v.PID == pid {
			t.Errorf("%s: live %v with pid %d, want a new run", tt.what, v.Live, v.PID)
		}
		if runs(pid) == tt.ended {
			t.Errorf("%s: the process with the recorded pid ended: %v, want %v", tt.what, !tt.ended, tt.ended)
		}
		p.kill()
		unix.Kill(v.PID, unix.SIGKILL)
	}
}

// What cannot be read is refused before the answer begins, by each route that
// needs what is damaged.
func TestNoAnswerOfADamagedSessionIsCutOff(t *testing.T) {
	dir := shortStore(t)
	p, demo, _ := startMany(t, dir)
	ts := p.client(t)
	damage(t, dir, demo, "{")
	path := "/sessions/" + demo
	for _, route := range []string{"/events", "/events?watch=1", "/output?follow=1", "/wait", "/recording"} {
		wantProblem(t, ts.do("GET", path+route, ""), http.StatusConflict, "unreadable")
	}
	for _, route := range []string{"", "/output", "/turns"} {
		if a := ts.do("GET", path+route, ""); a.status != http.StatusOK {
			t.Errorf("GET %s: %d %s, want what is there", route, a.status, a.body)
		}
	}
}
