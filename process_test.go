package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/cli"
)

// binDir is where built has built, if it has. TestMain removes it.
var binDir string

var built = sync.OnceValues(func() (path string, err error) {
	if binDir, err = os.MkdirTemp("", "holdfast-test-"); err != nil {
		return "", err
	}
	path = filepath.Join(binDir, "holdfast")
	build := exec.Command("go", "build", "-trimpath", "-o", path, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
})

// buildHoldfast builds the program as scripts/start does, once for all tests,
// and returns its path.
func buildHoldfast(tb testing.TB) string {
	tb.Helper()
	path, err := built()
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

// A serverProcess is serve in a process of its own.
type serverProcess struct {
	*exec.Cmd
	store      string
	url, token string // once it was announced
	logs       *lockedBuffer
	wait       func() error // for the process; again gives the same
	stdout     io.Reader
}

// startServerProcess runs serve until the test ends, and returns when it
// listens. The program is exe, or this test binary, with its race detector, if
// exe is empty.
func startServerProcess(tb testing.TB, exe, store string, args ...string) *serverProcess {
	tb.Helper()
	p := launch(tb, exe, store, args...)
	if err := p.announced(); err != nil {
		tb.Fatal(err)
	}
	return p
}

// launch is startServerProcess without the waiting.
func launch(tb testing.TB, exe, store string, args ...string) *serverProcess {
	tb.Helper()
	p := prepare(tb, exe, store, append([]string{"--listen", "127.0.0.1:0"}, args...)...)
	p.start(tb)
	return p
}

// prepare is launch without the start, and listens where args say.
func prepare(tb testing.TB, exe, store string, args ...string) *serverProcess {
	tb.Helper()
	if exe == "" {
		var err error
		if exe, err = os.Executable(); err != nil {
			tb.Fatal(err)
		}
	}
	p := &serverProcess{store: store, logs: new(lockedBuffer)}
	p.Cmd = exec.Command(exe, append([]string{"serve", "--store", store}, args...)...)
	p.Env = append(os.Environ(), roleEnv+"=main")
	p.Stderr = io.MultiWriter(p.logs, tb.Output())
	p.WaitDelay = patience // nobody else may have its standard error
	return p
}

// start runs what was prepared until the test ends.
func (p *serverProcess) start(tb testing.TB) {
	tb.Helper()
	var err error
	if p.stdout, err = p.StdoutPipe(); err != nil {
		tb.Fatal(err)
	}
	if err := p.Start(); err != nil {
		tb.Fatal(err)
	}
	p.wait = sync.OnceValue(p.Wait)
	tb.Cleanup(func() {
		p.kill()
		if logs := p.logs.String(); strings.Contains(logs, "DATA RACE") || strings.Contains(logs, "panic:") {
			tb.Errorf("the server's log:\n%s", logs)
		}
	})
}

// announced waits until the server listens.
func (p *serverProcess) announced() error {
	line, err := bufio.NewReader(p.stdout).ReadString('\n')
	if err != nil {
		return fmt.Errorf("serve does not listen: %w\n%s", errors.Join(err, p.wait()), p.logs)
	}
	m := announcement.FindStringSubmatch(line)
	if m == nil {
		return fmt.Errorf("serve prints %q", line)
	}
	p.url, p.token = m[1], m[2]
	return nil
}

// kill ends the process, if it still runs, as nothing can prevent.
func (p *serverProcess) kill() {
	p.Process.Kill()
	p.wait()
}

// client is how tests talk to the process.
func (p *serverProcess) client(t *testing.T) *testServer {
	t.Helper()
	f, err := cli.ReadServerFile(p.store)
	if err != nil {
		t.Fatal(err)
	}
	return &testServer{t: t, url: p.url, unix: unixClient(t, f.Socket)}
}

// eventually waits for what must come.
func eventually(tb testing.TB, what string, ok func() bool) {
	tb.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			tb.Fatalf("%s never came", what)
		}
	}
}
