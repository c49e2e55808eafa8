package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"holdfast/session"
)

// Stop ends the program of a session.
func Stop(ctx context.Context, args []string, stdout, _ io.Writer) error {
	c := newCommand("stop", `holdfast stop ID [flags]

Ends the program of a session. The session stays, with its output. One without a program stays as it is; an interrupted one is not started again with the server.`).withJSON()
	words, err := c.parse(args, stdout, 1, 1)
	if err != nil {
		return err
	}
	b, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer b.close()
	v, err := called(ctx, b, words[0])
	if err == nil {
		v, err = b.stop(ctx, v.ID)
	}
	if err != nil {
		return Explain(words[0], err)
	}
	if c.json || v.State != "interrupted" {
		return c.printState(stdout, &v)
	}
	_, err = fmt.Fprintf(stdout, "%s is interrupted, and is not started again with the server\n", label(&v))
	return err
}

// Remove deletes sessions with their output.
func Remove(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c := newCommand("rm", `holdfast rm ID... [flags]

Removes sessions with their output, and ends their programs before. If one of them is not known, none is removed. One that
another process holds is left alone.`).withJSON()
	words, err := c.parse(args, stdout, 1, -1)
	if err != nil {
		return err
	}
	b, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer b.close()
	views := make([]session.View, 0, len(words))
	seen := make(map[string]bool)
	for _, ref := range words {
		v, err := called(ctx, b, ref)
		if err != nil {
			return err
		}
		if !seen[v.ID] {
			seen[v.ID] = true
			views = append(views, v)
		}
	}
	p := showProgress(stderr, len(views) > 1)
	removed, err := removeAll(ctx, b, views, p, func(v *session.View) error {
		if c.json {
			return nil
		}
		_, err := fmt.Fprintf(stdout, "%s is removed\n", label(v))
		return err
	})
	if c.json {
		err = errors.Join(err, PrintJSON(stdout, map[string]any{"removed": removed}))
	}
	return err
}

// removeAll goes on after a session that cannot be removed. The error tells of
// the first of them, and of how many there are. Each may take as long as its
// program needs to end.
func removeAll(ctx context.Context, h host, views []session.View, p *progress, done func(*session.View) error) (removed []string, err error) {
	removed = []string{}
	for i := range views {
		v := &views[i]
		p.say(fmt.Sprintf("removing %d of %d", i+1, len(views)))
		failed := h.remove(ctx, v.ID)
		p.clear()
		if failed != nil {
			failed = Explain(v.ID, failed)
			if len(views) > 1 {
				failed = fmt.Errorf("%s: %w", label(v), failed)
			}
			if err == nil {
				err = failed
			}
			continue
		}
		removed = append(removed, v.ID)
		if err := done(v); err != nil {
			return removed, err
		}
	}
	if left := len(views) - len(removed); left > 1 {
		err = fmt.Errorf("%w (one of %d sessions that are left)", err, left)
	}
	return removed, err
}
