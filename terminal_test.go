//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// A terminal is a real one of 100 by 30 with a program on it, and a person who
// types and looks.
type terminal struct {
	t    *testing.T
	cmd  *exec.Cmd
	pty  *os.File // what the person has
	tty  *os.File // what the program has
	out  *lockedBuffer
	mark int         // how much was shown when the last keys were pressed
	was  *term.State // before the program
	wait func() int  // for the program's exit status; again gives the same
}

// onTerminal runs a program, which leads the terminal's kernel session, until
// the test ends.
func onTerminal(t *testing.T, cmd *exec.Cmd) *terminal {
	t.Helper()
	master, tty, err := openPTY()
	if err != nil {
		t.Fatal(err)
	}
	m := &terminal{t: t, cmd: cmd, pty: master, tty: tty, out: new(lockedBuffer)}
	m.resize(100, 30)
	m.was = m.modes()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var reading sync.WaitGroup
	reading.Go(func() { // to the end of the terminal
		buf := make([]byte, 32<<10)
		for {
			n, err := master.Read(buf)
			m.out.Write(buf[:n])
			if err != nil {
				return
			}
		}
	})
	m.wait = sync.OnceValue(func() int {
		cmd.Wait()
		if w := cmd.ProcessState.Sys().(syscall.WaitStatus); w.Signaled() {
			return 128 + int(w.Signal())
		}
		return cmd.ProcessState.ExitCode()
	})
	t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // the whole session of a shell without jobs
		m.wait()
		tty.Close()
		master.Close()
		reading.Wait()
	})
	return m
}

// holdfastOnTerminal runs holdfast with a store.
func holdfastOnTerminal(t *testing.T, dir string, args ...string) *terminal {
	t.Helper()
	cmd := exec.Command(buildHoldfast(t), args...)
	cmd.Env = append(os.Environ(), "HOLDFAST_STORE="+dir)
	return onTerminal(t, cmd)
}

// openPTY opens a terminal whose master can be closed while it is read.
func openPTY() (master, tty *os.File, err error) {
	blocking, tty, err := pty.Open()
	if err != nil {
		return nil, nil, err
	}
	defer blocking.Close()
	fd, err := unix.FcntlInt(blocking.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	return os.NewFile(uintptr(fd), blocking.Name()), tty, err
}

// press sends keys.
func (m *terminal) press(keys string) {
	m.t.Helper()
	m.mark = len(m.out.String())
	if _, err := m.pty.WriteString(keys); err != nil {
		m.t.Fatal(err)
	}
}

// see waits until text is shown, since the last keys.
func (m *terminal) see(text string) {
	m.t.Helper()
	m.until(text, func() bool { return strings.Contains(m.out.String()[m.mark:], text) })
}

// until waits for something that the terminal comes to be.
func (m *terminal) until(what string, ok func() bool) {
	m.t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			m.t.Fatalf("the terminal never has %q; it was sent %q", what, m.out.String()[m.mark:])
		}
	}
}

func (m *terminal) resize(cols, rows uint16) {
	m.t.Helper()
	if err := pty.Setsize(m.tty, &pty.Winsize{Cols: cols, Rows: rows}); err != nil {
		m.t.Fatal(err)
	}
}

// modes are the settings of the terminal's driver.
func (m *terminal) modes() *term.State {
	m.t.Helper()
	s, err := term.GetState(int(m.tty.Fd()))
	if err != nil {
		m.t.Fatal(err)
	}
	return s
}

// has reports whether the terminal's driver is set as it was.
func (m *terminal) has(modes *term.State) bool { return reflect.DeepEqual(m.modes(), modes) }

// untilStopped waits until the program is suspended.
func (m *terminal) untilStopped() {
	m.t.Helper()
	var status unix.WaitStatus
	_, err := unix.Wait4(m.cmd.Process.Pid, &status, unix.WUNTRACED, nil)
	for errors.Is(err, unix.EINTR) {
		_, err = unix.Wait4(m.cmd.Process.Pid, &status, unix.WUNTRACED, nil)
	}
	if err != nil || !status.Stopped() {
		m.t.Fatalf("the program is not suspended: %v, %v", status, err)
	}
}
