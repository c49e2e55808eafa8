//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package process

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Identity returns who the program is.
func (p *Process) Identity() Identity { return p.id }

// Resize sets the window to cols × rows character cells and delivers SIGWINCH
// to the foreground process group, if that is a change. It returns [os.ErrClosed]
// after Close.
func (p *Process) Resize(cols, rows uint16) error {
	return p.control(func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: cols, Row: rows})
	})
}

// LineMode returns how the terminal treats what is typed now. It returns
// [os.ErrClosed] after Close.
func (p *Process) LineMode() (m LineMode, err error) {
	err = p.control(func(fd int) error {
		t, err := unix.IoctlGetTermios(fd, getTermios)
		if err == nil {
			m = lineMode(t)
		}
		return err
	})
	return m, err
}

// Signal sends the signal with the given name ("INT" or "SIGINT", in any case)
// to the terminal's foreground process group. Errors are [ErrUnknownSignal],
// [ErrExited], and the system's, such as [fs.ErrPermission] for a program that
// runs as another user.
func (p *Process) Signal(name string) error {
	full := "SIG" + strings.TrimPrefix(strings.ToUpper(name), "SIG")
	sig := unix.SignalNum(full)
	if sig == 0 {
		return fmt.Errorf("%w: %q", ErrUnknownSignal, name)
	}
	if p.hasExited() {
		return ErrExited
	}
	group := p.id.PID
	_ = p.control(func(fd int) error { // without an answer it is the program's own
		if fg, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP); err == nil && fg > 0 {
			group = fg
		}
		return nil
	})
	if err := unix.Kill(-group, sig); err != nil {
		return fmt.Errorf("send %s: %w", full, err)
	}
	return nil
}

// control calls f with the master's descriptor.
func (p *Process) control(f func(fd int) error) error {
	var err error
	if p.conn.Control(func(fd uintptr) { err = f(int(fd)) }) != nil {
		return os.ErrClosed
	}
	return err
}

// Exited returns a channel that is closed when the program has exited.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Wait blocks until the program has exited, which may be before its output has
// been read, and says how.
func (p *Process) Wait() Exit {
	<-p.exited
	return p.exit
}

func (p *Process) hasExited() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// watch waits for the program to exit and wakes the reader and the writer. Start
// starts it; it ends with the program.
func (p *Process) watch(handle int) {
	awaitExit(handle)
	p.exit = reap(p.id.PID)
	close(p.exited)
	p.master.SetDeadline(pastDeadline)
}

// reap waits for the child pid and says how it ended.
func reap(pid int) Exit {
	var ws unix.WaitStatus
	for {
		_, err := unix.Wait4(pid, &ws, 0, nil)
		if err == nil {
			break
		}
		if err != unix.EINTR {
			return Exit{Code: -1}
		}
	}
	if !ws.Signaled() {
		return Exit{Code: ws.ExitStatus()}
	}
	return Exit{Code: -1, Signal: signalName(ws.Signal())}
}

// signalName is the signal's name without SIG; real-time signals have a number.
func signalName(sig syscall.Signal) string {
	if name, ok := strings.CutPrefix(unix.SignalName(sig), "SIG"); ok {
		return name
	}
	return strconv.Itoa(int(sig))
}
