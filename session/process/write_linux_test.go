package process

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// raw is the start of a script that takes every byte as it is.
const raw = `stty raw -echo; printf ready; `

func pattern(n int) []byte {
	var b []byte
	for i := 0; len(b) < n; i++ {
		b = fmt.Appendf(b, "%x.", i)
	}
	return b[:n]
}

func TestEmptyWriteTypesNothing(t *testing.T) {
	p := sh(t, `cat`)
	if n, err := p.Write(t.Context(), nil); n != 0 || err != nil {
		t.Errorf("Write(nil) = %d, %v", n, err)
	}
	typeIn(t, p, "line\n")
	if got, want := readUntil(t, p, "line\r\nline\r\n"), "line\r\nline\r\n"; got != want {
		t.Errorf("output = %q, want %q", got, want)
	}
}

func TestHugeWriteArrivesWhole(t *testing.T) {
	p := sh(t, raw+`head -c 1048576 | sha256sum`)
	readUntil(t, p, "ready")
	want := pattern(1 << 20)
	typeIn(t, p, string(want))
	got := string(readAll(t, p))
	if sum := fmt.Sprintf("%x", sha256.Sum256(want)); !strings.HasPrefix(got, sum) {
		t.Errorf("sum of what arrived = %q, want %q", got, sum)
	}
}

func TestWriteThatIsCutOffCountsWhatWasTaken(t *testing.T) {
	file := filepath.Join(t.TempDir(), "count")
	p := sh(t, raw+`while [ ! -s "$1" ]; do sleep 0.01; done; head -c "$(cat "$1")" | sha256sum`, file)
	readUntil(t, p, "ready")

	input := pattern(1 << 20)
	ctx, cancel := context.WithCancel(t.Context())
	type result struct {
		n   int
		err error
	}
	done := make(chan result, 1)
	go func() {
		n, err := p.Write(ctx, input)
		done <- result{n, err}
	}()
	eventually(t, "a Write that waits in the poller", func() bool { return waiting("(*Process).Write") == 1 })
	cancel()
	got := <-done
	if got.n == 0 || got.n == len(input) || !errors.Is(got.err, context.Canceled) {
		t.Fatalf("Write = %d, %v; want a part of it and %v", got.n, got.err, context.Canceled)
	}

	// If the count is true, the next bytes follow what was taken.
	const next = "!the next input"
	if err := os.WriteFile(file, fmt.Appendf(nil, "%d", got.n+len(next)), 0o600); err != nil {
		t.Fatal(err)
	}
	typeIn(t, p, next)
	want := fmt.Sprintf("%x", sha256.Sum256(append(bytes.Clone(input[:got.n]), next...)))
	if out := string(readAll(t, p)); !strings.HasPrefix(out, want) {
		t.Errorf("sum of what arrived = %q, want %q (%d bytes)", out, want, got.n)
	}
}

// The kill character empties a line that the program has not read, and makes
// room of which the kernel gives no word.
func TestWriteOfWhatTheTerminalDiscards(t *testing.T) {
	p := sh(t, `stty -echo; printf ready; cat`)
	readUntil(t, p, "ready")
	typeIn(t, p, strings.Repeat(strings.Repeat("x", 50)+"\x15", 4000)+"end\n")
	readUntil(t, p, "end\r\n")
}

// What a TryWrite leaves is for a Write; nothing is missing between them, and
// nothing comes twice.
func TestTryWriteTypesWhatIsTakenAtOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "go")
	p := sh(t, raw+`while [ ! -e "$1" ]; do sleep 0.01; done; head -c 1048576 | sha256sum; exit`, file)
	readUntil(t, p, "ready")
	input := pattern(1 << 20)
	n, err := p.TryWrite(input)
	if n == 0 || n == len(input) || err != nil {
		t.Fatalf("TryWrite = %d, %v; want a part of it", n, err)
	}
	if n, err := p.TryWrite(input[n:]); n != 0 || err != nil {
		t.Errorf("TryWrite into a full terminal = %d, %v", n, err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	typeIn(t, p, string(input[n:]))
	want := fmt.Sprintf("%x", sha256.Sum256(input))
	if out := string(readAll(t, p)); !strings.HasPrefix(out, want) {
		t.Errorf("sum of what arrived = %q, want %q", out, want)
	}
	p.Wait()
	if n, err := p.TryWrite(input); n != 0 || !errors.Is(err, ErrExited) {
		t.Errorf("TryWrite after the exit = %d, %v; want %v", n, err, ErrExited)
	}
	p.Close()
	if n, err := p.TryWrite(input); n != 0 || err == nil {
		t.Errorf("TryWrite after Close = %d, %v", n, err)
	}
}

func TestWriteWithEndedContextTypesNothingMore(t *testing.T) {
	p := sh(t, raw+`exec sleep 1000`)
	readUntil(t, p, "ready")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 3 {
		n, err := p.Write(ctx, pattern(1<<20))
		if n == 1<<20 || !errors.Is(err, context.Canceled) {
			t.Errorf("Write = %d, %v; want %v", n, err, context.Canceled)
		}
	}
}

func TestBlockedWriteDoesNotHoldReadersUp(t *testing.T) {
	p := sh(t, raw+`while :; do printf tick; sleep 0.01; done`)
	readUntil(t, p, "ready")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = p.Write(ctx, pattern(1<<20)) // is cut off
	}()
	eventually(t, "a Write that waits in the poller", func() bool { return waiting("(*Process).Write") == 1 })
	readUntil(t, p, "tickticktick")
	select {
	case <-done:
		t.Error("the Write ended before the reading")
	default:
	}
	cancel()
	<-done
}

func TestCloseUnblocksWrite(t *testing.T) {
	p := sh(t, raw+`trap "" HUP; exec sleep 1000`)
	readUntil(t, p, "ready")
	if err := blockedWrite(t, p, func() { p.Close() }); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Write = %v, want %v", err, os.ErrClosed)
	}
}

func TestExitUnblocksWrite(t *testing.T) {
	// The job keeps the terminal open, so that it is the exit that counts.
	file := filepath.Join(t.TempDir(), "pid")
	p := sh(t, raw+`trap "" HUP; sleep 1000 & echo $! >"$1"; kill -KILL $$`, file)
	pidFrom(t, file)
	p.Wait()
	if n, err := p.Write(t.Context(), []byte("x")); n != 0 || !errors.Is(err, ErrExited) {
		t.Errorf("Write after the exit = %d, %v; want %v", n, err, ErrExited)
	}

	p = sh(t, raw+`trap "" HUP; sleep 1000 & echo $! >"$1"; exec sleep 1000`, file+"2")
	job := pidFrom(t, file+"2")
	readUntil(t, p, "ready")
	if err := blockedWrite(t, p, func() { _ = unix.Kill(p.Identity().PID, unix.SIGKILL) }); !errors.Is(err, ErrExited) {
		t.Errorf("Write = %v, want %v", err, ErrExited)
	}
	if !alive(job) {
		t.Error("the job that keeps the terminal is gone")
	}
}

// blockedWrite returns the error of a Write that waits when unblock is called.
func blockedWrite(t *testing.T, p *Process, unblock func()) error {
	t.Helper()
	failed := make(chan error, 1)
	go func() {
		_, err := p.Write(t.Context(), pattern(1<<20))
		failed <- err
	}()
	eventually(t, "a Write that waits in the poller", func() bool { return waiting("(*Process).Write") == 1 })
	unblock()
	return <-failed
}
