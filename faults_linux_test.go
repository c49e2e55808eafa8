package main

import (
	"bufio"
	"cmp"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
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
	keeper, line := startKeeper(t, syscall.CLONE_NEWNS, keepMount, options, dir, exe, self)
	if line != "mounted\n" {
		t.Fatalf("mount prints %q", line)
	}
	pid := strconv.Itoa(keeper)
	return &disk{t: t, pid: pid, dir: dir, path: filepath.Join("/proc", pid, "root", dir), exe: exe}
}

// startKeeper runs a script in namespaces of its own, which keeps a mount until
// its standard input, and with it the test, ends. It returns the pid, and the
// first line that the script prints.
func startKeeper(t *testing.T, namespaces uintptr, script string, args ...string) (pid int, line string) {
	t.Helper()
	keeper := exec.Command("sh", append([]string{"-c", script, "sh"}, args...)...)
	keeper.SysProcAttr = &syscall.SysProcAttr{Unshareflags: namespaces}
	keeper.Stderr = t.Output()
	stdin, err1 := keeper.StdinPipe()
	stdout, err2 := keeper.StdoutPipe()
	if err := cmp.Or(err1, err2, keeper.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stdin.Close(); keeper.Wait() })
	line, _ = bufio.NewReader(stdout).ReadString('\n')
	return keeper.Process.Pid, line
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
