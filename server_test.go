package main

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"holdfast/session"
)

func TestAProgramIsShownTakesInputAndEnds(t *testing.T) {
	ts := startServer(t, nil)
	v := ts.bind("bash", "--norc", "-c", `read line; echo "got $line"; exit 3`)
	if !v.Bound || !v.Live || v.State != "running" {
		t.Errorf("new session: bound %v, live %v, state %q; want true, true, running", v.Bound, v.Live, v.State)
	}
	got := must[session.Receipt](ts, ts.do("POST", "/input?enter=1", "hello"), http.StatusOK)
	if got.Written != 6 {
		t.Errorf("written = %d, want 6", got.Written)
	}
	if out := ts.output(v.ID); !strings.Contains(out, "got hello\r\n") {
		t.Errorf("output = %q, want it to have %q", out, "got hello\r\n")
	}
	v = ts.get(v.ID)
	if v.State != "ended" || v.ExitCode == nil || *v.ExitCode != 3 || v.Live {
		t.Errorf("after the exit: %+v; want ended with exit code 3", v)
	}
}

func TestEveryRouteRefusesOtherMethods(t *testing.T) {
	ts := startServer(t, nil)
	v := ts.bind("cat")
	allowed := make(map[string][]string)
	for _, rt := range ts.s.routes() {
		method, path, _ := strings.Cut(rt.pattern, " ")
		allowed[path] = append(allowed[path], method)
		if method == "GET" {
			allowed[path] = append(allowed[path], "HEAD")
		}
	}
	for path, methods := range allowed {
		slices.Sort(methods)
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW"} {
			if slices.Contains(methods, method) {
				continue
			}
			a := ts.do(method, strings.ReplaceAll(path, "{id}", v.ID), "")
			wantProblem(t, a, http.StatusMethodNotAllowed, "method-not-allowed")
			if got, want := a.header.Get("Allow"), strings.Join(methods, ", "); got != want {
				t.Errorf("%s %s: Allow = %q, want %q", method, path, got, want)
			}
		}
	}
}

func TestUnknownPathsAreProblems(t *testing.T) {
	ts := startServer(t, nil)
	for _, path := range []string{"/nope", "/sessions/", "/sessions/a/b/c", "//", "/sessions//events", "/./healthz", "/x/../healthz", "/index.html/"} {
		wantProblem(t, ts.do("GET", path, ""), http.StatusNotFound, "no-such-path")
	}
}

func TestThePageIsServedWithItsPolicy(t *testing.T) {
	ts := startServer(t, nil)
	a := ts.doTCP("GET", "/", "")
	if a.status != http.StatusOK || !strings.Contains(a.body, "<title>") {
		t.Fatalf("GET / = %d %q, want the page", a.status, a.body)
	}
	for name, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY",
	} {
		if got := a.header.Get(name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	if policy := a.header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") {
		t.Errorf("Content-Security-Policy = %q, want nothing allowed by default and no frames", policy)
	}
	if again := ts.doTCP("GET", "/", "", "If-None-Match", a.header.Get("ETag")); again.status != http.StatusNotModified {
		t.Errorf("GET / with its ETag = %d, want 304", again.status)
	}
	if js := ts.doTCP("GET", "/app.js", ""); js.status != http.StatusOK || !strings.HasPrefix(js.header.Get("Content-Type"), "text/javascript") {
		t.Errorf("GET /app.js = %d %q, want JavaScript", js.status, js.header.Get("Content-Type"))
	}
}

func TestUnknownErrorsTellNothing(t *testing.T) {
	ts := startServer(t, nil)
	secret := fmt.Errorf("open /home/somebody/secret: permission denied")
	rec := newRecorder()
	ts.s.fail(rec, ts.request("GET", "/", ""), secret)
	if got, want := rec.body.String(), `{"type":"about:blank","title":"Internal Server Error","status":500}`+"\n"; got != want {
		t.Errorf("body = %s, want %s", got, want)
	}
	if !strings.Contains(ts.logs.String(), "request failed") {
		t.Error("the cause of a 500 is not in the log")
	}
}

// A recorder is a ResponseWriter that keeps what it gets.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func newRecorder() *recorder                        { return &recorder{header: make(http.Header)} }
func (r *recorder) Header() http.Header             { return r.header }
func (r *recorder) WriteHeader(status int)          { r.status = status }
func (r *recorder) Write(p []byte) (n int, e error) { return r.body.Write(p) }
