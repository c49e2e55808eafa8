package leasefs

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

func init() {
	roles["readonly"] = readOnlyRole
	roles["no room"] = noRoomRole
}

// A child between fork and exec shares the open file. A lock that is only
// closed, not unlocked, then refuses the next try now and then.
func TestNoFalseRefusalBesideAStormOfExec(t *testing.T) {
	path := lockPath(t)
	stop := make(chan struct{})
	var storm sync.WaitGroup
	var spawned [2]int
	for i := range spawned {
		storm.Go(func() {
			for !closed(stop) {
				if err := exec.Command("/bin/true").Run(); err != nil {
					t.Error(err)
					return
				}
				spawned[i]++
			}
		})
	}
	var leases, refused int
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); {
		l, err := attempt(path, self()) // one try, without the doubt of Acquire
		if errors.Is(err, errRefused) {
			refused++
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		leases++
		if err := l.Release(); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	storm.Wait()
	t.Logf("%d programs started, %d leases, %d false refusals", spawned[0]+spawned[1], leases, refused)
	if refused != 0 || leases == 0 || spawned[0] == 0 {
		t.Errorf("%d false refusals in %d leases beside %v programs", refused, leases, spawned)
	}
}

func TestProgramOnATerminalDoesNotGetTheLockFile(t *testing.T) {
	path := lockPath(t)
	mustAcquire(t, path, self())
	cmd := exec.Command("/bin/sh", "-c", "echo up; read line")
	terminal, err := pty.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	defer terminal.Close()
	if _, err := bufio.NewReader(terminal).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	lock, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	open, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", cmd.Process.Pid))
	if err != nil || len(open) < 3 {
		t.Fatalf("open files of the program: %v, %v", open, err)
	}
	for _, fd := range open {
		if info, err := os.Stat(fd); err == nil && os.SameFile(info, lock) {
			t.Errorf("%s is the lock file", fd)
		}
	}
}

func TestReadOnlyFolderIsNotHeld(t *testing.T) {
	path := lockPath(t)
	dir := filepath.Dir(path)
	if err := errors.Join(os.Chmod(dir, 0o555), os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
		t.Fatal(err)
	}
	cmd := command(t, "readonly", path)
	cmd.Dir = dir
	got := answer(t, cmd)
	if got.Got || got.Held || !got.ReadOnly {
		t.Errorf("Acquire in a read-only folder: %+v, want ErrReadOnly", got)
	}
}

// readOnlyRole tries as somebody who may not write.
func readOnlyRole(path string) error {
	if os.Getuid() == 0 {
		if err := syscall.Setuid(65534); err != nil {
			return err
		}
	}
	if _, err := Probe(filepath.Dir(path)); !errors.Is(err, ErrReadOnly) {
		return fmt.Errorf("Probe = %v, want ErrReadOnly", err)
	}
	return tryRole(path)
}

// What fills the disk must be removable, and a removal needs its lease.
func TestLeaseIsHadWhereNoRecordCanBeWritten(t *testing.T) {
	if got := answer(t, command(t, "no room", lockPath(t))); !got.Got {
		t.Errorf("Guard without room for a record: %+v", got)
	}
}

func noRoomRole(path string) error {
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{}); err != nil {
		return err
	}
	err := Guard(path, self(), func() error {
		if h, err := readRecord(path); h != nil || err != nil {
			return fmt.Errorf("record %v, %v, want none", h, err)
		}
		return nil
	})
	return json.NewEncoder(os.Stdout).Encode(outcomeOf(err))
}
