package acp

import (
	"cmp"
	"context"
	"errors"
	"time"

	"holdfast/session"
)

const (
	// pauseTime is how long a program prints nothing until the lines that it
	// has printed are sent.
	pauseTime = 200 * time.Millisecond

	// steadyTime is how long a line stays the same until it is sent although the
	// program goes on printing.
	steadyTime = time.Second

	// settleLimit is how long a program that goes on printing is given until
	// the first prompt is typed, or until a cancelled one is answered.
	settleLimit = 2 * time.Second

	// keyLimit is how long a program may take to take ^C.
	keyLimit = time.Second

	// maxMissed is how much output that came between two prompts is sent, in
	// bytes.
	maxMissed = 256 << 10
)

// promptResult answers a prompt.
type promptResult struct {
	StopReason string `json:"stopReason"`
}

var (
	endTurn   = promptResult{"end_turn"}
	cancelled = promptResult{"cancelled"}
)

func (c *conn) callPrompt(m message) (call, error) {
	var p struct {
		SessionID *string `json:"sessionId"`
		Prompt    []block `json:"prompt"`
	}
	if err := cmp.Or(decode(m.params, &p), checkSession(p.SessionID)); err != nil {
		return call{}, err
	}
	if p.Prompt == nil {
		return call{}, refuse(codeParams, "prompt is missing")
	}
	text, err := textOf(p.Prompt)
	if err != nil {
		return call{}, err
	}
	id := *p.SessionID
	return call{session: id, prompt: true, run: func(ctx context.Context) (any, error) { return c.prompt(ctx, id, text) }}, nil
}

// prompt types a text and sends what the program prints until it is quiet. It
// ends with ctx.
func (c *conn) prompt(ctx context.Context, id, text string) (any, error) {
	o, err := c.mustBeOpen(id)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return cancelled, nil
	}
	t, err := c.newTurn(o)
	if err != nil {
		return nil, err
	}
	defer t.close()
	if err := t.settle(ctx); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return cancelled, nil // and nothing was typed
	}
	o.fresh = false
	r, err := c.cfg.Sessions.Input(ctx, id, session.Input{Data: keys(text, o.modes.BracketedPaste())})
	switch {
	case ctx.Err() != nil:
		return t.interrupt(ctx), nil
	case err != nil:
		return nil, err
	}
	t.expect(r.Cursor, text)
	if err := t.follow(ctx, c.cfg.Quiet, c.cfg.Quiet); err != nil && ctx.Err() == nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return t.interrupt(ctx), nil
	}
	return endTurn, nil
}

// settle waits until a program that was just started has said what it has to
// say before it takes input: what is typed earlier may be lost, or shown twice.
func (t *turn) settle(ctx context.Context) error {
	if !t.o.fresh {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, settleLimit)
	defer cancel()
	err := t.follow(limited, t.c.cfg.Quiet, pauseTime)
	if limited.Err() != nil {
		return nil // prompt looks at ctx
	}
	return err
}

// interrupt types ^C for a prompt that was cancelled, and sends what comes of
// it. With the end of the connection or the session the program ends anyway.
func (t *turn) interrupt(ctx context.Context) any {
	if !errors.Is(context.Cause(ctx), errCancelled) {
		return cancelled
	}
	limited, cancel := context.WithTimeout(t.c.ctx, keyLimit)
	defer cancel()
	sessions := t.c.cfg.Sessions
	if _, err := sessions.Input(limited, t.o.id, session.Input{Data: []byte{'C' & 0x1f}}); err != nil {
		err = sessions.Signal(t.o.id, "INT") // it reads nothing, but may obey
		t.c.cfg.Log.Info("prompt cancelled by signal", "session", t.o.id, "err", err)
	}
	limited, cancel = context.WithTimeout(t.c.ctx, settleLimit)
	defer cancel()
	if err := t.follow(limited, pauseTime, pauseTime); err != nil && limited.Err() == nil {
		t.c.cfg.Log.Warn("output not sent", "session", t.o.id, "err", err)
	}
	return cancelled
}
