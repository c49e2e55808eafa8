package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"holdfast/session"
)

const full = "no space left on device"

// blocked waits until a session is listed with why it cannot be written.
func (s *diskServer) blocked(id, why string) {
	s.t.Helper()
	waitFor(s.t, "the storage error of "+id, func() bool {
		text := s.list()[id].StorageError
		return strings.Contains(text, why) && !strings.Contains(text, "/")
	})
}

// wantFull checks that nothing can be made or changed on a full disk, and that
// nothing is left of the trying.
func (s *diskServer) wantFull(id string) {
	s.t.Helper()
	for _, op := range []op{
		{"POST", "/new", `{"argv":["cat"]}`},
		{"POST", "/sessions", `{"argv":["cat"]}`},
		{"POST", "/sessions/" + id + "/fork", ""},
		{"PATCH", "/sessions/" + id, `{"name":"renamed"}`},
	} {
		p := wantProblem(s.t, s.do(op.method, op.path, op.body), http.StatusInsufficientStorage, "storage-failed")
		if !strings.Contains(p.Detail, full) || strings.Contains(p.Detail, "/") {
			s.t.Errorf("%s %s: detail is %q, want the reason in it, and no path", op.method, op.path, p.Detail)
		}
	}
	s.wantWhole("on a full disk")
}

// wantReadable checks that all of a session can be read.
func (s *diskServer) wantReadable(id string) {
	s.t.Helper()
	for path, from := range map[string]string{"/output": "?from=0", "/wait": "?from=0&timeout=1ms", "/turns": "", "/recording": "?format=cast"} {
		if a := s.do("GET", "/sessions/"+id+path+from, ""); a.status != http.StatusOK {
			s.t.Errorf("GET %s on a full disk = %d %s", path, a.status, a.body)
		}
	}
}

// The disk is full again and again while a program prints. It waits, and so do
// others; who only reads does not, nor who types, stops or deletes.
func TestAFullDiskDelaysAndLosesNothing(t *testing.T) {
	t.Parallel()
	d := newDisk(t, "size=32m")
	s := d.serve()
	id, stopped, doomed := s.counts("counter"), s.counts("stopped"), s.counts("doomed")
	want := append(append([]byte("ready\r\n"), count(1, 1_500_000)...), count(1, 3)...)
	follow := s.open("GET", "/sessions/"+id+"/output?follow=1", "")
	stream := listenTo(t, s.events("/sessions/"+id+"/events?from=0"))
	done := filepath.Join(t.TempDir(), "done")

	before := s.metrics()["holdfast_storage_errors_total"]
	d.leave(1 << 20)
	s.typed(id, "1 1500000 "+done)
	const times = 3
	for range times {
		s.blocked(id, full)
		before := s.get(id).Cursor
		d.leave(1 << 20)
		waitFor(t, "the program to go on", func() bool { return s.get(id).Cursor > before })
	}
	s.blocked(id, full)
	s.typed(id, "1 3")
	s.typed(stopped, "1 1500000")
	s.blocked(stopped, full)
	s.wantFull(id)
	s.wantReadable(id)
	if _, err := os.Lstat(done); err == nil || s.get(id).Cursor >= int64(len(want)) {
		t.Error("the program did not wait")
	}
	p := wantProblem(t, s.do("POST", "/sessions/"+stopped+"/stop", ""), http.StatusInsufficientStorage, "storage-failed")
	if !strings.Contains(p.Detail, "the program has ended") {
		t.Errorf("stop on a full disk: detail is %q, want it to say that the program has ended", p.Detail)
	}
	if a := s.do("DELETE", "/sessions/"+doomed, ""); a.status != http.StatusNoContent {
		t.Errorf("DELETE on a full disk = %d %s, want 204", a.status, a.body)
	}

	d.free()
	waitFor(t, "all output", func() bool {
		v := s.list()[id]
		return v.Cursor == int64(len(want)) && v.StorageError == "" && s.get(stopped).State == "stopped"
	})
	must[session.View](s.testServer, s.do("POST", "/sessions/"+id+"/stop", ""), http.StatusOK)
	wantSame(t, "the log", s.log(id), want)
	wantSame(t, "the followed output", []byte(s.read(follow).body), want)
	h := <-stream
	wantSame(t, "the stream", h.output, want)
	// A reader that is behind is told of the last change, not of each.
	if n := len(h.errors); n < 2 || h.errors[n-1] != "" || !slices.ContainsFunc(h.errors, func(e string) bool { return strings.Contains(e, full) }) {
		t.Errorf("the stream told of %q; want that the disk was full, and that it is not any more", h.errors)
	}
	if n := s.metrics()["holdfast_storage_errors_total"] - before; n < times {
		t.Errorf("storage errors counted: %v, want %d at least", n, times)
	}
	partly := s.log(stopped)
	wantSame(t, "the log of the stopped session", partly, append([]byte("ready\r\n"), count(1, 1_500_000)...)[:len(partly)])
	s.wantWhole("with space on the disk")
	t.Logf("%d times full, %d bytes compared", times+1, 3*len(want)+len(partly))
}

// Without room for another file a program prints on to the end of the segment.
func TestADiskWithoutRoomForAFile(t *testing.T) {
	t.Parallel()
	d := newDisk(t, "size=32m,nr_inodes=200")
	s := d.serve()
	id := s.counts("counter")
	want := append([]byte("ready\r\n"), count(1, sealing)...)
	folder := filepath.Join(d.path, "files")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	var err error
	for i := 0; err == nil; i++ {
		err = os.WriteFile(filepath.Join(folder, fmt.Sprint(i)), nil, 0o600)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	s.wantFull(id)
	s.typed(id, fmt.Sprint("1 ", sealing))
	s.blocked(id, full)
	if got, segment := s.get(id).Cursor, int64(8<<20); got > segment || got < segment-64<<10 {
		t.Errorf("cursor = %d without room for another segment, want it near %d", got, segment)
	}
	s.wantFull(id)
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "all output", func() bool { v := s.get(id); return v.Cursor == int64(len(want)) && v.StorageError == "" })
	wantSame(t, "the log", s.log(id), want)
	s.wantWhole("with room for files")
}

// A server that is told to end does not wait for a disk that stays full, and
// the next one starts on it: sessions can be deleted there. What readers saw
// is in the log.
func TestAServerEndsAndStartsOnAFullDisk(t *testing.T) {
	t.Parallel()
	d := newDisk(t, "size=16m")
	s := d.serve()
	id, doomed := s.counts("counter"), s.stopped("doomed")
	printed := append([]byte("ready\r\n"), count(1, 1_500_000)...)
	stream := listenTo(t, s.events("/sessions/"+id+"/events?from=0"))
	d.leave(1 << 20)
	s.typed(id, "1 1500000")
	s.blocked(id, full)
	s.Process.Signal(os.Interrupt)
	if err := s.ended(); err != nil {
		t.Errorf("serve ends with %v, want status 0", err)
	}
	seen, log := (<-stream).output, s.log(id)
	if len(log) < len(seen) || len(log) > len(printed) {
		t.Fatalf("the log has %d bytes, %d were read", len(log), len(seen))
	}
	wantSame(t, "the stream", seen, printed[:len(seen)])
	wantSame(t, "the log", log, printed[:len(log)])

	d.leave(0)
	s = d.serve()
	if v := s.get(id); v.State != "running" || v.Live || !strings.Contains(v.StorageError, full) {
		t.Errorf("on the full disk: state %q, live %v, storage_error %q; want what its row says, with the reason", v.State, v.Live, v.StorageError)
	}
	if a := s.do("DELETE", "/sessions/"+doomed, ""); a.status != http.StatusNoContent {
		t.Errorf("DELETE on a full disk = %d %s, want 204", a.status, a.body)
	}
	d.free()
	if v := s.get(id); v.State != "interrupted" || v.Cause != "gateway_crash" || v.StorageError != "" {
		t.Errorf("with space on the disk: state %q, cause %q, storage_error %q; want interrupted by gateway_crash", v.State, v.Cause, v.StorageError)
	}
	wantSame(t, "the log after the restart", s.log(id), log)
	s.wantWhole("with space on the disk")
}
