package leasefs

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

const contenders = 6

// weakened is the protocol without one of its parts. removes says how the
// contenders remove the lock file now and then.
var weakened = map[string]struct {
	hooks   testHooks
	removes bool // unlink while held
}{
	"":                                    {removes: true},
	"no inode check":                      {testHooks{skipInodeCheck: true}, true},
	"unlink after unlock":                 {testHooks{unlinkAfterUnlock: true}, false},
	"no inode check, unlink after unlock": {testHooks{skipInodeCheck: true, unlinkAfterUnlock: true}, false},
}

// A tally is what one contender, or all of them, saw.
type tally struct {
	Rounds, Removed, Refused, Violations int
}

func TestSixContendersAreNeverTwoHolders(t *testing.T) {
	path := lockPath(t)
	sum, counted := contend(t, path, "", 3*time.Second)
	t.Logf("%d contenders: %d leases (%d lock files removed while held), %d refusals, %d double holders",
		contenders, sum.Rounds, sum.Removed, sum.Refused, sum.Violations)
	if sum.Violations != 0 || counted != sum.Rounds {
		t.Errorf("%d double holders; counted %d of %d leases", sum.Violations, counted, sum.Rounds)
	}
	if sum.Rounds < 100*contenders {
		t.Errorf("only %d leases: that says nothing", sum.Rounds)
	}
}

// The test above is worth something only if it can fail.
func TestContendersFindTheFaultOfEachWeakenedProtocol(t *testing.T) {
	for weak := range weakened {
		if weak == "" {
			continue
		}
		t.Run(weak, func(t *testing.T) {
			sum, counted := contend(t, lockPath(t), weak, 20*time.Second)
			t.Logf("%d leases, %d counted, %d double holders", sum.Rounds, counted, sum.Violations)
			if sum.Violations == 0 {
				t.Errorf("no double holder in %d leases", sum.Rounds)
			}
		})
	}
}

// contend runs the contenders for a time, or until one has found a second
// holder. It returns what they saw, and what they counted in the file that
// only the lease protects.
func contend(t *testing.T, path, weak string, limit time.Duration) (sum tally, counted int) {
	t.Helper()
	if err := os.WriteFile(guardedBy(path), make([]byte, 16), 0o600); err != nil {
		t.Fatal(err)
	}
	tallies := make(chan tally, contenders)
	var inputs []io.Closer
	for range contenders {
		cmd := command(t, "contend", path, weakVar+"="+weak)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, in)
		go func() { tallies <- tallyOf(t, cmd) }()
	}
	stop := time.After(limit)
	for range contenders {
		select {
		case <-stop:
			for _, in := range inputs {
				in.Close()
			}
			stop = nil
			one := <-tallies
			sum.add(one)
		case one := <-tallies:
			for _, in := range inputs {
				in.Close()
			}
			sum.add(one)
		}
	}
	b, err := os.ReadFile(guardedBy(path))
	if err != nil {
		t.Fatal(err)
	}
	return sum, int(binary.LittleEndian.Uint64(b[8:]))
}

func tallyOf(t *testing.T, cmd *exec.Cmd) (one tally) {
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("contender: %v", err)
		return one
	}
	if err := json.Unmarshal(out, &one); err != nil {
		t.Errorf("contender said %q: %v", out, err)
	}
	return one
}

func (t *tally) add(one tally) {
	t.Rounds += one.Rounds
	t.Removed += one.Removed
	t.Refused += one.Refused
	t.Violations += one.Violations
}

func guardedBy(path string) string { return filepath.Join(filepath.Dir(path), "guarded") }

// contendRole takes and gives back the lease until its input ends or it finds
// a second holder.
func contendRole(path string) error {
	weak, known := weakened[os.Getenv(weakVar)]
	if !known {
		return fmt.Errorf("no such protocol")
	}
	o := self()
	o.test = weak.hooks
	guarded, err := os.OpenFile(guardedBy(path), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	done := make(chan struct{})
	go func() {
		io.Copy(io.Discard, os.Stdin)
		close(done)
	}()

	var one tally
	for one.Violations == 0 && !closed(done) {
		l, err := Acquire(path, o)
		if errors.Is(err, ErrHeld) {
			one.Refused++
			continue
		}
		if err != nil {
			return err
		}
		one.Rounds++
		if !alone(guarded) {
			one.Violations++
		}
		end := l.Release
		if weak.removes && one.Rounds%3 == 0 {
			end = l.Remove
			one.Removed++
		}
		if err := end(); err != nil && one.Violations == 0 && o.test == (testHooks{}) {
			return err
		}
	}
	return json.NewEncoder(os.Stdout).Encode(one)
}

func closed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// alone goes in and out of what the lease protects: 8 bytes that name who is
// inside, and 8 that count the visits. It reports whether nobody else was
// there.
func alone(guarded *os.File) bool {
	pid := uint64(os.Getpid())
	found := read(guarded, 0)
	write(guarded, 0, pid)
	visits := read(guarded, 8)
	for range 20 {
		runtime.Gosched()
		found |= read(guarded, 0) ^ pid
	}
	write(guarded, 8, visits+1)
	write(guarded, 0, 0)
	return found == 0
}

func read(f *os.File, at int64) uint64 {
	var b [8]byte
	if _, err := f.ReadAt(b[:], at); err != nil {
		panic(err)
	}
	return binary.LittleEndian.Uint64(b[:])
}

func write(f *os.File, at int64, v uint64) {
	if _, err := f.WriteAt(binary.LittleEndian.AppendUint64(nil, v), at); err != nil {
		panic(err)
	}
}
