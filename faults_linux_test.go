package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"holdfast/session"
)

// A disk is a small file system that can be filled, worn out and pulled away.
// It is mounted where only its servers see it, and is gone with the last of
// them, however the test ends.
type disk struct {
	t    *testing.T
	pid  string // of the process that keeps the mount
	dir  string // where it is, for a server
	path string // where it is, for the test
	exe  string // runs this test binary where the disk is
}

// newDisk mounts a tmpfs with options until the test ends.
func newDisk(t *testing.T, options string) *disk {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root to mount a file system")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, exe := t.TempDir(), filepath.Join(t.TempDir(), "holdfast")
	keeper := exec.Command("sh", "-c", keepMount, "sh", options, dir, exe, self)
	keeper.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	keeper.Stderr = t.Output()
	stdin, err := keeper.StdinPipe() // cat ends with this process
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := keeper.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := keeper.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stdin.Close(); keeper.Wait() })
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "mounted\n" {
		t.Fatalf("mount prints %q, %v", line, err)
	}
	pid := strconv.Itoa(keeper.Process.Pid)
	return &disk{t: t, pid: pid, dir: dir, path: filepath.Join("/proc", pid, "root", dir), exe: exe}
}

// keepMount mounts a tmpfs and keeps it. The script that goes there is not
// written by this process, which could not run it while a child of it that is
// just being started has it open.
const keepMount = `mount -t tmpfs -o "$1" tmpfs "$2" &&
	printf '#!/bin/sh\nexec nsenter --target %s --mount -- %s "$@"\n' $$ "$4" >"$3" && chmod +x "$3" &&
	echo mounted && exec cat`

// run runs a command that sees the disk.
func (d *disk) run(argv ...string) {
	d.t.Helper()
	cmd := exec.Command("nsenter", append([]string{"--target", d.pid, "--mount", "--"}, argv...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		d.t.Fatalf("%q: %v\n%s", argv, err, out)
	}
}

func (d *disk) ballast() string { return filepath.Join(d.path, "ballast") }

// leave fills the disk but for some bytes, or gives so many back.
func (d *disk) leave(free int64) {
	d.t.Helper()
	f, err := os.OpenFile(d.ballast(), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		d.t.Fatal(err)
	}
	var st unix.Statfs_t
	if err := unix.Statfs(d.path, &st); err != nil {
		d.t.Fatal(err)
	}
	size := info.Size() + int64(st.Bavail)*st.Bsize - free
	if err := errors.Join(f.Truncate(size), unix.Fallocate(int(f.Fd()), 0, 0, size)); err != nil {
		d.t.Fatal(err)
	}
}

// free empties the disk of what leave put there.
func (d *disk) free() {
	d.t.Helper()
	if err := os.Remove(d.ballast()); err != nil {
		d.t.Fatal(err)
	}
}

// A diskServer is a serve process whose store is on a disk.
type diskServer struct {
	*testServer
	*serverProcess
	disk   *disk
	untidy bool // the disk did not let it remove what it had begun; the next start does
}

func (d *disk) store() string { return filepath.Join(d.dir, "store") }

// serve runs a server on the disk until the test ends.
func (d *disk) serve(args ...string) *diskServer {
	d.t.Helper()
	p := startServerProcess(d.t, d.exe, d.store(), append(args, "--log-level", "error")...)
	ts := &testServer{t: d.t, url: p.url, unix: unixClient(d.t, filepath.Join(d.path, "store", "sock"))}
	return &diskServer{testServer: ts, serverProcess: p, disk: d}
}

// ended waits for the process to end, and returns how. One that does not end
// is killed.
func (s *diskServer) ended() error {
	hurry := time.AfterFunc(patience, func() { s.Process.Kill() })
	defer hurry.Stop()
	return s.wait()
}

// list returns the sessions, by id.
func (s *diskServer) list() map[string]session.View {
	s.t.Helper()
	views := make(map[string]session.View)
	for _, v := range must[sessionList](s.testServer, s.do("GET", "/sessions", ""), http.StatusOK).Sessions {
		views[v.ID] = v
	}
	return views
}

// log returns the whole output of a session as it is on disk.
func (s *diskServer) log(id string) []byte {
	s.t.Helper()
	segments, err := filepath.Glob(filepath.Join(s.disk.path, "store", "sessions", id, "output", "*"))
	if err != nil {
		s.t.Fatal(err)
	}
	var all []byte
	for _, path := range segments {
		b, err := os.ReadFile(path)
		if err != nil {
			s.t.Fatal(err)
		}
		all = append(all, b...)
	}
	return all
}

// wantWhole checks that the store has what the server lists and nothing else:
// no session that is half there, no lock of one that is gone, no temp file.
func (s *diskServer) wantWhole(when string) {
	s.t.Helper()
	store := filepath.Join(s.disk.path, "store")
	views := s.list()
	for id, v := range views {
		if v.State == "pending" || v.State == session.Unreadable {
			s.t.Errorf("%s: session %s is %s: %s", when, id, v.State, v.Reason)
		}
	}
	for _, sub := range []string{"sessions", "locks", "trash"} {
		entries, err := os.ReadDir(filepath.Join(store, sub))
		if err != nil {
			s.t.Fatal(err)
		}
		for _, e := range entries {
			id := strings.TrimSuffix(e.Name(), ".lock")
			if s.untidy && (sub == "trash" || strings.HasPrefix(id, ".new-")) {
				continue
			}
			if _, ok := views[id]; !ok || sub == "trash" {
				s.t.Errorf("%s: %s/%s is left", when, sub, e.Name())
			}
		}
	}
	err := filepath.WalkDir(store, func(path string, _ fs.DirEntry, err error) error {
		if strings.Contains(path, ".tmp-") {
			s.t.Errorf("%s: %s is left", when, strings.TrimPrefix(path, store))
		}
		return err
	})
	if err != nil {
		s.t.Error(err)
	}
}

// wantSame compares what was read with what a program is known to print.
func wantSame(t *testing.T, what string, got, want []byte) {
	t.Helper()
	if !bytes.Equal(got, want) {
		t.Errorf("%s has %d bytes, want %d; the first difference is at %d", what, len(got), len(want), differ(got, want))
	}
}

// count is what seq prints on a terminal.
func count(from, to int) []byte {
	var b []byte
	for n := from; n <= to; n++ {
		b = append(strconv.AppendInt(b, int64(n), 10), "\r\n"...)
	}
	return b
}

// counter is a program that counts as it is told to, and then makes a file, if
// it was told which.
const counter = `stty -echo; echo ready; while read from to file; do seq $from $to; : >${file:-/dev/null}; done`

// counts makes a session that runs counter.
func (s *diskServer) counts(name string) string {
	s.t.Helper()
	body := fmt.Sprintf(`{"argv":["bash","-c",%q],"name":%q,"cwd":"/"}`, counter, name)
	v := must[session.View](s.testServer, s.do("POST", "/sessions", body), http.StatusCreated)
	s.awaitOutput(v.ID, "ready\r\n")
	return v.ID
}

// stopped makes a session that has run counter.
func (s *diskServer) stopped(name string) string {
	s.t.Helper()
	id := s.counts(name)
	must[session.View](s.testServer, s.do("POST", "/sessions/"+id+"/stop", ""), http.StatusOK)
	return id
}

// typed sends a line to a session.
func (s *diskServer) typed(id, line string) {
	s.t.Helper()
	a := s.do("POST", "/sessions/"+id+"/input?enter=1", line)
	if r := must[session.Receipt](s.testServer, a, http.StatusOK); r.Written != len(line)+1 {
		s.t.Errorf("input %q: %d bytes were written, want %d", line, r.Written, len(line)+1)
	}
}

// A heard is what one reader of an event stream was told.
type heard struct {
	output []byte
	errors []string // each storage_error, and "" where it was taken back
	err    error
}

// listen reads a stream to its end, in the background.
func listenTo(t *testing.T, s *testStream) <-chan heard {
	result := make(chan heard, 1)
	go func() {
		var h heard
		for {
			e, err := s.next()
			if err != nil {
				h.err = err
				result <- h
				return
			}
			switch e.event {
			case "output", "bytes":
				h.output = append(h.output, e.bytes(t)...)
			case "session":
				var v session.View
				if err := json.Unmarshal([]byte(e.data), &v); err != nil {
					h.err = err
				}
				if n := len(h.errors); n == 0 && v.StorageError != "" || n > 0 && h.errors[n-1] != v.StorageError {
					h.errors = append(h.errors, v.StorageError)
				}
			}
		}
	}()
	return result
}
