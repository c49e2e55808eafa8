package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A run in a pipe that waits for a full disk says so, once, and goes on when
// there is room.
func TestRunTellsOfAFullDisk(t *testing.T) {
	t.Parallel()
	d := newDisk(t, "size=8m")
	d.leave(1 << 20)
	cmd := exec.Command(d.exe, "run", "--store", d.store(), "--", "head", "-c", "3000000", "/dev/zero")
	cmd.Env = append(os.Environ(), roleEnv+"=main")
	var stdout, stderr lockedBuffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	told := func() bool { return strings.Contains(stderr.String(), full) }
	eventually(t, "word of the full disk", told)
	d.free()
	if err := cmd.Wait(); err != nil {
		t.Errorf("run: %v", err)
	}
	if got := strings.Count(stdout.String(), "\x00"); got != 3000000 {
		t.Errorf("%d bytes came, want 3000000", got)
	}
	if got, want := stderr.String(), "holdfast: the store cannot be written, and the program waits: "; strings.Count(got, want) != 1 {
		t.Errorf("standard error has %q, want once %q", got, want)
	}
}
