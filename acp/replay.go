package acp

import (
	"context"

	"holdfast/session"
)

// maxReplay is how much output of a session is told when it is loaded, in
// bytes.
const maxReplay = 8 << 20

// replay tells what was typed and printed up to the cursor end, the oldest
// first.
func (c *conn) replay(ctx context.Context, o *opened, end int64) error {
	turns, err := c.cfg.Sessions.Turns(o.id)
	if err != nil {
		return err
	}
	v, err := c.cfg.Sessions.Get(o.id)
	if err != nil {
		return err
	}
	stream, err := c.cfg.Sessions.Stream(session.StreamOptions{ID: o.id, From: session.FromOffset(max(v.Oldest, end-maxReplay))})
	if err != nil {
		return err
	}
	defer stream.Close()
	r := &opened{id: o.id, screen: newScreen()}
	t := &turn{c: c, o: r, stream: stream}
	if left := stream.Cursor(); left > 0 {
		t.leaveOut(left)
	}
	for _, u := range turns {
		if u.At >= stream.Cursor() && u.At <= end {
			t.marks = append(t.marks, mark{u.At, u.Preview, false})
		}
	}
	t.pass(stream.Cursor())
	for stream.Cursor() < end {
		e, err := stream.Next(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		t.see(e)
		t.send()
	}
	t.finish()
	o.at, o.screen, o.modes = stream.Cursor(), r.screen, r.modes
	return nil
}
