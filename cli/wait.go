package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"holdfast/session"
	"holdfast/store"
)

// longestWait is the server's limit of a wait, and of a quiet time.
const longestWait = time.Hour

// waitGrace is what a server may take beside the time that it is to wait.
const waitGrace = 5 * time.Second

// Wait waits for something to happen in a session, and prints the output up to
// then. It fails at the timeout, and if the program ends while a match alone
// was asked for.
func Wait(ctx context.Context, args []string, stdout, _ io.Writer) error {
	c := newCommand("wait", `holdfast wait ID [flags]

Waits until the program of a session has ended or is quiet, or until its output matches, and prints the output up to then.
The exit status is 0 when that came, and 1 at the timeout or if the program ends before a match.

A wait looks at output from now on. The answer to an input may have come before: begin with --from at the cursor that holdfast send
--json prints.`).withJSON()
	w := waitFor{}
	c.StringVar(&w.reasons, "for", "", "what to wait for, a `list` of exit, idle, quiet and match; else exit,quiet, or match if --match is given")
	c.StringVar(&w.match, "match", "", "regular `expression` (RE2) that output is to match")
	c.DurationVar(&w.quiet, "quiet", 500*time.Millisecond, "`time` without output that counts as quiet")
	c.DurationVar(&w.timeout, "timeout", 30*time.Second, "`time` to wait at most, up to 1h; 0 only looks")
	c.StringVar(&w.from, "from", "now", "`offset` of the first byte of output to look at, or -N for the last N")
	words, err := c.parse(args, stdout, 1, 1)
	if err != nil {
		return err
	}
	fromNow := w.from == "now"
	wantMatch := w.match != "" && w.reasons == ""
	if err := w.check(); err != nil {
		return err
	}
	result, err := c.await(ctx, words[0], w)
	if err != nil {
		return err
	}
	if c.json {
		err = PrintJSON(stdout, result)
	} else {
		_, err = io.WriteString(stdout, result.Output)
	}
	switch {
	case err != nil:
		return err
	case result.Reason == "timeout":
		what := strings.ReplaceAll(w.reasons, ",", " or ")
		if wantMatch {
			what = "match" // an end would be a failure
		}
		what = strings.Replace(what, "match", fmt.Sprintf("a match of %.64q", w.match), 1)
		hint := "give a longer --timeout"
		if w.match != "" && fromNow {
			hint += ", or --from to look at output from before too"
		}
		return fmt.Errorf("nothing came within %s of what was waited for: %s; %s", w.timeout, what, hint)
	case result.Reason == "exit" && wantMatch && fromNow:
		return fmt.Errorf("the session has no program any more, and its output does not match %.64q; --from -N looks at output from before", w.match)
	case result.Reason == "exit" && wantMatch:
		return fmt.Errorf("the session has no program any more, and its output from %s on does not match %.64q", w.from, w.match)
	}
	return nil
}

// await waits for a session that is called ref. A server keeps to the timeout;
// one that is frozen does not, nor does it say so.
func (c *command) await(ctx context.Context, ref string, w waitFor) (session.WaitResult, error) {
	bounded, cancel := context.WithTimeout(ctx, w.timeout+waitGrace)
	defer cancel()
	result, err := c.ask(bounded, ref, w)
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("the store's server does not answer: nothing came of it in %s; it may be stopped, or its disk slow: try again, or start it anew with holdfast serve", w.timeout+waitGrace)
	}
	return result, err
}

func (c *command) ask(ctx context.Context, ref string, w waitFor) (r session.WaitResult, err error) {
	b, err := c.open(ctx)
	if err != nil {
		return r, err
	}
	defer b.close()
	v, err := called(ctx, b, ref)
	if err != nil {
		return r, err
	}
	if v.State == session.Unreadable {
		return r, Explain(ref, store.ErrDamaged)
	}
	r, err = b.wait(ctx, v.ID, w)
	if errors.Is(err, session.ErrPastEnd) {
		return r, pastEnd(w.from, v.Cursor)
	}
	return r, Explain(ref, err)
}

func pastEnd(from string, end int64) error {
	return fmt.Errorf("--from %s is past the end of the output, which is at %d; give that or less", from, end)
}

// check makes the spec, with the server's rules.
func (w *waitFor) check() error {
	for _, t := range []struct {
		flag     string
		d, least time.Duration
	}{{"quiet", w.quiet, 1}, {"timeout", w.timeout, 0}} {
		if t.d < t.least || t.d > longestWait {
			return Usage(fmt.Sprintf("--%s %s is no time to wait", t.flag, t.d), "give one such as 500ms or 30s, 1h at most")
		}
	}
	if w.from == "now" {
		w.from = "-0"
	}
	from, err := cursor(w.from)
	if err != nil {
		return err
	}
	spec, list, err := session.ParseWait(w.reasons, w.match, w.quiet)
	if e, ok := errors.AsType[*session.SpecError](err); ok {
		return Usage(fmt.Sprintf("--%s is %.64q", e.Field, e.Value), e.Reason)
	}
	w.spec, w.reasons = spec, list
	w.spec.From = from
	return err
}

// cursor reads an offset, or -N for the last N bytes.
func cursor(v string) (session.Cursor, error) {
	c, ok := session.ParseCursor(v)
	if !ok {
		return c, Usage(fmt.Sprintf("--from %.64q is no place in the output", v), "give an offset in bytes, or -N for the last N")
	}
	return c, nil
}
