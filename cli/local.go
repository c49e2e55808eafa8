package cli

import (
	"context"
	"io"

	"holdfast/session"
)

// A local backend works on the store in this process.
type local struct{ ctl *session.Controller }

func (c *command) openLocal() (backend, error) {
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
	return l.ctl.Input(ctx, id, session.Input{})
}

func (l local) wait(ctx context.Context, id string, w waitFor) (session.WaitResult, error) {
	ctx, cancel := context.WithTimeout(ctx, w.timeout)
	defer cancel()
	return l.ctl.Wait(ctx, id, w.spec)
}

func (l local) stop(_ context.Context, id string) (session.View, error) { return l.ctl.Stop(id) }

func (l local) remove(_ context.Context, id string) error { return l.ctl.Delete(id) }

func (l local) close() { l.ctl.Close() }
