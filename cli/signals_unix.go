//go:build unix

package cli

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// watchSignals follows the size of the terminal, and the shell that suspends
// this process and brings it back. The caller must call what it returns.
func (f *front) watchSignals() (stop func()) {
	heard := make(chan os.Signal, 8)
	signal.Notify(heard, unix.SIGWINCH, unix.SIGTSTP, unix.SIGCONT)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for sig := range heard {
			switch {
			case sig == unix.SIGWINCH:
				f.resize()
			case sig == unix.SIGTSTP && !f.interrupt(errSuspend):
				f.suspend()
			case sig == unix.SIGCONT: // it may have been stopped without being asked
				f.tty.raw()
				f.resize()
			}
		}
	}()
	return func() {
		signal.Stop(heard)
		close(heard)
		<-done
	}
}

// suspend stops this process until its shell brings it back. The terminal is
// the shell's meanwhile.
func (f *front) suspend() {
	back := make(chan os.Signal, 1)
	signal.Notify(back, unix.SIGCONT)
	defer signal.Stop(back)
	f.leave()
	unix.Kill(unix.Getpid(), unix.SIGSTOP)
	<-back // other threads may run on for a moment
	f.tty.raw()
}

// unstopped changes the mode of the terminal also while it is another job's:
// whoever does that is stopped otherwise, and would keep its session so for ever
// when the shell that could bring it back has gone.
func unstopped(change func()) {
	signal.Ignore(unix.SIGTTOU)
	defer signal.Reset(unix.SIGTTOU)
	change()
}

// signalNumber is the number of a signal such as KILL; 0 if it is unknown.
func signalNumber(name string) int { return int(unix.SignalNum("SIG" + name)) }
