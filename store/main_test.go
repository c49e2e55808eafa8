package store

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"holdfast/internal/leaks"
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
	os.Exit(leaks.Check(os.Stderr, m.Run(), "holdfast/store.", nil))
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
