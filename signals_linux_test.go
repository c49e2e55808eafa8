package main

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Whatever the command line asks when a signal comes, run ends by it, and
// gives the terminal back.
func TestASignalEndsTheCommandLine(t *testing.T) {
	for _, tt := range []struct{ name, line, sees string }{
		{"line", "", "holdfast> "},
		{"picker", "/sessions\r", "1 of 1 sessions"},
		{"question", "/quit\r", "Stop and leave?"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := shortStore(t)
			m := holdfastOnTerminal(t, dir, "run", "--name", "it", "--", "sh", "-c", "echo ready; exec cat")
			m.see("ready")
			m.press("\x1d")
			m.see("holdfast> ")
			if tt.line != "" {
				m.press(tt.line)
				m.see(tt.sees)
			}
			m.cmd.Process.Signal(syscall.SIGTERM)
			if got := m.wait(); got != 143 {
				t.Errorf("exit status %d, want 143", got)
			}
			m.until("a fresh terminal", func() bool { return m.has(m.was) && freshAfter(m.out.String()) })
			if v := shown(t, dir, "it"); v.State != "interrupted" || v.Holder != nil {
				t.Errorf("the session is %s, held by %v", v.State, v.Holder)
			}
		})
	}
}

// A command whose output nobody reads, or whose input nobody writes, ends by a
// signal all the same; run ends its program in order before.
func TestASignalEndsACommandThatWaitsForAPipe(t *testing.T) {
	t.Parallel()
	dir := shortStore(t)
	if got := hold(t, dir, "", "run", "--name", "big", "--", "head", "-c", "1000000", "/dev/zero"); got.Status != 0 {
		t.Fatalf("run: %+v", got)
	}
	create(startServerProcess(t, "", dir).client(t), "cat", "exec cat")
	for _, args := range []string{
		"run --name yes -- yes",
		"export big --raw",
		"export big --cast",
		"wait big --from 0 --for exit",
		"send cat",
	} {
		t.Run(args, func(t *testing.T) {
			cmd := exec.Command(buildHoldfast(t), strings.Fields(args)...)
			cmd.Env = append(os.Environ(), "HOLDFAST_STORE="+dir)
			stdin, err := cmd.StdinPipe() // and nothing comes
			if err != nil {
				t.Fatal(err)
			}
			defer stdin.Close()
			stdout, err := cmd.StdoutPipe() // and nobody reads
			if err != nil {
				t.Fatal(err)
			}
			defer stdout.Close()
			if _, err := unix.FcntlInt(stdout.(*os.File).Fd(), unix.F_SETPIPE_SZ, 1); err != nil { // a page
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer cmd.Process.Kill()
			if args == "send cat" {
				stdin.Write([]byte("typed\r"))
				eventually(t, "the text is typed", func() bool { return shown(t, dir, "cat").Cursor > 0 })
			} else {
				eventually(t, "the pipe is full", func() bool {
					n, err := unix.IoctlGetInt(int(stdout.(*os.File).Fd()), unix.TIOCINQ)
					return err == nil && n > 0
				})
			}
			cmd.Process.Signal(syscall.SIGTERM)
			cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != 143 {
				t.Errorf("exit status %d, want 143", got)
			}
		})
	}
	if v := shown(t, dir, "yes"); v.State != "interrupted" || v.Cause != "gateway_shutdown" {
		t.Errorf("the session of run is %s, cause %q", v.State, v.Cause)
	}
}
