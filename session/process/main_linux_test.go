package process

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// patience is how long a test waits for another process before it gives up.
const patience = 20 * time.Second

// TestMain fails if a test left a goroutine or a child behind.
func TestMain(m *testing.M) {
	winch := make(chan os.Signal, 1)
	signal.Notify(winch, unix.SIGWINCH) // starts the goroutine that os/signal keeps
	signal.Stop(winch)
	goroutines := runtime.NumGoroutine()
	code := m.Run()
	if code == 0 && !holds(func() bool { return runtime.NumGoroutine() <= goroutines }) {
		fmt.Fprintf(os.Stderr, "goroutines left behind:\n%s\n", stacks())
		code = 1
	}
	if pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); code == 0 && err != unix.ECHILD {
		fmt.Fprintf(os.Stderr, "a child left behind: wait4 = %d, %v\n", pid, err)
		code = 1
	}
	os.Exit(code)
}

// holds reports whether cond becomes true in time.
func holds(cond func() bool) bool {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); time.Now().Before(end); <-tick.C {
		if cond() {
			return true
		}
	}
	return cond()
}

// eventually fails the test if cond does not become true.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	if !holds(cond) {
		t.Fatalf("never happened: %s", what)
	}
}

func stacks() []byte {
	buf := make([]byte, 1<<20)
	return buf[:runtime.Stack(buf, true)]
}

// waiting counts the goroutines that wait in the poller inside the function.
func waiting(function string) (n int) {
	for g := range bytes.SplitSeq(stacks(), []byte("\n\n")) {
		head, frames, _ := bytes.Cut(g, []byte("\n"))
		if bytes.Contains(head, []byte("[IO wait")) && bytes.Contains(frames, []byte(function)) {
			n++
		}
	}
	return n
}

// launch starts a program that is ended with the test, at the latest when the
// patience is over, so that a Read that never ends fails the test.
func launch(t testing.TB, s Spec) *Process {
	t.Helper()
	if s.Env == nil {
		s.Env = append(os.Environ(), "PS1=$ ", "LC_ALL=C")
	}
	if s.Cols == 0 {
		s.Cols, s.Rows = 80, 24
	}
	p, err := Start(s)
	if err != nil {
		t.Fatalf("Start(%q): %v", s.Argv, err)
	}
	end := func() {
		p.Stop(0)
		p.Close()
	}
	watchdog := time.AfterFunc(patience, func() {
		t.Errorf("%q takes too long", s.Argv)
		end()
	})
	t.Cleanup(func() {
		watchdog.Stop()
		end()
		<-p.Exited()
	})
	return p
}

// sh runs a shell script.
func sh(t testing.TB, script string, args ...string) *Process {
	t.Helper()
	return launch(t, Spec{Path: "/bin/sh", Argv: append([]string{"sh", "-c", script, "sh"}, args...)})
}

// bash runs an interactive bash, with job control.
func bash(t testing.TB) *Process {
	t.Helper()
	return launch(t, Spec{Path: "/bin/bash", Argv: []string{"bash", "--norc", "--noprofile", "-i"}})
}

// readAll reads p to the end.
func readAll(t testing.TB, p *Process) []byte {
	t.Helper()
	var out bytes.Buffer
	if _, err := io.CopyBuffer(&out, struct{ io.Reader }{p}, make([]byte, 64<<10)); err != nil {
		t.Fatalf("read: %v after %q", err, tail(out.Bytes()))
	}
	return out.Bytes()
}

// readUntil reads p until the output contains want, and returns the output.
func readUntil(t testing.TB, p *Process, want string) string {
	t.Helper()
	var out []byte
	buf := make([]byte, 4096)
	for !strings.Contains(string(out), want) {
		n, err := p.Read(buf)
		if err != nil {
			t.Fatalf("read: %v; want %q in %q", err, want, tail(out))
		}
		out = append(out, buf[:n]...)
	}
	return string(out)
}

// keepReading reads p to its end in the background.
func keepReading(t testing.TB, p *Process) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(io.Discard, struct{ io.Reader }{p}) // ends with p
	}()
	t.Cleanup(func() {
		p.Stop(0)
		p.Close()
		<-done
	})
}

func tail(b []byte) []byte { return b[max(0, len(b)-300):] }

// typeIn writes all of text.
func typeIn(t testing.TB, p *Process, text string) {
	t.Helper()
	if n, err := p.Write(t.Context(), []byte(text)); n != len(text) || err != nil {
		t.Fatalf("Write(%q) = %d, %v", text, n, err)
	}
}

// exists returns a condition for eventually.
func exists(path string) func() bool {
	return func() bool {
		_, err := os.Stat(path)
		return err == nil
	}
}

// pidFrom waits for a file that holds a pid and a newline. The process is killed
// with the test.
func pidFrom(t *testing.T, path string) int {
	t.Helper()
	var pid int
	eventually(t, "a pid in "+filepath.Base(path), func() bool {
		data, _ := os.ReadFile(path)
		n, _ := fmt.Sscanf(string(data), "%d\n", &pid)
		return n == 1 && bytes.HasSuffix(data, []byte("\n"))
	})
	t.Cleanup(func() { _ = unix.Kill(pid, unix.SIGKILL) })
	return pid
}

// alive reports whether pid runs.
func alive(pid int) bool {
	st, ok := readStat(pid)
	return ok && !st.dead
}
