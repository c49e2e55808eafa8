package acp

import (
	"cmp"
	"context"
	"errors"

	"holdfast/session"
	"holdfast/store"
)

// An opened session is one that this connection has opened. It belongs to
// whoever handles the session's requests.
type opened struct {
	id     string
	at     int64 // end of the output that the client was told
	screen *screen
	modes  session.Modes
	fresh  bool // nothing was typed into this run yet
}

func (c *conn) opened(id string) *opened {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open[id]
}

// keep registers a session that was started, with the output up to at told.
func (c *conn) keep(id string, at int64) *opened {
	o := &opened{id: id, at: at, screen: newScreen(), fresh: true}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open[id] = o
	return o
}

func (c *conn) forget(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, id)
}

// sessionResult answers what opens a session.
type sessionResult struct {
	SessionID string         `json:"sessionId,omitempty"` // of a new one
	Options   []configOption `json:"configOptions"`
}

func (c *conn) callNew(m message) (call, error) {
	var p struct {
		Cwd *string `json:"cwd"`
	}
	if err := cmp.Or(decode(m.params, &p), checkCwd(p.Cwd)); err != nil {
		return call{}, err
	}
	return call{run: func(context.Context) (any, error) { return c.create(*p.Cwd) }}, nil
}

// create makes a session. No server resumes it by itself: the editor does.
func (c *conn) create(dir string) (any, error) {
	v, err := c.cfg.Sessions.Create(session.Spec{Argv: c.cfg.Argv, Profile: c.cfg.Profile, Cwd: dir, AutoResume: new(false)})
	if err != nil {
		return nil, err
	}
	c.keep(v.ID, 0)
	return sessionResult{v.ID, c.options(&v)}, nil
}

// start opens a session: its program is started unless it runs in this
// connection already. On an error nothing is registered. It returns the end of
// the output before the start.
func (c *conn) start(id string) (o *opened, v session.View, end int64, err error) {
	f, err := c.cfg.Sessions.Follow(id)
	if err != nil {
		return nil, v, 0, err
	}
	_, end, err = f.Bounds()
	f.Close()
	if err != nil {
		return nil, v, 0, err
	}
	o = c.opened(id)
	v, err = c.cfg.Sessions.Start(id)
	switch {
	case errors.Is(err, session.ErrLive):
		v, err = c.cfg.Sessions.Get(id)
	case err == nil && o != nil:
		o.fresh = true
	case err == nil:
		o = c.keep(id, end)
	}
	return o, v, end, err
}

func (c *conn) resume(_ context.Context, id string) (any, error) {
	_, v, _, err := c.start(id)
	if err != nil {
		return nil, err
	}
	return sessionResult{Options: c.options(&v)}, nil
}

// load is resume that tells everything from the beginning. One that is
// cancelled leaves the session as it found it.
func (c *conn) load(ctx context.Context, id string) (any, error) {
	had := c.opened(id)
	o, v, end, err := c.start(id)
	if err != nil {
		return nil, err
	}
	if err := c.replay(ctx, o, end); err != nil {
		if had == nil {
			c.forget(id)
			err = errors.Join(err, c.cfg.Sessions.Release(id))
		}
		return nil, err
	}
	return sessionResult{Options: c.options(&v)}, nil
}

func (c *conn) fork(_ context.Context, id string) (any, error) {
	v, err := c.cfg.Sessions.Fork(id, session.ForkSpec{}, false)
	if err != nil {
		return nil, err
	}
	c.keep(v.ID, *v.ForkedAt)
	return sessionResult{v.ID, c.options(&v)}, nil
}

// close gives a session back. One that this connection has not opened has
// nothing to give.
func (c *conn) close(_ context.Context, id string) (any, error) {
	if _, err := c.cfg.Sessions.Get(id); err != nil {
		return nil, err
	}
	err := c.cfg.Sessions.Release(id)
	c.forget(id)
	return no{}, err
}

// delete removes a session. One that is not there is no error to the protocol.
func (c *conn) delete(_ context.Context, id string) (any, error) {
	err := c.cfg.Sessions.Delete(id)
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	if err != nil {
		return nil, err
	}
	c.forget(id)
	return no{}, nil
}
