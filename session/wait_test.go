package session

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"holdfast/store"
)

func wait1(t *testing.T, c *Controller, id string, spec WaitSpec, timeout time.Duration) WaitResult {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	r, err := c.Wait(ctx, id, spec)
	if err != nil {
		t.Fatalf("Wait(%+v): %v", spec, err)
	}
	return r
}

// The way of a script: send a command, wait with the receipt's cursor, and
// have exactly the command's output.
func TestWaitForTheOutputOfACommand(t *testing.T) {
	c := open(t, t.TempDir())
	v := newSession(t, c, "sh", "-c", "stty -echo; echo ready; while read x; do echo [$x]; sleep 0.1; echo done; done")
	waitOutput(t, c, v.ID, "ready")
	for _, word := range []string{"one", "two"} {
		receipt := typeIn(t, c, v.ID, word+"\r")
		r := wait1(t, c, v.ID, WaitSpec{From: FromOffset(receipt.Cursor), Match: regexp.MustCompile(`done\r\n`)}, patience)
		if want := "[" + word + "]\r\ndone\r\n"; r.Reason != "match" || r.Output != want || r.State != "running" {
			t.Errorf("Wait = %+v, want %q by match", r, want)
		}
		if r.From != receipt.Cursor || r.To != r.From+int64(len(r.Output)) {
			t.Errorf("Wait = %d to %d for %d bytes from %d", r.From, r.To, len(r.Output), receipt.Cursor)
		}
	}
}

func TestReasonsOfWait(t *testing.T) {
	c := open(t, t.TempDir(), func(cfg *Config) { cfg.IdleAfter = 200 * time.Millisecond })
	v := newSession(t, c, "sh", "-c", "stty -echo; echo ready; read x; echo bye; exit 2")
	waitOutput(t, c, v.ID, "ready")
	if r := wait1(t, c, v.ID, WaitSpec{Quiet: 100 * time.Millisecond, From: FromOffset(0)}, patience); r.Reason != "quiet" || r.Output != "ready\r\n" {
		t.Errorf("for quiet = %+v", r)
	}
	if r := wait1(t, c, v.ID, WaitSpec{Idle: true}, patience); r.Reason != "idle" || r.State != "idle" || r.ExitCode != nil {
		t.Errorf("for idle = %+v", r)
	}
	if r := wait1(t, c, v.ID, WaitSpec{Exit: true}, 100*time.Millisecond); r.Reason != "timeout" || r.Output != "" {
		t.Errorf("for exit, too early = %+v", r)
	}
	if r := wait1(t, c, v.ID, WaitSpec{Match: regexp.MustCompile("never")}, 100*time.Millisecond); r.Reason != "timeout" {
		t.Errorf("for a match that does not come = %+v", r)
	}
	at := typeIn(t, c, v.ID, "x\r").Cursor
	if r := wait1(t, c, v.ID, WaitSpec{Exit: true, From: FromOffset(at)}, patience); r.Reason != "exit" || r.Output != "bye\r\n" || r.State != "ended" || r.ExitCode == nil || *r.ExitCode != 2 || r.Signal != "" {
		t.Errorf("for exit = %+v", r)
	}
	if r := wait1(t, c, v.ID, WaitSpec{Exit: true, From: FromLast(5)}, patience); r.Reason != "exit" || r.Output != "bye\r\n" {
		t.Errorf("for exit of an ended session = %+v", r)
	}
	if _, err := c.Wait(t.Context(), v.ID, WaitSpec{Exit: true, From: FromOffset(1000)}); !errors.Is(err, ErrPastEnd) {
		t.Errorf("from past the end: %v, want ErrPastEnd", err)
	}
	if _, err := c.Wait(t.Context(), store.NewID(), WaitSpec{Exit: true}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("of no session: %v, want ErrNotFound", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Wait(ctx, newSession(t, c, "cat").ID, WaitSpec{Exit: true}); !errors.Is(err, context.Canceled) {
		t.Errorf("when the client goes away: %v, want context.Canceled", err)
	}
}

func TestWaitKeepsTheLastMiB(t *testing.T) {
	c := open(t, t.TempDir())
	v := newSession(t, c, "sh", "-c", `stty raw; head -c 3000000 /dev/zero | tr '\0' x; printf '\377end'`)
	r := wait1(t, c, v.ID, WaitSpec{Exit: true, From: FromOffset(0)}, patience)
	if r.To != 3000004 || !r.Truncated || len(r.Output) != maxWaitOutput+2 || !strings.HasSuffix(r.Output, "x\uFFFDend") {
		t.Errorf("Wait = %d to %d, truncated %v, %d bytes ending in %q", r.From, r.To, r.Truncated, len(r.Output), r.Output[len(r.Output)-8:])
	}
}

// A match is found also when it comes in pieces.
func TestWaitMatchesAcrossReads(t *testing.T) {
	c := open(t, t.TempDir())
	v := newSession(t, c, "sh", "-c", "printf nee; sleep 0.3; printf dle; cat")
	r := wait1(t, c, v.ID, WaitSpec{From: FromOffset(0), Match: regexp.MustCompile("needle")}, patience)
	if r.Reason != "match" || r.Output != "needle" {
		t.Errorf("Wait = %+v, want needle", r)
	}
}

func TestTurns(t *testing.T) {
	c := open(t, t.TempDir())
	v := newSession(t, c, "cat")
	typeIn(t, c, v.ID, "first\r")
	waitOutput(t, c, v.ID, "first\r\nfirst\r\n")
	typeIn(t, c, v.ID, "sec")
	typeIn(t, c, v.ID, "ond\r")
	turns, err := c.Turns(v.ID)
	if err != nil || len(turns) != 2 {
		t.Fatalf("Turns = %+v, %v; want 2", turns, err)
	}
	if turns[0].Turn != 1 || turns[0].At != 0 || turns[0].Preview != "first" || turns[0].Time.IsZero() {
		t.Errorf("first turn = %+v", turns[0])
	}
	if turns[1].Turn != 2 || turns[1].At != 14 || turns[1].Preview != "second" {
		t.Errorf("second turn = %+v", turns[1])
	}
	f, err := c.Fork(v.ID, ForkSpec{Turn: new(2)}, false)
	if err != nil {
		t.Fatal(err)
	}
	typeIn(t, c, f.ID, "other\r")
	turns, err = c.Turns(f.ID)
	if err != nil || len(turns) != 2 || turns[1].Preview != "other" || turns[1].Turn != 2 {
		t.Errorf("turns of a fork at turn 2 = %+v, %v; want first and other", turns, err)
	}
}
