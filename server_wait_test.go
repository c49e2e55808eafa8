package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"holdfast/session"
)

// Two requests are what a script needs to have the output of a command.
func TestAScriptGetsTheOutputOfItsCommand(t *testing.T) {
	ts := startServer(t, nil)
	v := ts.bind("bash", "--norc", "-c", "stty -echo; echo ready; while read -r line; do eval \"$line\"; echo '==='; done")
	ts.awaitOutput(v.ID, "ready")
	receipt := must[session.Receipt](ts, ts.do("POST", "/input?enter=1", "seq 3"), http.StatusOK)
	path := "/sessions/" + v.ID + "/wait?match=%3D%3D%3D&for=match&from="
	got := must[session.WaitResult](ts, ts.do("GET", path+jsonOf(t, receipt.Cursor), ""), http.StatusOK)
	if want := "1\r\n2\r\n3\r\n==="; got.Output != want || got.Reason != "match" || got.From != receipt.Cursor {
		t.Errorf("wait = %+v, want %q from %d", got, want, receipt.Cursor)
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestWaitRefusesWhatMakesNoSense(t *testing.T) {
	ts := startServer(t, nil)
	v := ts.bind("cat")
	for query, detail := range map[string]string{
		"for=lunch":                  `for is "lunch"; it is a list of exit, idle, quiet and match`,
		"for=match":                  `for is "match"; give the regular expression (RE2) too, as match`,
		"for=match&match=%5B":        "match is \"[\"; it must be a regular expression (RE2): error parsing",
		"for=exit&match=x":           `match is "x"; what is waited for has no match in it: add match to that list (exit), or leave the list out`,
		"timeout=-1s":                `timeout is "-1s"`,
		"quiet=0s":                   `quiet is "0s"`,
		"timeout=2h":                 `timeout is "2h"`,
		"timeout=soon":               `timeout is "soon"`,
		"quiet=-1s":                  `quiet is "-1s"`,
		"from=x":                     `from is "x"`,
		"for=exit,quiet,idle,match,": "give the regular expression",
		"for=exit,":                  `for is "exit,"; it is a list`,
	} {
		p := wantProblem(t, ts.do("GET", "/sessions/"+v.ID+"/wait?"+query, ""), http.StatusBadRequest, "malformed-request")
		if !strings.Contains(p.Detail, detail) {
			t.Errorf("wait?%s: detail %q, want it to have %q", query, p.Detail, detail)
		}
	}
	wantProblem(t, ts.do("GET", "/sessions/"+v.ID+"/wait?from=1000", ""), http.StatusRequestedRangeNotSatisfiable, "no-such-range")
	wantProblem(t, ts.do("GET", "/sessions/nobody/wait", ""), http.StatusNotFound, "no-such-session")
	wantProblem(t, ts.do("GET", "/sessions/nobody/turns", ""), http.StatusNotFound, "no-such-session")
	wantProblem(t, ts.do("GET", "/sessions/nobody/recording", ""), http.StatusNotFound, "no-such-session")
	wantProblem(t, ts.do("GET", "/sessions/"+v.ID+"/recording?format=gif", ""), http.StatusBadRequest, "malformed-request")
}

// A wait without time is a look.
func TestAWaitWithoutTimeLooks(t *testing.T) {
	ts := startServer(t, nil)
	v := ts.bind("sh", "-c", "printf ready; exec cat")
	ts.awaitOutput(v.ID, "ready")
	path := "/sessions/" + v.ID + "/wait?timeout=0&from=0&for="
	for query, reason := range map[string]string{"exit": "timeout", "exit,match&match=ready": "match"} {
		got := must[session.WaitResult](ts, ts.do("GET", path+query, ""), http.StatusOK)
		if got.Output != "ready" || got.Reason != reason {
			t.Errorf("wait for %s = %+v, want %s and the output", query, got, reason)
		}
	}
}

// A client that goes away frees its wait.
func TestAWaitEndsWithItsClient(t *testing.T) {
	ts := startServer(t, nil)
	v := ts.bind("cat")
	ctx, cancel := context.WithCancel(t.Context())
	req := ts.request("GET", "/sessions/"+v.ID+"/wait?for=exit&timeout=1h", "").WithContext(ctx)
	gone := make(chan error, 1)
	go func() {
		resp, err := ts.unix.Do(req)
		if err == nil {
			resp.Body.Close()
		}
		gone <- err
	}()
	open := func() int { return must[status](ts, ts.do("GET", "/status", ""), http.StatusOK).Streams }
	waitFor(t, "the wait to begin", func() bool { return open() == 1 })
	cancel()
	if err := <-gone; err == nil {
		t.Error("the wait was answered")
	}
	waitFor(t, "the wait to end", func() bool { return open() == 0 })
}

// What Debian's asciinema plays is what the program printed.
func TestARecordingPlays(t *testing.T) {
	player, err := exec.LookPath("asciinema")
	if err != nil {
		t.Fatal("asciinema is missing; scripts/test installs it")
	}
	ts := startServer(t, nil)
	v := ts.bind("sh", "-c", `printf 'h\303\251llo \033[1mbold\033[0m\r\n'; sleep 0.3; printf '\360\237'; sleep 0.3; printf '\230\200 end\n'`)
	want := ts.output(v.ID)
	a := ts.do("GET", "/sessions/"+v.ID+"/recording?format=cast", "")
	if a.status != http.StatusOK {
		t.Fatalf("recording: %d %s", a.status, a.body)
	}
	file := filepath.Join(t.TempDir(), "demo.cast")
	if err := os.WriteFile(file, []byte(a.body), 0o600); err != nil {
		t.Fatal(err)
	}
	// It wants a terminal of its own; raw, so that what it writes stays as it is.
	t.Setenv("LC_ALL", "C.UTF-8")
	t.Setenv("ASCIINEMA_CONFIG_HOME", t.TempDir())
	played := ts.bind("sh", "-c", "stty raw; exec "+player+" cat "+file)
	if got := ts.output(played.ID); got != want {
		t.Errorf("asciinema cat = %q, want %q", got, want)
	}
}
