package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A fault is a way in which a disk fails.
type fault struct {
	calls string // that fail, as strace names a set of them
	errno string
	when  string // which of these calls, counted in each thread: FIRST+STEP
}

func (f fault) String() string { return f.calls + " " + f.errno + " " + f.when }

// begin lets the fault happen to the server, until end is called. That returns
// how often it did.
func (f fault) begin(s *diskServer) (end func() int) {
	s.t.Helper()
	if f.calls == "write" {
		return s.limitFiles()
	}
	trace := filepath.Join(s.t.TempDir(), "trace")
	strace := exec.Command("strace", "-f", "-qq", "-o", trace, "-e", "trace="+f.calls,
		"-e", fmt.Sprintf("inject=%s:error=%s:when=%s", f.calls, f.errno, f.when), "-p", strconv.Itoa(s.Process.Pid))
	said := new(lockedBuffer)
	strace.Stderr = said
	if err := strace.Start(); err != nil {
		s.t.Fatal(err)
	}
	waitFor(s.t, "strace", func() bool { return traced(s.Process.Pid) || said.String() != "" })
	return func() int {
		strace.Process.Signal(os.Interrupt)
		strace.Wait()
		if text := said.String(); text != "" {
			s.t.Fatalf("%v: strace: %s", f, text)
		}
		b, err := os.ReadFile(trace)
		if err != nil {
			s.t.Fatal(err)
		}
		return strings.Count(string(b), "(INJECTED)")
	}
}

// traced reports whether all threads of a process are.
func traced(pid int) bool {
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	for _, path := range tasks {
		b, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(b), "\nTracerPid:\t0\n") {
			return false
		}
	}
	return err == nil && len(tasks) > 0
}

// limitFiles lets no file of the server grow. To fail all its writes would
// cut its connections too, and stop its runtime.
func (s *diskServer) limitFiles() (end func() int) {
	s.t.Helper()
	var old unix.Rlimit
	if err := unix.Prlimit(s.Process.Pid, unix.RLIMIT_FSIZE, nil, &old); err != nil {
		s.t.Fatal(err)
	}
	if err := unix.Prlimit(s.Process.Pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Max: old.Max}, nil); err != nil {
		s.t.Fatal(err)
	}
	before := strings.Count(s.serverProcess.logs.String(), "file too large")
	return func() int {
		if err := unix.Prlimit(s.Process.Pid, unix.RLIMIT_FSIZE, &old, nil); err != nil {
			s.t.Fatal(err)
		}
		return strings.Count(s.serverProcess.logs.String(), "file too large") - before
	}
}
