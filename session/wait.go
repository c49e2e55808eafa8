package session

import (
	"context"
	"errors"
	"io"
	"regexp"
	"strings"
	"time"

	"holdfast/state"
	"holdfast/store"
)

const (
	maxWaitOutput = 1 << 20  // bytes of output in an answer, at most
	matchWindow   = 64 << 10 // how long a match may be that comes in pieces
)

// A WaitSpec says what Wait waits for: the first of what is set.
type WaitSpec struct {
	From  Cursor         // where output begins; FromLast(0): now
	Exit  bool           // there is no program
	Idle  bool           // the session is idle, or there is no program
	Quiet time.Duration  // no output for so long, from the call on; 0: no matter
	Match *regexp.Regexp // output from From on matches; nil: no matter
}

// ParseWait reads what a wait is for: reasons is a list of exit, idle, quiet and
// match, of which the last two have the values that follow. Without a list it is
// exit and match if there is one, else exit and quiet. It returns the list too.
// The error is a *SpecError.
func ParseWait(reasons, match string, quiet time.Duration) (spec WaitSpec, list string, err error) {
	if reasons == "" {
		reasons = "exit,quiet"
		if match != "" {
			reasons = "exit,match"
		}
	}
	for name := range strings.SplitSeq(reasons, ",") {
		switch name {
		case "exit":
			spec.Exit = true
		case "idle":
			spec.Idle = true
		case "quiet":
			spec.Quiet = quiet
		case "match":
			if match == "" {
				return spec, "", &SpecError{"for", reasons, "give the regular expression (RE2) too, as match"}
			}
			if spec.Match, err = regexp.Compile(match); err != nil {
				return spec, "", &SpecError{"match", match, "it must be a regular expression (RE2): " + err.Error()}
			}
		default:
			return spec, "", &SpecError{"for", reasons, "it is a list of exit, idle, quiet and match"}
		}
	}
	if match != "" && spec.Match == nil {
		return spec, "", &SpecError{"match", match, "what is waited for has no match in it: add match to that list (" + reasons + "), or leave the list out"}
	}
	return spec, reasons, nil
}

// A WaitResult says what Wait has seen.
type WaitResult struct {
	Reason    string `json:"reason"` // exit, idle, quiet, match or timeout
	From      int64  `json:"from"`   // cursors of the output
	To        int64  `json:"to"`     // of a match: its end
	Output    string `json:"output"` // as text, the last MiB; U+FFFD for what is none
	Truncated bool   `json:"truncated,omitempty"`
	State     string `json:"state"`
	ExitCode  *int   `json:"exit_code,omitempty"` // of a program that has exited
	Signal    string `json:"signal,omitempty"`    // that has ended the program
}

// Wait waits until one of the things in spec happens, and returns the output
// up to then. The end of ctx by its deadline is a reason like the others; by
// anything else it is ctx's error.
//
// It returns store.ErrNotFound, and ErrPastEnd for a cursor beyond the log.
func (c *Controller) Wait(ctx context.Context, id string, spec WaitSpec) (WaitResult, error) {
	f, err := c.store.Follow(id)
	if err != nil {
		return WaitResult{}, err
	}
	defer f.Close()
	oldest, end, err := f.Bounds()
	if err != nil {
		return WaitResult{}, err
	}
	w := &waiter{id: id, spec: spec, f: f, quietFrom: time.Now()}
	w.from = spec.From.Place(oldest, end)
	if w.from > end {
		return WaitResult{}, ErrPastEnd
	}
	w.to = w.from
	reason, err := w.run(ctx, c)
	if err != nil {
		return WaitResult{}, err
	}
	v, err := c.Get(id)
	if err != nil {
		return WaitResult{}, err
	}
	return w.result(reason, &v), nil
}

// A waiter reads the output of one session until something happens.
type waiter struct {
	id        string
	spec      WaitSpec
	f         *store.Follower
	from, to  int64
	text      []byte // the last bytes before to
	quietFrom time.Time
}

func (w *waiter) run(ctx context.Context, c *Controller) (reason string, err error) {
	for {
		more := w.f.Changed()   // before the look
		row, err := c.Row(w.id) // before the log: a row that is over has its last byte there
		if err != nil {
			return "", err
		}
		matched, err := w.readOn()
		switch {
		case err != nil:
			return "", err
		case matched:
			return "match", nil
		case w.spec.Exit && !row.State.Live():
			return "exit", nil
		case w.spec.Idle && (row.State == state.Idle || !row.State.Live()):
			return "idle", nil
		}
		left := time.Duration(-1)
		if w.spec.Quiet > 0 {
			if left = w.spec.Quiet - time.Since(w.quietFrom); left <= 0 {
				return "quiet", nil
			}
		}
		if row.State.Live() && c.lookup(w.id) == nil && (left < 0 || left > scanEvery) {
			left = scanEvery // the death of its holder changes no file
		}
		c.step("wait")
		timeout, err := sleep(ctx, more, left)
		if err != nil {
			return "", err
		}
		if timeout {
			return "timeout", nil
		}
	}
}

// sleep waits for a change, or for left if that is not negative. It reports
// the deadline of ctx.
func sleep(ctx context.Context, more <-chan struct{}, left time.Duration) (timeout bool, err error) {
	var after <-chan time.Time
	if left >= 0 {
		after = time.After(left)
	}
	select {
	case <-more:
	case <-after:
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return true, nil
		}
		return false, ctx.Err()
	}
	return false, nil
}

// readOn takes all the output that there is, and reports whether it matches.
func (w *waiter) readOn() (matched bool, err error) {
	buf := make([]byte, chunkBytes)
	for {
		n, err := w.f.ReadAt(buf, w.to)
		if gap, ok := errors.AsType[*store.GapError](err); ok {
			w.to, w.text = gap.To, nil
			continue
		}
		if n == 0 {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return false, err
		}
		w.to += int64(n)
		w.quietFrom = time.Now()
		before := len(w.text)
		w.text = append(w.text, buf[:n]...)
		if w.match(before) {
			return true, nil
		}
		if over := len(w.text) - 2*maxWaitOutput; over > 0 {
			w.text = append(w.text[:0], w.text[len(w.text)-maxWaitOutput:]...)
		}
	}
}

// match looks for the pattern in the text that is new from before on. It cuts
// the text at the end of the match.
func (w *waiter) match(before int) bool {
	if w.spec.Match == nil {
		return false
	}
	start := max(0, before-matchWindow)
	at := w.spec.Match.FindIndex(w.text[start:])
	if at == nil {
		return false
	}
	end := start + at[1]
	w.to -= int64(len(w.text) - end)
	w.text = w.text[:end]
	return true
}

func (w *waiter) result(reason string, v *View) WaitResult {
	text := w.text[max(0, len(w.text)-maxWaitOutput):]
	r := WaitResult{Reason: reason, From: w.from, To: w.to, State: v.State, ExitCode: v.ExitCode, Signal: v.Signal}
	r.Truncated = int64(len(text)) < w.to-w.from
	r.Output = strings.ToValidUTF8(string(text), "\uFFFD")
	return r
}
