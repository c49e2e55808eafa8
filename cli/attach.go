package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"holdfast/session"
)

// Attach shows a session that a server has on this terminal, and types into
// it. What another process has is watched.
func Attach(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c := newCommand("attach", `holdfast attach [ID] [flags]

Joins a session of the store's server in this terminal: the bound one, or the newest that is live, without ID. Ctrl-] opens a
command line; /detach leaves. A session that another process has, such as holdfast run, is watched.`)
	var readOnly bool
	c.BoolVar(&readOnly, "read-only", false, "watch only: nothing is typed, and the session keeps its size")
	words, err := c.parse(args, stdout, 0, 1)
	if err != nil {
		return err
	}
	h, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer h.close()
	v, err := joined(ctx, h, words)
	if err != nil {
		return err
	}
	mode := serves
	if readOnly || !v.Live {
		mode = watches
	}
	f := newFront(ctx, h, mode)
	if f.view = v; f.ask == nil {
		f.at = session.FromOffset(v.Cursor)
	}
	err = f.run(ctx, true)
	if f.tty.shown && !f.tty.stuck.Load() {
		if f.inLine {
			f.tty.write("\r\n")
		}
		tellLeft(stderr, &f.view)
	}
	return err
}

// joined is the session that attach means.
func joined(ctx context.Context, h host, words []string) (session.View, error) {
	if len(words) > 0 {
		v, err := called(ctx, h, words[0])
		if err != nil {
			return v, err
		}
		if isOwn(&v) {
			return v, ownError(&v)
		}
		if !goesOn(&v) {
			return v, Explain(words[0], notLive(h, &v))
		}
		return v, nil
	}
	views, err := h.list(ctx)
	if err != nil {
		return session.View{}, err
	}
	var newest, own *session.View
	for i := range views {
		v := &views[i]
		if isOwn(v) {
			own = v
			continue
		}
		if v.Live && (newest == nil || v.Bound) || newest == nil && v.Holder != nil {
			newest = v
		}
	}
	if newest == nil && own != nil {
		return *own, fmt.Errorf("no other session is live, and %w", ownError(own))
	}
	if newest == nil {
		return session.View{}, errors.New("no session is live; holdfast new starts one on the server, holdfast run one in this terminal")
	}
	return *newest, nil
}

// isOwn reports whether this process runs in a session. To show it there would
// have its output come out of it again, for ever; so would its keys.
func isOwn(v *session.View) bool { return v.ID == os.Getenv("HOLDFAST_SESSION") }

// ownError refuses the session that isOwn knows.
func ownError(v *session.View) error {
	return fmt.Errorf("session %.64q is the one that this runs in ($HOLDFAST_SESSION), and would show itself without end; join it from another terminal", cmp.Or(v.Name, v.ID))
}

// tellLeft says what becomes of a session that is not shown any more.
func tellLeft(stderr io.Writer, v *session.View) {
	text := fmt.Sprintf("[%s is %s]", shortLabel(v), endText(v))
	if goesOn(v) {
		text = fmt.Sprintf("[left %s, which goes on; holdfast attach %s leads back]", shortLabel(v), shortID(v))
	}
	fmt.Fprintln(stderr, Fitting(stderr, text))
}
