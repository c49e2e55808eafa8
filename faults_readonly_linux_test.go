package main

import (
	"bytes"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"holdfast/session"
)

// A store becomes read-only while it is served, and is given back. Files that
// are open stay writable under a mount that becomes so, and do not on a disk
// that gives up.
func TestAStoreThatBecomesReadOnly(t *testing.T) {
	t.Parallel()
	for _, giveUp := range []bool{false, true} {
		d := newDisk(t, "size=64m")
		s := d.serve()
		id, ended := s.counts("counter"), s.stopped("ended")
		stream := listenTo(t, s.events("/sessions/"+id+"/events?from=0"))
		want := []byte("ready\r\n")

		d.run("mount", "--bind", d.store(), d.store())
		d.run("mount", "-o", "remount,bind,ro", d.store())
		end := func() int { return 1 }
		if giveUp {
			end = fault{"pwrite64", "EROFS", "1+1"}.begin(s)
		}
		s.typed(id, "1 200000")
		want = append(want, count(1, 200000)...)
		s.blocked(id, "read-only file system") // by an append, or by the next sync
		for _, op := range everything(id, ended, ended) {
			a := s.do(op.method, op.path, op.body)
			switch {
			case op.method == "GET":
				if a.status != http.StatusOK {
					t.Errorf("%s on a read-only store = %d %s, want 200", op.path, a.status, a.body)
				}
			case strings.HasSuffix(op.path, "/stop"): // it is stopped already
			case a.status == http.StatusConflict && op.path == "/switch": // nothing is bound
			case a.status != http.StatusServiceUnavailable && a.status != http.StatusInsufficientStorage || !strings.Contains(a.body, "read-only"):
				t.Errorf("%s %s on a read-only store = %d %s; want it refused with the reason", op.method, op.path, a.status, a.body)
			}
		}
		if end() == 0 {
			t.Fatal("no call failed, the test shows nothing")
		}
		d.run("mount", "-o", "remount,bind,rw", d.store())

		s.typed(id, "1 3")
		want = append(want, count(1, 3)...)
		waitFor(t, "all output", func() bool { v := s.get(id); return v.Cursor == int64(len(want)) && v.StorageError == "" })
		if v := must[session.View](s.testServer, s.do("POST", "/sessions/"+id+"/stop", ""), http.StatusOK); v.State != "stopped" {
			t.Errorf("state after the stop = %q, want stopped", v.State)
		}
		wantSame(t, "the log", s.log(id), want)
		wantSame(t, "the stream", (<-stream).output, want)
		must[session.View](s.testServer, s.do("POST", "/sessions/"+ended+"/start", ""), http.StatusOK)
		s.wantWhole("after the store was read-only")
	}
}

func TestServeOnAReadOnlyStore(t *testing.T) {
	t.Parallel()
	d := newDisk(t, "size=16m")
	s := d.serve()
	s.stopped("ended")
	s.Process.Signal(os.Interrupt)
	if err := s.ended(); err != nil {
		t.Fatal(err)
	}
	d.run("mount", "-o", "remount,ro", d.dir)
	cmd := exec.Command(d.exe, "serve", "--store", d.store(), "--listen", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), roleEnv+"=main")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if cmd.ProcessState.ExitCode() != 1 || len(out) > 0 || !strings.HasPrefix(stderr.String(), "holdfast: store is read-only: ") || strings.Count(stderr.String(), "\n") != 1 {
		t.Errorf("serve on a read-only store: %v, prints %q and %q; want status 1 and one line", err, out, &stderr)
	}
	d.run("mount", "-o", "remount,rw", d.dir)
	d.serve().wantWhole("after the store was read-only")
}
