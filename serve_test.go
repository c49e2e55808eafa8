package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"holdfast/cli"
)

// A running is a serve command in this process.
type running struct {
	t      *testing.T
	url    string
	token  string
	store  string
	logs   *lockedBuffer
	end    context.CancelFunc // what a signal does
	result chan error
}

var announcement = regexp.MustCompile(`^listening on (https?://[^/]+)/#token=(\S+)\n$`)

// runServe runs serve until the test ends. It returns the error of one that
// does not get to listen.
func runServe(t *testing.T, store string, args ...string) (*running, error) {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	r := &running{t: t, store: store, logs: new(lockedBuffer), end: end, result: make(chan error, 1)}
	lines, stdout := io.Pipe()
	args = append([]string{"serve", "--store", store, "--listen", "127.0.0.1:0", "--log-level", "debug"}, args...)
	go func() {
		err := run(ctx, args, stdout, r.logs)
		stdout.Close()
		r.result <- err
	}()
	line, err := bufio.NewReader(lines).ReadString('\n')
	if err != nil {
		end()
		return nil, <-r.result
	}
	m := announcement.FindStringSubmatch(line)
	if m == nil {
		end()
		<-r.result
		t.Fatalf("serve prints %q", line)
	}
	r.url, r.token = m[1], m[2]
	t.Cleanup(func() { r.stop() })
	return r, nil
}

func mustServe(t *testing.T, store string, args ...string) *running {
	t.Helper()
	r, err := runServe(t, store, args...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// stop does what a signal does, and waits.
func (r *running) stop() {
	r.t.Helper()
	r.end()
	if err, ok := <-r.result; ok {
		close(r.result)
		if err != nil {
			r.t.Errorf("serve: %v\n%s", err, r.logs)
		}
	}
}

// get fetches JSON from the loopback port with the token.
func (r *running) get(path string, v any) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), "GET", r.url+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+r.token)
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := c.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(v); err != nil || resp.StatusCode != http.StatusOK {
		r.t.Fatalf("GET %s: %d, %v", path, resp.StatusCode, err)
	}
}

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode()
}

func TestServeStartsAndEndsInOrder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	r := mustServe(t, dir, "--", "bash", "-c", "printf hello; exec cat")
	var list sessionList
	r.get("/sessions", &list)
	if len(list.Sessions) != 1 || !list.Sessions[0].Bound || list.Sessions[0].State != "running" {
		t.Errorf("sessions = %+v, want the one of the command line, bound", list.Sessions)
	}
	for name, want := range map[string]fs.FileMode{
		".": fs.ModeDir | 0o700, "token": 0o600, "server.json": 0o600, "server.lock": 0o600, "sock": fs.ModeSocket | 0o600,
	} {
		if got := mode(t, filepath.Join(dir, name)); got != want {
			t.Errorf("mode of %s = %v, want %v", name, got, want)
		}
	}
	f, err := cli.ReadServerFile(dir)
	if want := (cli.ServerFile{PID: os.Getpid(), Address: r.url, Socket: filepath.Join(dir, "sock")}); err != nil || f != want {
		t.Errorf("server.json = %+v, %v; want %+v", f, err, want)
	}
	resp, err := unixClient(t, f.Socket).Get("http://any/events")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	stream := &testStream{newEventReader(resp.Body), t, resp}
	stream.await("live")

	r.stop()
	for _, kind := range stream.rest() {
		if kind == "end" {
			t.Error("a reader was told of an end that the server's own end made")
		}
	}
	for _, name := range []string{"server.json", "sock"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is left", name)
		}
	}
	again := mustServe(t, dir)
	if again.token != r.token {
		t.Error("the token changed")
	}
	again.get("/sessions", &list)
	if v := list.Sessions[0]; v.State != "interrupted" || v.Cause != "gateway_shutdown" || !v.Bound {
		t.Errorf("after the end: state %q, cause %q, bound %v; want interrupted by gateway_shutdown, and bound", v.State, v.Cause, v.Bound)
	}
	again.stop()

	resumed := mustServe(t, dir, "--resume", list.Sessions[0].ID)
	resumed.get("/sessions", &list)
	if v := list.Sessions[0]; v.State != "running" || !v.Live || v.Runs != 2 {
		t.Errorf("after --resume: %+v, want it live in its second run", v)
	}
	if logs := r.logs.String(); strings.Contains(logs, r.token) || strings.Contains(logs, "hello") {
		t.Errorf("the log has the token or output:\n%s", logs)
	}
}

func TestOneServerAStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	r := mustServe(t, dir)
	_, err := runServe(t, dir)
	if err == nil {
		t.Fatal("a second server was started")
	}
	want := "store is in use by this process; use the server at " + r.url + ", or another --store"
	if err.Error() != want || report(io.Discard, err) != 1 {
		t.Errorf("second server: status %d, %q; want 1, %q", report(io.Discard, err), err, want)
	}
	var s status
	r.get("/status", &s) // the first is not disturbed
	if s.PID != os.Getpid() || s.Address != r.url {
		t.Errorf("status = %+v, want pid %d at %s", s, os.Getpid(), r.url)
	}
}

// Another process names the pid, the host and since when; and one that was
// killed leaves nothing in the way.
func TestAServerOfAnotherProcess(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	first := startServerProcess(t, "", dir)
	_, err := runServe(t, dir)
	want := regexp.MustCompile(`^store is in use by pid ` + fmt.Sprint(first.Process.Pid) + ` on \S+ since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d; use the server at http://127\.0\.0\.1:\d+, or another --store$`)
	if err == nil || !want.MatchString(err.Error()) {
		t.Errorf("second server: %v, want %v", err, want)
	}
	first.kill()
	again := mustServe(t, dir)
	if first.token != again.token {
		t.Error("the token changed")
	}
}

func TestASignalEndsTheServerAndASecondOneAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	p := startServerProcess(t, "", dir)
	p.Process.Signal(syscall.SIGTERM)
	if err := p.wait(); err != nil {
		t.Errorf("after SIGTERM: %v, want status 0", err)
	}
	p = startServerProcess(t, "", dir)
	c := p.client(t)
	c.bind("bash", "-c", "trap '' HUP TERM; echo ready; exec sleep 30")
	stream := c.events("/events?from=0")
	stream.await("output")
	p.Process.Signal(os.Interrupt)
	stream.rest() // its end says that the first signal was heard
	p.Process.Signal(os.Interrupt)
	p.wait()
	if ws, ok := p.ProcessState.Sys().(syscall.WaitStatus); !ok || !ws.Signaled() || ws.Signal() != syscall.SIGINT {
		t.Errorf("after a second signal: %v, want it ended by the signal", p.ProcessState)
	}
}

func TestAPortInUse(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go http.Serve(ln, http.NotFoundHandler())
	_, err = runServe(t, filepath.Join(t.TempDir(), "store"), "--listen", ln.Addr().String())
	if want := "address already in use; give --listen another port, or port 0 for a free one"; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("error = %v, want it to end in %q", err, want)
	}
	other := mustServe(t, filepath.Join(t.TempDir(), "store"))
	_, err = runServe(t, filepath.Join(t.TempDir(), "store"), "--listen", strings.TrimPrefix(other.url, "http://"))
	if want := "address already in use, by the holdfast server of another store; give --listen another port, or port 0 for a free one"; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("error = %v, want it to end in %q", err, want)
	}
}

func TestContinueResumesTheNewestSessionOfThisFolder(t *testing.T) {
	dir, here, elsewhere := filepath.Join(t.TempDir(), "store"), t.TempDir(), t.TempDir()
	t.Chdir(here)
	_, err := runServe(t, t.TempDir(), "--continue")
	if want := "there is no session to continue; start one with holdfast serve -- PROGRAM"; err == nil || err.Error() != want {
		t.Errorf("--continue of an empty store: %v, want %q", err, want)
	}
	mustServe(t, dir, "--", "sh", "-c", "cat; # here").stop()
	t.Chdir(elsewhere)
	mustServe(t, dir, "--", "sh", "-c", "cat; # elsewhere").stop()

	bound := func(folder string) string {
		t.Helper()
		t.Chdir(folder)
		r := mustServe(t, dir, "--continue")
		defer r.stop()
		var list sessionList
		r.get("/sessions", &list)
		for _, v := range list.Sessions {
			if v.Live != v.Bound {
				t.Errorf("in %s: %q is live: %v, bound: %v", folder, v.Argv, v.Live, v.Bound)
			}
			if v.Bound {
				return v.Cwd
			}
		}
		return ""
	}
	if got := bound(here); got != here {
		t.Errorf("continued the session of %q, want the one of this folder, %q", got, here)
	}
	if got := bound(elsewhere); got != elsewhere {
		t.Errorf("continued the session of %q, want the one of this folder, %q", got, elsewhere)
	}
	if got := bound(t.TempDir()); got != elsewhere {
		t.Errorf("continued the session of %q, want the newest, of %q", got, elsewhere)
	}
}

func TestASocketPathThatIsTooLong(t *testing.T) {
	runtime := filepath.Join(t.TempDir(), "run")
	if err := os.Mkdir(runtime, 0o700); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 25), "store")
	for _, base := range []string{runtime, ""} {
		t.Setenv("XDG_RUNTIME_DIR", base)
		if base == "" {
			base = os.TempDir()
		}
		r := mustServe(t, dir)
		f, err := cli.ReadServerFile(dir)
		if err != nil {
			t.Fatal(err)
		}
		private := filepath.Dir(f.Socket)
		if filepath.Dir(private) != base || mode(t, private) != fs.ModeDir|0o700 || mode(t, f.Socket) != fs.ModeSocket|0o600 {
			t.Errorf("socket %s of mode %v in a folder of mode %v; want a private folder in %s", f.Socket, mode(t, f.Socket), mode(t, private), base)
		}
		resp, err := unixClient(t, f.Socket).Get("http://any/status")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if err := run(t.Context(), []string{"ls", "--store", dir}, io.Discard, io.Discard); err != nil {
			t.Errorf("ls by that socket: %v", err)
		}
		r.stop()
		if _, err := os.Lstat(private); err == nil {
			t.Errorf("%s is left", private)
		}
	}
	t.Setenv("TMPDIR", dir)
	t.Setenv("XDG_RUNTIME_DIR", dir)
	if _, err := runServe(t, dir); err == nil || !strings.Contains(err.Error(), "no place for the unix socket: its path would be longer than 103 bytes") {
		t.Errorf("with no short folder at all: %v", err)
	}
}

// What a server that was killed left behind goes with the next start.
func TestLeftoversOfAKilledServer(t *testing.T) {
	dir := t.TempDir()
	private, err := os.MkdirTemp(t.TempDir(), "holdfast-")
	if err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(private, "sock")
	for _, path := range []string{old, filepath.Join(dir, "sock")} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b, err := json.Marshal(cli.ServerFile{PID: 1, Address: "http://127.0.0.1:1", Socket: old})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(cli.ServerPath(dir), b, 0o600); err != nil {
		t.Fatal(err)
	}
	mustServe(t, dir)
	if _, err := os.Lstat(private); err == nil {
		t.Errorf("%s is left", private)
	}
}

func TestADamagedTokenFile(t *testing.T) {
	dir := t.TempDir()
	for _, content := range []string{"", "short\n", strings.Repeat("!", 43)} {
		if err := os.WriteFile(filepath.Join(dir, "token"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if token, err := loadToken(dir); err == nil || token != "" {
			t.Errorf("token file %q gives %q, %v; want an error", content, token, err)
		}
	}
}

func TestWhereTheStoreIs(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	for _, tt := range []struct{ flag, env, xdg, want string }{
		{"/a", "/b", "/c", "/a"},
		{"", "/b", "/c", "/b"},
		{"", "", "/c", "/c/holdfast"},
		{"", "", "relative", home + "/.local/state/holdfast"},
		{"", "", "", home + "/.local/state/holdfast"},
	} {
		t.Setenv("HOLDFAST_STORE", tt.env)
		t.Setenv("XDG_STATE_HOME", tt.xdg)
		if got, err := cli.StoreDir(tt.flag); err != nil || got != tt.want {
			t.Errorf("store for %+v = %q, %v; want %q", tt, got, err, tt.want)
		}
	}
	t.Setenv("HOME", "")
	if dir, err := cli.StoreDir(""); err == nil {
		t.Errorf("store without a home = %q, want an error", dir)
	}
}
