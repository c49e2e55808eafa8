//go:build unix

package cli

import (
	"io"
	"os"
	"os/exec"
	"os/signal"

	"holdfast/session"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// GuardWord is the command of a guard: a second process of ours that gives the
// terminal back when the first one could not, because it was killed or broke
// down. Nobody else calls it.
const GuardWord = "guard-the-terminal"

// A guard is that process, seen from the first.
type guard struct {
	line *os.File // to it; its end is the alarm
	cmd  *exec.Cmd
}

// startGuard starts a guard for a terminal that is still as its user had it.
// Without one the terminal is used all the same.
func startGuard(t *tty) *guard {
	exe, err := os.Executable()
	if err != nil {
		return nil
	}
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return nil
	}
	unix.CloseOnExec(ends[0])
	unix.CloseOnExec(ends[1])
	ours, its := os.NewFile(uintptr(ends[0]), "guard"), os.NewFile(uintptr(ends[1]), "guard")
	defer its.Close()
	cmd := exec.Command(exe, GuardWord)
	cmd.Stdin, cmd.Stdout, cmd.ExtraFiles, cmd.Dir = t.in, t.out, []*os.File{its}, "/"
	if err := cmd.Start(); err != nil {
		ours.Close()
		return nil
	}
	return &guard{ours, cmd}
}

// arm waits until the guard knows how the terminal is. From now on it gives
// that back, unless it is dismissed.
func (g *guard) arm() {
	if g != nil {
		g.line.Read(make([]byte, 1)) // or its end; then there is none
		g.line.Write([]byte{1})
	}
}

// dismiss ends the guard of a terminal that was given back.
func (g *guard) dismiss() {
	if g != nil {
		g.line.Write([]byte{1})
		g.line.Close()
		g.cmd.Wait()
	}
}

// Guard is what a guard does.
func Guard() {
	signal.Ignore(unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU)
	line := os.NewFile(3, "guard")
	state, err := term.GetState(0)
	if err != nil {
		return
	}
	line.Write([]byte{1})
	orders := make([]byte, 2) // armed, dismissed
	if n, _ := io.ReadFull(line, orders); n != 1 {
		return
	}
	term.Restore(0, state)
	os.Stdout.Write(session.ResetAll())
}
