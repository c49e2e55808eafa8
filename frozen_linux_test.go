package main

import (
	"syscall"
	"testing"
)

// A command that waits for a server which is frozen says so to the person at
// the terminal, and goes on when the server does.
func TestCommandsTellThatTheServerIsFrozen(t *testing.T) {
	t.Parallel() // most of it waits
	dir := shortStore(t)
	p := startServerProcess(t, "", dir)
	const told = "holdfast: the store's server does not answer; waiting for it; Ctrl-C leaves\r\n"
	for _, args := range [][]string{{"ls", "--ids"}, {"new", "--", "cat"}} {
		p.Process.Signal(syscall.SIGSTOP)
		m := holdfastOnTerminal(t, dir, args...)
		m.see(told)
		p.Process.Signal(syscall.SIGCONT)
		if status := m.wait(); status != 0 {
			t.Errorf("holdfast %q: status %d, %q", args, status, m.out)
		}
	}
	p.Process.Signal(syscall.SIGSTOP)
	defer p.Process.Signal(syscall.SIGCONT)
	m := holdfastOnTerminal(t, dir, "ls")
	m.see(told)
	m.press("\x03")
	if status := m.wait(); status != 128+int(syscall.SIGINT) {
		t.Errorf("Ctrl-C leaves with status %d", status)
	}
}
