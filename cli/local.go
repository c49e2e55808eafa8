package cli

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"

	"holdfast/session"
)

// A local host works on the store in this process.
type local struct{ ctl *session.Controller }

func (c *command) openLocal() (host, error) {
	ctl, err := c.controller()
	if err != nil {
		return nil, err
	}
	return local{ctl}, nil
}

func (l local) list(context.Context) ([]session.View, error) { return l.ctl.List(session.Filter{}) }

func (l local) find(_ context.Context, ref string) (session.View, error) {
	id, err := l.ctl.Resolve(ref)
	if err != nil {
		return session.View{}, err
	}
	return l.ctl.Get(id)
}

// input fails: this process has no program. It says whether another has, and
// reads nothing.
func (l local) input(ctx context.Context, id string, _ io.Reader, _ bool) (session.Receipt, error) {
	r, err := l.ctl.Input(ctx, id, session.Input{})
	if errors.Is(err, session.ErrNotLive) {
		err = errNotServed
	}
	return r, err
}

func (l local) wait(ctx context.Context, id string, w waitFor) (session.WaitResult, error) {
	ctx, cancel := context.WithTimeout(ctx, w.timeout)
	defer cancel()
	return l.ctl.Wait(ctx, id, w.spec)
}

func (l local) stop(_ context.Context, id string) (session.View, error) { return l.ctl.Stop(id) }

func (l local) rename(_ context.Context, id, name string) (session.View, error) {
	return l.ctl.Patch(id, session.Patch{Name: &name})
}

func (l local) remove(_ context.Context, id string) error { return l.ctl.Delete(id) }

func (l local) close() { l.ctl.Close() }

func (l local) create(_ context.Context, s session.Spec) (session.View, error) { return l.ctl.New(s) }

func (l local) start(_ context.Context, id string) (session.View, error) { return l.ctl.Resume(id) }

func (l local) fork(_ context.Context, id string, f session.ForkSpec) (session.View, error) {
	return l.ctl.Fork(id, f, true)
}

func (l local) switchTo(_ context.Context, id string, s session.SwitchSpec) (session.View, error) {
	return l.ctl.Switch(id, s, true)
}

func (l local) turns(_ context.Context, id string) ([]session.Turn, error) { return l.ctl.Turns(id) }

func (l local) profiles(context.Context) ([]string, error) {
	all, err := l.ctl.Profiles()
	return slices.Sorted(maps.Keys(all)), err
}

func (l local) resize(_ context.Context, id string, cols, rows int) error {
	return l.ctl.Resize(id, cols, rows)
}

func (l local) stream(_ context.Context, id string, from session.Cursor, answers bool) (eventStream, error) {
	return l.ctl.Stream(session.StreamOptions{ID: id, From: from, Terminal: answers})
}

func (l local) typist(ctx context.Context, id string) typist { return localTypist{ctx, l.ctl, id} }

type localTypist struct {
	ctx context.Context
	ctl *session.Controller
	id  string
}

// Write implements io.Writer.
func (t localTypist) Write(p []byte) (int, error) {
	r, err := t.ctl.Input(t.ctx, t.id, session.Input{Data: p})
	return r.Written, err
}

// writeNow leaves all to Write, which waits for the program.
func (t localTypist) writeNow([]byte) bool { return false }

func (t localTypist) end() error {
	_, err := t.ctl.Input(t.ctx, t.id, session.Input{End: true})
	return err
}

// Close implements typist.
func (t localTypist) Close() {}
