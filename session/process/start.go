//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// Supported says whether Start can run programs on this system.
const Supported = true

// A Process is a program on a PTY.
type Process struct {
	id     Identity
	master *os.File        // non-blocking, in the poller
	conn   syscall.RawConn // of master; every system call on it goes through this
	exited chan struct{}   // closed by watch, after exit is set
	exit   Exit            // valid once exited is closed
	stop   sync.Once
	out    output // belongs to the reader
}

// Start runs the program of s on a new PTY, as the leader of a new kernel
// session. The caller must read it to its end and Close it.
//
// An [exec.Error] says what is wrong with the program; it matches
// [exec.ErrNotFound] (a bare name is never looked up), [fs.ErrNotExist] or
// [fs.ErrPermission]. An [fs.PathError] says what is wrong with the folder. If
// Start fails, nothing is left running.
func Start(s Spec) (*Process, error) {
	if !strings.ContainsRune(s.Path, '/') {
		return nil, &exec.Error{Name: s.Path, Err: exec.ErrNotFound}
	}
	master, tty, err := openPTY(s.Cols, s.Rows)
	if err != nil {
		return nil, fmt.Errorf("open a terminal: %w", err)
	}
	defer tty.Close()
	conn, err := master.SyscallConn()
	if err != nil {
		return nil, err // a nil master
	}
	pid, handle, err := spawn(s, tty)
	if err != nil {
		master.Close()
		return nil, startError(s, err)
	}
	return newProcess(master, conn, identify(pid), handle), nil
}

// newProcess takes over a running program: its PTY master, non-blocking and in
// the poller, and the handle that awaitExit waits on.
func newProcess(master *os.File, conn syscall.RawConn, id Identity, handle int) *Process {
	p := &Process{id: id, master: master, conn: conn, exited: make(chan struct{})}
	p.out.drainFunc = p.out.drain
	go p.watch(handle)
	return p
}

// openPTY opens a PTY with its window set and UTF-8 erasing on.
func openPTY(cols, rows uint16) (master, tty *os.File, err error) {
	opened, tty, err := pty.Open()
	if err != nil {
		return nil, nil, err
	}
	defer opened.Close()
	fd := int(tty.Fd()) // makes it blocking, as programs expect
	err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: cols, Row: rows})
	if err == nil {
		err = setUTF8(fd)
	}
	if err == nil {
		master, err = pollable(opened)
	}
	if err != nil {
		tty.Close()
		return nil, nil, err
	}
	return master, tty, nil
}

// setUTF8 makes the erase key of line mode remove a whole UTF-8 character.
func setUTF8(fd int) error {
	t, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return err
	}
	t.Iflag |= inputUTF8
	return unix.IoctlSetTermios(fd, setTermios, t)
}

// pollable returns a new file for what f has open, non-blocking and in the
// poller. The PTY package has called Fd on f, after which f blocks: deadlines
// and Close have no effect on a read under way, which pins a thread.
func pollable(f *os.File) (*os.File, error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	dup := -1
	ctlErr := conn.Control(func(fd uintptr) {
		dup, err = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0)
	})
	if err := errors.Join(ctlErr, err); err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(dup, true); err != nil {
		unix.Close(dup)
		return nil, err
	}
	master := os.NewFile(uintptr(dup), f.Name())
	if err := master.SetDeadline(noDeadline); err != nil { // it is not in the poller
		master.Close()
		return nil, err
	}
	return master, nil
}

// spawn starts the program. The handle is for awaitExit.
func spawn(s Spec, tty *os.File) (pid, handle int, err error) {
	sealDescriptors()
	catchIgnored()
	attr := &syscall.ProcAttr{
		Dir:   s.Dir,
		Env:   s.Env,
		Files: []uintptr{tty.Fd(), tty.Fd(), tty.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true, Setctty: true},
	}
	h := wantHandle(attr.Sys)
	pid, err = syscall.ForkExec(s.Path, s.Argv, attr)
	return pid, *h, err
}

// catchIgnored makes signals that this process ignores caught and dropped. A
// program would inherit that they are ignored (HUP under nohup, INT in the
// background of a script), and not die of ^C; a handler ends at exec.
func catchIgnored() {
	for _, sig := range []os.Signal{unix.SIGHUP, unix.SIGINT} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig) // nobody receives
		}
	}
}

// startError says whether the machine, the folder or the program is to blame
// for a failed fork, chdir or exec.
func startError(s Spec, err error) error {
	switch err {
	case unix.EAGAIN, unix.ENOMEM, unix.EMFILE, unix.ENFILE:
		return fmt.Errorf("start %q: %w", s.Path, err)
	}
	if s.Dir != "" {
		if dirErr := unix.Access(s.Dir+"/.", unix.X_OK); dirErr != nil {
			return &fs.PathError{Op: "chdir", Path: s.Dir, Err: dirErr}
		}
	}
	path := s.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.Dir, path)
	}
	if _, statErr := os.Stat(path); statErr == nil && err == unix.ENOENT {
		err = fmt.Errorf("its interpreter: %w", err)
	}
	return &exec.Error{Name: s.Path, Err: err}
}
