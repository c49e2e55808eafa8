package store

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
)

// roleEnv names the part that the test binary plays when a test starts it
// again as another process.
const roleEnv = "HOLDFAST_STORE_TEST_ROLE"

// roles are the parts; each gets the command line after the binary's name.
func roles() map[string]func(args []string) error {
	return map[string]func(args []string) error{
		"crash":  crashRole,
		"limit":  limitRole,
		"raise":  raiseRole,
		"append": appendRole,
	}
}

func TestMain(m *testing.M) {
	if role := os.Getenv(roleEnv); role != "" {
		if err := roles()[role](os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	if code == 0 {
		if left := leakedGoroutines(); left != "" {
			fmt.Fprintf(os.Stderr, "goroutines left by the tests:\n%s\n", left)
			code = 1
		}
	}
	os.Exit(code)
}

// leakedGoroutines returns the stacks of goroutines in this package's code,
// after giving them a moment to end.
func leakedGoroutines() string {
	deadline := time.Now().Add(5 * time.Second)
	for {
		buf := make([]byte, 1<<20)
		buf = buf[:runtime.Stack(buf, true)]
		var left []string
		for _, g := range strings.Split(string(buf), "\n\n")[1:] {
			if strings.Contains(g, "holdfast/store.") {
				left = append(left, g)
			}
		}
		if len(left) == 0 || time.Now().After(deadline) {
			return strings.Join(left, "\n\n")
		}
		runtime.Gosched()
	}
}

// startRole starts the test binary again in a role, its stderr joined to the
// test's.
func startRole(t *testing.T, role string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, args...)
	cmd.Env = append(os.Environ(), roleEnv+"="+role)
	cmd.Stderr = t.Output()
	return cmd
}
