package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"holdfast/session"
)

// The file of the binary can be replaced under a server: it goes on with what
// it was started from, and a restart is the upgrade.
func TestTheBinaryIsReplacedWhileItServes(t *testing.T) {
	exe, dir := filepath.Join(t.TempDir(), "holdfast"), shortStore(t)
	replace := func(from io.Reader) {
		t.Helper()
		f, err := os.OpenFile(exe+".new", os.O_CREATE|os.O_WRONLY, 0o755)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(f, from); err != nil {
			t.Fatal(err)
		}
		f.Close()
		if err := os.Rename(exe+".new", exe); err != nil {
			t.Fatal(err)
		}
	}
	binary := func() io.Reader {
		t.Helper()
		f, err := os.Open(buildHoldfast(t))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	replace(binary())
	p := startServerProcess(t, exe, dir)
	ts := p.client(t)
	page := ts.do("GET", "/", "").body
	first := create(ts, "first", "printf one; read x; printf two; exec cat")
	ts.awaitOutput(first.ID, "one")

	replace(io.LimitReader(binary(), 1000)) // no program at all
	if got := ts.do("GET", "/", ""); got.status != http.StatusOK || got.body != page {
		t.Errorf("page after the replacement: %d, %d bytes, want the %d bytes of before", got.status, len(got.body), len(page))
	}
	ts.do("POST", "/sessions/first/input?enter=1", "")
	ts.awaitOutput(first.ID, "two")
	if got := ts.output(create(ts, "second", "printf three").ID); got != "three" {
		t.Errorf("a program started after the replacement printed %q", got)
	}

	replace(binary())
	p.endOrderly()
	ts = startServerProcess(t, exe, dir).client(t)
	if v := must[session.View](ts, ts.do("POST", "/sessions/first/start", ""), http.StatusOK); v.Runs != 2 {
		t.Errorf("after the upgrade: run %d, want the second", v.Runs)
	}
}
