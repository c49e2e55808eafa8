package process

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The kernel still has output queued when a quick program is gone.
func TestQuickProgramLosesNoByte(t *testing.T) {
	var want []byte
	for i := 0; len(want) < 200_000; i++ {
		want = fmt.Appendf(want, "%d,", i)
	}
	file := filepath.Join(t.TempDir(), "out")
	if err := os.WriteFile(file, want, 0o600); err != nil {
		t.Fatal(err)
	}
	const runs, atOnce = 200, 8
	work := make(chan int)
	var wg sync.WaitGroup
	for range atOnce {
		wg.Go(func() {
			for i := range work {
				if got := readRun(t, file, 512<<(i%8)); !bytes.Equal(got, want) {
					t.Errorf("run %d: %d bytes, want %d", i, len(got), len(want))
				}
			}
		})
	}
	for i := range runs {
		work <- i
	}
	close(work)
	wg.Wait()
}

// readRun returns the output of cat FILE, read size bytes at a time.
func readRun(t *testing.T, file string, size int) []byte {
	p, err := Start(Spec{Path: "/bin/cat", Argv: []string{"cat", file}, Cols: 80, Rows: 24})
	if err != nil {
		t.Error(err)
		return nil
	}
	defer p.Close()
	var got []byte
	for buf := make([]byte, size); err == nil; {
		var n int
		n, err = p.Read(buf)
		got = append(got, buf[:n]...)
	}
	if err != io.EOF {
		t.Errorf("read: %v", err)
	}
	if diff := cmp.Diff(Exit{}, p.Wait()); diff != "" {
		t.Errorf("exit (-want +got):\n%s", diff)
	}
	return got
}

func TestReaderThatComesLateReadsAll(t *testing.T) {
	p := sh(t, `printf 'last %s' words`)
	p.Wait()
	if got, want := string(readAll(t, p)), "last words"; got != want {
		t.Errorf("output = %q, want %q", got, want)
	}
	if p.out.left > 0 {
		t.Error("Read waited for the grace although nobody holds the terminal open")
	}
}

// The kernel gives 4 KiB at a time.
func TestReadTakesAllThereIs(t *testing.T) {
	p := sh(t, `printf %06000d 7`)
	p.Wait()
	if n, err := p.Read(make([]byte, 8192)); n != 6000 || err != nil {
		t.Errorf("Read = %d, %v; want 6000", n, err)
	}
}

func TestReadStopsAtFullBuffer(t *testing.T) {
	p := sh(t, `printf 123456789`)
	p.Wait()
	var got []string
	buf := make([]byte, 4)
	for {
		n, err := p.Read(buf)
		if err != nil {
			break
		}
		got = append(got, string(buf[:n]))
	}
	if diff := cmp.Diff([]string{"1234", "5678", "9"}, got); diff != "" {
		t.Errorf("reads of 4 bytes (-want +got):\n%s", diff)
	}
	if n, err := p.Read(nil); n != 0 || err != nil {
		t.Errorf("Read(nil) = %d, %v", n, err)
	}
}

func TestJobThatKeepsTheTerminalDoesNotHoldTheEnd(t *testing.T) {
	for _, tt := range []struct{ name, job string }{
		{"silent", "sleep 1000"},
		{"flood", "yes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "pid")
			p := sh(t, `trap "" HUP; `+tt.job+` & echo $! >"$1"; printf 'the very end'; exit 3`, file)
			out := readAll(t, p)
			pid := pidFrom(t, file)
			if !alive(pid) {
				t.Errorf("the job was gone before the end of the output")
			}
			if got, want := p.Wait(), (Exit{Code: 3}); got != want {
				t.Errorf("exit = %+v, want %+v", got, want)
			}
			if !bytes.Contains(out, []byte("the very end")) {
				t.Errorf("output %q lacks the program's own", tail(out))
			}
		})
	}
}

// A flood never lets the terminal run empty, so the count ends it.
func TestOutputAfterTheGraceIsLimited(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	p := sh(t, `trap "" HUP; printf %03000d 7; yes & echo $! >"$1"`, file)
	pidFrom(t, file)
	p.Wait()
	p.out.phase, p.out.left = rest, 1000 // as after the grace
	if got, want := string(readAll(t, p)), strings.Repeat("0", 1000); got != want {
		t.Errorf("%d bytes %q, want %d", len(got), tail([]byte(got)), len(want))
	}
}

func TestProgramThatReopensItsTerminalIsHeard(t *testing.T) {
	p := sh(t, `exec 0<&- 1>&- 2>&-; sleep 0.2; printf 'back again' >/dev/tty`)
	if got, want := string(readAll(t, p)), "back again"; got != want {
		t.Errorf("output = %q, want %q", got, want)
	}
}

func TestCloseUnblocksRead(t *testing.T) {
	// The job keeps the terminal open, so that it is Close that counts.
	p := sh(t, `trap "" HUP; sleep 1000`)
	failed := make(chan error, 1)
	go func() {
		_, err := p.Read(make([]byte, 10))
		failed <- err
	}()
	eventually(t, "a Read that waits in the poller", func() bool { return waiting("(*Process).Read") == 1 })
	p.Close()
	if err := <-failed; !errors.Is(err, os.ErrClosed) {
		t.Errorf("Read = %v, want %v", err, os.ErrClosed)
	}
	if _, err := p.Read(make([]byte, 10)); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Read after Close = %v, want %v", err, os.ErrClosed)
	}
}

func TestIdleProgramsTakeNoThreads(t *testing.T) {
	const programs = 40
	before := threads(t)
	for range programs {
		p := launch(t, Spec{Path: "/bin/cat", Argv: []string{"cat"}})
		keepReading(t, p)
	}
	eventually(t, "all wait in the poller", func() bool {
		return waiting("(*Process).Read") == programs && waiting("awaitExit") == programs
	})
	if got := threads(t) - before; got > programs/2 {
		t.Errorf("%d programs took %d threads", programs, got)
	}
}

func threads(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "Threads:")
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return n
}
