package session

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdfast/session/process"
	"holdfast/store"
)

// raw is a program that says when its terminal is in raw mode.
func raw(script string) []string {
	return []string{"sh", "-c", "stty raw -echo; echo ready; " + script}
}

func TestInputIsTypedInOrderAndNeverMixed(t *testing.T) {
	c := open(t, t.TempDir())
	v := newSession(t, c, raw("exec cat")...)
	waitOutput(t, c, v.ID, "ready")
	start := len(output(t, c, v.ID))
	const posts, size = 40, 3000
	var wg sync.WaitGroup
	for i := range posts {
		wg.Go(func() {
			data := bytes.Repeat([]byte{byte('A' + i)}, size)
			r, err := c.Input(t.Context(), v.ID, Input{Data: data})
			if err != nil || r.Written != size {
				t.Errorf("input %d = %+v, %v; want %d written", i, r, err, size)
			}
		})
	}
	wg.Wait()
	waitFor(t, c, v.ID, "all the output", func(v View) bool { return v.Cursor >= int64(start+posts*size) })
	got := output(t, c, v.ID)[start:]
	for i := 0; i < len(got); i += size {
		if piece := got[i : i+size]; strings.Count(piece, piece[:1]) != size {
			t.Fatalf("bytes %d to %d are mixed", i, i+size)
		}
	}
}

func TestReceiptHasTheCursorBeforeTheInput(t *testing.T) {
	c := open(t, t.TempDir())
	v := newSession(t, c, "sh", "-c", "printf 12345; exec cat")
	waitOutput(t, c, v.ID, "12345")
	if r := typeIn(t, c, v.ID, "x\r"); r.Cursor != 5 {
		t.Errorf("receipt = %+v, want cursor 5", r)
	}
}

// A program that does not read delays its own session only, and the receipt
// is true.
func TestInputThatIsNotTaken(t *testing.T) {
	c := open(t, t.TempDir(), func(cfg *Config) { cfg.InputTimeout = 200 * time.Millisecond })
	stuck, other := newSession(t, c, raw("sleep 1000")...), newSession(t, c, "cat")
	waitOutput(t, c, stuck.ID, "ready")
	in := Input{Data: bytes.Repeat([]byte("x"), 1<<20), Key: "big"}
	r, err := c.Input(t.Context(), stuck.ID, in)
	if !errors.Is(err, ErrNotTaken) || r.Written <= 0 || r.Written >= len(in.Data) {
		t.Fatalf("Input = %+v, %v; want part of it and ErrNotTaken", r, err)
	}
	again, err := c.Input(t.Context(), stuck.ID, in)
	if !errors.Is(err, ErrNotTaken) || again != r {
		t.Errorf("repeated Input = %+v, %v; want the first receipt %+v", again, err, r)
	}
	typeIn(t, c, other.ID, "still fine\r")
	waitOutput(t, c, other.ID, "still fine\r\nstill fine")
	if r, err := c.Input(t.Context(), stuck.ID, Input{Data: in.Data}); !errors.Is(err, ErrNotTaken) || r.Written == len(in.Data) {
		t.Errorf("Input behind it = %+v, %v; want not all typed and ErrNotTaken", r, err)
	}
	if _, err := c.Stop(stuck.ID); err != nil {
		t.Error(err)
	}
}

// Nor does it keep a sender that gives up, first or not.
func TestASenderThatGivesUp(t *testing.T) {
	c := open(t, t.TempDir(), func(cfg *Config) { cfg.InputTimeout = time.Hour })
	v := newSession(t, c, raw("sleep 1000")...)
	waitOutput(t, c, v.ID, "ready")
	for range 2 {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		_, err := c.Input(ctx, v.ID, Input{Data: make([]byte, maxQueued/2)})
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Input = %v, want %v", err, context.DeadlineExceeded)
		}
	}
	if _, err := c.Stop(v.ID); err != nil {
		t.Error(err)
	}
}

func TestFullQueueRefuses(t *testing.T) {
	c := open(t, t.TempDir())
	v := newSession(t, c, raw("sleep 1000")...)
	waitOutput(t, c, v.ID, "ready")
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := c.Input(ctx, v.ID, Input{Data: make([]byte, maxQueued)})
		if !errors.Is(err, ErrNotLive) && !errors.Is(err, context.Canceled) {
			t.Errorf("the input that fills the queue: %v", err)
		}
	})
	l := c.lookup(v.ID)
	for full := false; !full; {
		l.input.mu.Lock()
		full = l.input.bytes == maxQueued
		l.input.mu.Unlock()
	}
	if r, err := c.Input(t.Context(), v.ID, Input{Data: []byte("x")}); !errors.Is(err, ErrQueueFull) || r.Written != 0 {
		t.Errorf("Input = %+v, %v; want ErrQueueFull", r, err)
	}
	cancel()
	if _, err := c.Stop(v.ID); err != nil {
		t.Error(err)
	}
	wg.Wait()
}

func TestIdempotencyKey(t *testing.T) {
	c := open(t, t.TempDir())
	v := newSession(t, c, "cat")
	in := Input{Data: []byte("once\r"), Key: "k1"}
	first, err := c.Input(t.Context(), v.ID, in)
	if err != nil {
		t.Fatal(err)
	}
	waitOutput(t, c, v.ID, "once\r\nonce\r\n")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			r, err := c.Input(t.Context(), v.ID, in)
			if diff := cmp.Diff(first, r); diff != "" || err != nil {
				t.Errorf("repeated input: %v (-want +got):\n%s", err, diff)
			}
		})
	}
	wg.Wait()
	if _, err := c.Input(t.Context(), v.ID, Input{Data: []byte("other\r"), Key: "k1"}); !errors.Is(err, ErrKeyReused) {
		t.Errorf("the key with other input: %v, want ErrKeyReused", err)
	}
	typeIn(t, c, v.ID, "end\r")
	waitOutput(t, c, v.ID, "end\r\nend\r\n")
	if got, want := output(t, c, v.ID), "once\r\nonce\r\nend\r\nend\r\n"; got != want {
		t.Errorf("output = %q, want %q", got, want)
	}
}

// Requests under one key that arrive together type once.
func TestIdempotencyKeyInFlight(t *testing.T) {
	c := open(t, t.TempDir())
	v := newSession(t, c, "cat")
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if r, err := c.Input(t.Context(), v.ID, Input{Data: []byte("x\r"), Key: "same"}); err != nil || r.Written != 2 {
				t.Errorf("Input = %+v, %v; want 2 written", r, err)
			}
		})
	}
	wg.Wait()
	waitOutput(t, c, v.ID, "x\r\nx\r\n")
	typeIn(t, c, v.ID, "end\r")
	waitOutput(t, c, v.ID, "end\r\nend\r\n")
	if got, want := output(t, c, v.ID), "x\r\nx\r\nend\r\nend\r\n"; got != want {
		t.Errorf("output = %q, want %q", got, want)
	}
}

func TestLineThatTheTerminalWouldCut(t *testing.T) {
	c := open(t, t.TempDir())
	v := newSession(t, c, "sh", "-c", "stty -echo; echo ready; exec sha256sum")
	waitOutput(t, c, v.ID, "ready")
	line := strings.Repeat("x", process.MaxLine)
	in := func(s string) error {
		_, err := c.Input(t.Context(), v.ID, Input{Data: []byte(s)})
		return err
	}
	if err := in(line + "y\r"); !errors.Is(err, ErrLineTooLong) {
		t.Errorf("a line of %d bytes: %v, want ErrLineTooLong", len(line)+1, err)
	}
	if err := in(line[:4000]); err != nil {
		t.Error(err)
	}
	if err := in(line[:96]); !errors.Is(err, ErrLineTooLong) {
		t.Errorf("96 bytes more after 4000: %v, want ErrLineTooLong", err)
	}
	if err := errors.Join(in(line[:95]), in("\r"), in("\x04")); err != nil {
		t.Error(err)
	}
	want := fmt.Sprintf("%x", sha256.Sum256([]byte(line+"\n")))
	waitOutput(t, c, v.ID, want)
}

func TestLongLineInRawMode(t *testing.T) {
	c := open(t, t.TempDir())
	v := newSession(t, c, raw("head -c 300000 | sha256sum")...)
	waitOutput(t, c, v.ID, "ready")
	big := strings.Repeat("x", 300000)
	typeIn(t, c, v.ID, big)
	waitOutput(t, c, v.ID, fmt.Sprintf("%x", sha256.Sum256([]byte(big))))
}

// parkSpawn makes the next start say that it is about to spawn, and wait.
func parkSpawn(c *Controller) (spawning <-chan struct{}, spawn chan<- struct{}) {
	reached, goOn := make(chan struct{}), make(chan struct{})
	c.hook = func(step string) {
		if step == "spawn" {
			close(reached)
			<-goOn
		}
	}
	return reached, goOn
}

// waitQueued waits until an input is in the line of l.
func waitQueued(l *live) {
	for queued := false; !queued; {
		l.input.mu.Lock()
		queued = len(l.input.items) == 1
		l.input.mu.Unlock()
	}
}

// Input that comes while a start is in flight is typed after it.
func TestInputDuringAStart(t *testing.T) {
	c := open(t, t.TempDir())
	v := newSession(t, c, "head", "-n", "1")
	typeIn(t, c, v.ID, "first\r")
	waitOver(t, c, v.ID)
	spawning, spawn := parkSpawn(c)
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := c.Start(v.ID); err != nil {
			t.Error(err)
		}
	})
	<-spawning
	wg.Go(func() { typeIn(t, c, v.ID, "second\r") })
	waitQueued(c.lookup(v.ID))
	close(spawn)
	wg.Wait()
	waitOver(t, c, v.ID)
	if got, want := output(t, c, v.ID), strings.Repeat("first\r\n", 2)+strings.Repeat("second\r\n", 2); got != want {
		t.Errorf("output = %q, want %q", got, want)
	}
}

// Input that comes during a start that fails is told why.
func TestInputDuringAStartThatFails(t *testing.T) {
	c := open(t, t.TempDir())
	script := t.TempDir() + "/prog"
	writeScript(t, script, "#!/bin/sh\n")
	v := newSession(t, c, script)
	waitOver(t, c, v.ID)
	spawning, spawn := parkSpawn(c)
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := c.Start(v.ID); err == nil {
			t.Error("Start of a broken script: no error")
		}
	})
	<-spawning
	writeScript(t, script, "#!/no/such/interpreter\n")
	wg.Go(func() {
		_, err := c.Input(t.Context(), v.ID, Input{Data: []byte("x")})
		if _, ok := errors.AsType[*SpecError](err); !ok {
			t.Errorf("Input: %v, want the reason of the failed start", err)
		}
	})
	waitQueued(c.lookup(v.ID))
	close(spawn)
	wg.Wait()
	if got, err := c.Get(v.ID); err != nil || got.State != "ended" || got.Runs != 1 {
		t.Errorf("after the failed start = %+v, %v; want ended as before", got, err)
	}
}

func TestInputWithoutAProgram(t *testing.T) {
	c := open(t, t.TempDir())
	v := newSession(t, c, "true")
	waitOver(t, c, v.ID)
	if _, err := c.Input(t.Context(), v.ID, Input{Data: []byte("x")}); !errors.Is(err, ErrNotLive) {
		t.Errorf("Input to an ended session: %v, want ErrNotLive", err)
	}
	if _, err := c.Input(t.Context(), store.NewID(), Input{Data: []byte("x")}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Input to no session: %v, want ErrNotFound", err)
	}
}

func TestResizeAndSignal(t *testing.T) {
	c := open(t, t.TempDir())
	v := newSession(t, c, "sh", "-c", "trap 'stty size' WINCH; trap 'echo int' INT; echo ready; while :; do sleep 0.05; done")
	waitOutput(t, c, v.ID, "ready")
	if err := c.Resize(v.ID, 120, 40); err != nil {
		t.Fatal(err)
	}
	waitOutput(t, c, v.ID, "40 120")
	if err := c.Signal(v.ID, "int"); err != nil {
		t.Fatal(err)
	}
	waitOutput(t, c, v.ID, "int")
	if err := c.Signal(v.ID, "NOPE"); !errors.Is(err, process.ErrUnknownSignal) {
		t.Errorf("Signal(NOPE): %v, want ErrUnknownSignal", err)
	}
	for _, size := range [][2]int{{0, 10}, {10, 70000}, {-1, 10}} {
		err := c.Resize(v.ID, size[0], size[1])
		if _, ok := errors.AsType[*SpecError](err); !ok {
			t.Errorf("Resize%v: %v, want a *SpecError", size, err)
		}
	}
	if got, err := c.Get(v.ID); err != nil || got.Cols != 120 || got.Rows != 40 {
		t.Errorf("size = %d x %d, %v; want 120 x 40", got.Cols, got.Rows, err)
	}
}

func TestEndOfInput(t *testing.T) {
	for _, tt := range []struct{ name, typed string }{
		{"after a line", "one\n"}, {"after half a line", "one\ntw"}, {"after nothing", ""},
	} {
		c := open(t, t.TempDir())
		v := newSession(t, c, "sh", "-c", "stty -echo; echo ready; cat; echo over")
		waitOutput(t, c, v.ID, "ready")
		if tt.typed != "" {
			typeIn(t, c, v.ID, tt.typed)
		}
		if _, err := c.Input(t.Context(), v.ID, Input{End: true}); err != nil {
			t.Errorf("%s: end of the input: %v", tt.name, err)
		}
		waitOver(t, c, v.ID)
		want := "ready\r\n" + strings.ReplaceAll(tt.typed, "\n", "\r\n") + "over\r\n"
		if got := output(t, c, v.ID); got != want {
			t.Errorf("%s: the program prints %q, want %q", tt.name, got, want)
		}
	}
}

// What reads keys, not lines, gets nothing that it would take for one.
func TestEndOfInputInRawMode(t *testing.T) {
	c := open(t, t.TempDir())
	v := newSession(t, c, raw("head -c 1")...)
	waitOutput(t, c, v.ID, "ready")
	if r, err := c.Input(t.Context(), v.ID, Input{End: true}); err != nil || r.Written != 0 {
		t.Errorf("end of the input = %+v, %v; want nothing typed", r, err)
	}
	typeIn(t, c, v.ID, "x")
	waitOver(t, c, v.ID)
	if got := output(t, c, v.ID); !strings.HasSuffix(got, "ready\nx") {
		t.Errorf("the program got %q, want x", got)
	}
}
