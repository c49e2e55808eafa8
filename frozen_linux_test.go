package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A command that waits for a server which is frozen says so, to a terminal as to
// the log of a script, and goes on when the server does.
func TestCommandsTellThatTheServerIsFrozen(t *testing.T) {
	t.Parallel() // most of it waits
	dir := shortStore(t)
	p := startServerProcess(t, "", dir)
	const told = "holdfast: the store's server does not answer; waiting for it; Ctrl-C leaves\r\n"
	for _, args := range [][]string{{"ls", "--ids"}, {"new", "--", "cat"}} {
		freeze(t, p.Process.Pid)
		m := holdfastOnTerminal(t, dir, args...)
		m.see(told)
		p.Process.Signal(syscall.SIGCONT)
		if status := m.wait(); status != 0 {
			t.Errorf("holdfast %q: status %d, %q", args, status, m.out)
		}
	}
	freeze(t, p.Process.Pid)
	defer p.Process.Signal(syscall.SIGCONT)
	m := holdfastOnTerminal(t, dir, "ls")
	m.see(told)
	m.press("\x03")
	if status := m.wait(); status != 128+int(syscall.SIGINT) {
		t.Errorf("Ctrl-C leaves with status %d", status)
	}

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	script := exec.CommandContext(ctx, buildHoldfast(t), "ls")
	script.Env = append(os.Environ(), "HOLDFAST_STORE="+dir)
	stderr, err := script.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := script.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stderr).ReadString('\n')
	if line != strings.ReplaceAll(told, "\r", "") {
		t.Errorf("in a script: %q, %v", line, err)
	}
	p.Process.Signal(syscall.SIGCONT)
	if err := script.Wait(); err != nil {
		t.Errorf("the script: %v", err)
	}
}

// freeze stops a process, and returns when none of its threads runs any more.
func freeze(t *testing.T, pid int) {
	t.Helper()
	syscall.Kill(pid, syscall.SIGSTOP)
	eventually(t, "the stop of all threads", func() bool {
		stats, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		for _, path := range stats {
			stat, err := os.ReadFile(path)
			if err == nil && !strings.Contains(string(stat), ") T ") {
				return false
			}
		}
		return len(stats) > 0
	})
}
