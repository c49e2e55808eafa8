package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"holdfast/internal/leaks"
	"holdfast/leasefs"
	"holdfast/session"
	"holdfast/store"
)

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

// roleEnv makes the test binary the program itself, or what that is measured
// against.
const roleEnv = "HOLDFAST_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleEnv) {
	case "main":
		main()
	case "floor":
		serveFloor(os.Args[1])
	}
	code := m.Run()
	if binDir != "" {
		os.RemoveAll(binDir)
	}
	os.Exit(leaks.Check(os.Stderr, code, "holdfast", leasefs.Held))
}

// A testServer is a whole server on a loopback port and a unix socket, with
// its own store.
type testServer struct {
	t      *testing.T
	s      *server
	url    string       // of the loopback port
	unix   *http.Client // by the socket, which needs no token
	http   *http.Server
	closer func() // what a signal does; may be called again
	logs   *lockedBuffer
}

// A lockedBuffer collects what several goroutines write.
type lockedBuffer struct {
	mu  sync.Mutex // guards buf
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

const testToken = "zX9kqL2mW8vR4tY7uI1oP5aS3dF6gH0jK-_bNcQeTrM"

// startServer runs a server until the test ends. A change may be made to the
// store's options and to the server before it starts.
func startServer(t *testing.T, change func(*store.Options, *server)) *testServer {
	t.Helper()
	dir := t.TempDir()
	ts := &testServer{t: t, logs: new(lockedBuffer)}
	log := slog.New(slog.NewTextHandler(io.MultiWriter(ts.logs, t.Output()), &slog.HandlerOptions{Level: slog.LevelDebug}))
	closing, cancel := context.WithCancel(context.Background())
	ts.s = &server{
		log: log, closing: closing, key: newCredentials(testToken),
		page:    fstest.MapFS{"index.html": {Data: []byte("<title>holdfast</title>")}, "app.js": {Data: []byte("export {}")}},
		about:   status{StartedAt: time.Now()},
		streams: make(chan struct{}, maxStreams), stall: stallTimeout,
	}
	options := store.Options{Boot: "test"}
	if change != nil {
		change(&options, ts.s)
	}
	st, err := store.Open(filepath.Join(dir, "store"), options)
	if err != nil {
		t.Fatal(err)
	}
	ts.s.ctl, err = session.Open(session.Config{
		Store: st, Front: "serve", Log: log, StopGrace: 200 * time.Millisecond, ShutdownGrace: 100 * time.Millisecond, InputTimeout: time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	h, err := ts.s.handler()
	if err != nil {
		t.Fatal(err)
	}
	ts.http = &http.Server{Handler: h, DisableGeneralOptionsHandler: true, ConnState: ts.s.countConn, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn)}
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "sock")
	unix, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	ts.url = "http://" + tcp.Addr().String()
	ts.unix = unixClient(t, socket)
	var served sync.WaitGroup
	served.Go(func() { ts.http.Serve(tcp) })
	served.Go(func() { ts.http.Serve(unix) })
	ts.closer = sync.OnceFunc(func() {
		cancel()
		end(ts.http, ts.s.ctl, log)
		served.Wait()
	})
	t.Cleanup(ts.closer)
	return ts
}

func unixClient(t *testing.T, socket string) *http.Client {
	var d net.Dialer
	tr := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return d.DialContext(ctx, "unix", socket)
	}}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

// An answer is a response that was read to its end.
type answer struct {
	status int
	header http.Header
	body   string
}

// request builds a request to the server. Headers come in pairs.
func (ts *testServer) request(method, path, body string, headers ...string) *http.Request {
	ts.t.Helper()
	r, err := http.NewRequestWithContext(ts.t.Context(), method, ts.url+path, strings.NewReader(body))
	if err != nil {
		ts.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

// open sends a request over the unix socket; its body is still to be read.
func (ts *testServer) open(method, path, body string, headers ...string) *http.Response {
	ts.t.Helper()
	resp, err := ts.unix.Do(ts.request(method, path, body, headers...))
	if err != nil {
		ts.t.Fatalf("%s %s: %v", method, path, err)
	}
	ts.t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// do sends a request over the unix socket and reads the whole answer.
func (ts *testServer) do(method, path, body string, headers ...string) answer {
	ts.t.Helper()
	return ts.read(ts.open(method, path, body, headers...))
}

// doTCP is do over the loopback port, where nothing but the headers given
// says who is asking.
func (ts *testServer) doTCP(method, path, body string, headers ...string) answer {
	ts.t.Helper()
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := c.Do(ts.request(method, path, body, headers...))
	if err != nil {
		ts.t.Fatalf("%s %s: %v", method, path, err)
	}
	return ts.read(resp)
}

func (ts *testServer) read(resp *http.Response) answer {
	ts.t.Helper()
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		ts.t.Fatalf("%s %s: read the answer: %v", resp.Request.Method, resp.Request.URL.Path, err)
	}
	return answer{resp.StatusCode, resp.Header, string(body)}
}

// must decodes an answer that has to have a status.
func must[T any](ts *testServer, a answer, status int) T {
	ts.t.Helper()
	var v T
	if a.status != status {
		ts.t.Fatalf("status = %d, want %d; body: %s", a.status, status, a.body)
	}
	if err := json.Unmarshal([]byte(a.body), &v); err != nil {
		ts.t.Fatalf("decode %s: %v", a.body, err)
	}
	return v
}

// bind makes a session that runs argv, and binds it.
func (ts *testServer) bind(argv ...string) session.View {
	ts.t.Helper()
	return ts.make("/new", argv...)
}

func (ts *testServer) make(path string, argv ...string) session.View {
	ts.t.Helper()
	body, err := json.Marshal(map[string]any{"argv": argv, "cwd": ts.t.TempDir()})
	if err != nil {
		ts.t.Fatal(err)
	}
	a := ts.do("POST", path, string(body))
	v := must[session.View](ts, a, http.StatusCreated)
	if got, want := a.header.Get("Location"), "/sessions/"+v.ID; got != want {
		ts.t.Errorf("Location = %q, want %q", got, want)
	}
	return v
}

// get returns a session as it is now.
func (ts *testServer) get(id string) session.View {
	ts.t.Helper()
	return must[session.View](ts, ts.do("GET", "/sessions/"+id, ""), http.StatusOK)
}

// output returns all that a session has printed by the end of its run.
func (ts *testServer) output(id string) string {
	ts.t.Helper()
	a := ts.do("GET", "/sessions/"+id+"/output?follow=1", "")
	if a.status != http.StatusOK {
		ts.t.Fatalf("output: status = %d: %s", a.status, a.body)
	}
	return a.body
}

// awaitOutput waits until a session has printed text.
func (ts *testServer) awaitOutput(id, text string) {
	ts.t.Helper()
	resp := ts.open("GET", "/sessions/"+id+"/output?follow=1", "")
	defer resp.Body.Close()
	var got []byte
	buf := make([]byte, 4<<10)
	for !bytes.Contains(got, []byte(text)) {
		n, err := resp.Body.Read(buf)
		got = append(got, buf[:n]...)
		if err != nil && !bytes.Contains(got, []byte(text)) {
			ts.t.Fatalf("output %q has no %q at its end: %v", got, text, err)
		}
	}
}

// wantProblem checks an error answer, whole: status, content type and type.
func wantProblem(t *testing.T, a answer, status int, name string) problem {
	t.Helper()
	var p problem
	if err := json.Unmarshal([]byte(a.body), &p); err != nil {
		t.Fatalf("status %d, body %q is no problem document: %v", a.status, a.body, err)
	}
	if a.status != status || p.Status != status || p.Type != problemPrefix+name {
		t.Errorf("problem %d %q (in the document %d), want %d %q; detail: %s", a.status, p.Type, p.Status, status, problemPrefix+name, p.Detail)
	}
	if got, want := a.header.Get("Content-Type"), "application/problem+json"; got != want {
		t.Errorf("Content-Type = %q, want %q", got, want)
	}
	if p.Title == "" || p.Detail == "" {
		t.Errorf("problem without title or detail: %s", a.body)
	}
	return p
}

// sessionList is the answer to GET /sessions.
type sessionList struct {
	Sessions []session.View `json:"sessions"`
}
