package leasefs

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"holdfast/internal/leaks"
)

// Other processes are this test binary, run again with roleVar naming what to
// do. A role answers on standard output and ends when its input does.
const (
	roleVar = "LEASEFS_TEST_ROLE"
	pathVar = "LEASEFS_TEST_PATH"
	weakVar = "LEASEFS_TEST_WEAK"
)

var roles = map[string]func(path string) error{
	"try":     tryRole,
	"hold":    holdRole,
	"contend": contendRole,
	"die":     dieRole,
}

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVar); role != "" {
		if err := roles[role](os.Getenv(pathVar)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(leaks.Check(os.Stderr, m.Run(), "holdfast/leasefs.", Held))
}

// self is this process as the tests name it.
func self() Options {
	return Options{Self: Holder{PID: os.Getpid(), Start: 7, Boot: "b00t", Host: "build7", Front: "serve"}}
}

// lockPath returns a path for a lock file, and checks in the end that no test
// leaves a lease behind.
func lockPath(t testing.TB) string {
	t.Helper()
	t.Cleanup(func() {
		if got := Held(); len(got) != 0 {
			t.Errorf("leases left behind: %v", got)
		}
	})
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "session.lock")
}

func mustAcquire(t testing.TB, path string, o Options) *Lease {
	t.Helper()
	l, err := Acquire(path, o)
	if err != nil {
		t.Fatalf("Acquire: %v", err)
	}
	t.Cleanup(func() { l.Release() })
	return l
}

// command returns another process in a role.
func command(t testing.TB, role, path string, env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	// The race detector would wait a second at each exit.
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", roleVar+"="+role, pathVar+"="+path)
	cmd.Env = append(cmd.Env, env...)
	cmd.Stderr = os.Stderr
	return cmd
}

// An outcome is how an Acquire went in another process.
type outcome struct {
	Got      bool
	Held     bool
	ReadOnly bool
	Err      string
	Holder   *Holder
}

func outcomeOf(err error) outcome {
	if err == nil {
		return outcome{Got: true}
	}
	o := outcome{
		Held:     errors.Is(err, ErrHeld),
		ReadOnly: errors.Is(err, ErrReadOnly),
		Err:      err.Error(),
	}
	if held, ok := errors.AsType[*HeldError](err); ok {
		o.Holder = held.Holder
	}
	return o
}

// tryElsewhere acquires and releases in another process.
func tryElsewhere(t testing.TB, path string) outcome {
	t.Helper()
	return answer(t, command(t, "try", path))
}

func answer(t testing.TB, cmd *exec.Cmd) outcome {
	t.Helper()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("other process: %v", err)
	}
	var o outcome
	if err := json.Unmarshal(out, &o); err != nil {
		t.Fatalf("other process said %q: %v", out, err)
	}
	return o
}

func tryRole(path string) error {
	l, err := Acquire(path, self())
	if err := json.NewEncoder(os.Stdout).Encode(outcomeOf(err)); err != nil || l == nil {
		return err
	}
	return l.Release()
}

// holdElsewhere has another process hold the lease until its input is closed
// or it is killed.
func holdElsewhere(t testing.TB, path string) (*exec.Cmd, io.Closer) {
	t.Helper()
	cmd := command(t, "hold", path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); strings.TrimSpace(line) != "held" {
		t.Fatalf("holder said %q, %v", line, err)
	}
	return cmd, in
}

func holdRole(path string) error {
	l, err := Acquire(path, self())
	if err != nil {
		return err
	}
	fmt.Println("held")
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return l.Release()
}
