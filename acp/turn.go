package acp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"holdfast/session"
)

// maxUpdate is how much text an update has at most, in bytes.
const maxUpdate = 16 << 10

// A turn follows the output of an opened session, from where the client knows
// it, and sends it.
type turn struct {
	c      *conn
	o      *opened
	stream *session.Stream
	marks  []mark // still ahead, in order
}

// A mark is a place in the output where a text was typed.
type mark struct {
	at    int64
	text  string
	known bool // the client has the text, and all of it is here
}

// newTurn begins where the client is. When it has missed too much, it is told
// how much is left out.
func (c *conn) newTurn(o *opened) (*turn, error) {
	from := session.FromOffset(o.at)
	v, err := c.cfg.Sessions.Get(o.id)
	if err != nil {
		return nil, err
	}
	if v.Cursor-o.at > maxMissed {
		from = session.Cursor{} // a tail of that size
	}
	stream, err := c.cfg.Sessions.Stream(session.StreamOptions{ID: o.id, From: from})
	if err != nil {
		return nil, err
	}
	t := &turn{c: c, o: o, stream: stream}
	o.screen.begin()
	if left := stream.Cursor() - o.at; left > 0 {
		t.leaveOut(left)
	}
	return t, nil
}

func (t *turn) close() {
	t.o.at = t.stream.Cursor()
	t.stream.Close()
}

func (t *turn) leaveOut(n int64) {
	t.o.screen.note(fmt.Sprintf("%d bytes of output are left out here", n))
}

// expect says that text was typed when the log ended at a cursor.
func (t *turn) expect(at int64, text string) {
	t.marks = append(t.marks, mark{at, text, true})
	t.pass(t.stream.Cursor())
}

// follow sends output until the program has printed nothing for quiet, or for
// first if it prints nothing at all. It returns nil then and at the end of
// the run, and otherwise an error, which is that of ctx if it ended. What is
// on the screen has been sent in any case.
func (t *turn) follow(ctx context.Context, first, quiet time.Duration) error {
	last, wait, paused := time.Now(), first, false
	looked := last
	defer t.finish()
	for {
		left := wait - time.Since(last)
		if !paused {
			left = min(left, pauseTime-time.Since(last))
		}
		limited, cancel := context.WithTimeout(ctx, left)
		e, err := t.stream.Next(limited)
		cancel()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && limited.Err() == nil:
			return err
		case err != nil && time.Since(last) >= wait:
			return nil
		case err != nil:
			t.o.screen.pause()
			t.send()
			paused = true
		case t.see(e):
			last, wait, paused = time.Now(), quiet, false
			if last.Sub(looked) >= steadyTime {
				t.o.screen.steady()
				looked = last
			}
			t.send()
		}
	}
}

// finish sends all that can be seen.
func (t *turn) finish() {
	t.o.screen.quiet()
	t.send()
}

// see takes an event, and reports whether the program printed something.
func (t *turn) see(e session.Event) bool {
	switch e.Kind {
	case session.KindOutput, session.KindBytes:
		t.print(e.Data, e.Cursor)
		return true
	case session.KindRun:
		t.o.screen.reset()
		t.o.modes = session.Modes{}
	case session.KindResize:
		t.o.screen.resize(int(e.Cols), int(e.Rows))
	case session.KindGap:
		t.leaveOut(e.To - e.From)
	}
	return false
}

// print takes output that ends at a cursor.
func (t *turn) print(p []byte, end int64) {
	for len(p) > 0 {
		n := len(p)
		if len(t.marks) > 0 {
			n = min(n, int(t.marks[0].at-(end-int64(len(p)))))
		}
		t.o.screen.write(p[:n])
		t.o.modes.Write(p[:n])
		p = p[n:]
		t.pass(end - int64(len(p)))
	}
}

// pass deals with the marks up to a cursor.
func (t *turn) pass(at int64) {
	for len(t.marks) > 0 && t.marks[0].at <= at {
		m := t.marks[0]
		t.marks = t.marks[1:]
		t.finish()
		if !m.known {
			t.update("user_message_chunk", m.text)
			t.o.screen.begin()
		}
		t.o.screen.expect(m.text, !m.known)
	}
}

// send sends what the screen has to tell.
func (t *turn) send() {
	text := t.o.screen.take()
	for len(text) > 0 {
		n := min(len(text), maxUpdate)
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n--
		}
		t.update("agent_message_chunk", text[:n])
		text = text[n:]
	}
}

type sessionUpdate struct {
	SessionID string `json:"sessionId"`
	Update    struct {
		Kind    string `json:"sessionUpdate"`
		Content struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
	} `json:"update"`
}

func (t *turn) update(kind, text string) {
	var u sessionUpdate
	u.SessionID, u.Update.Kind = t.o.id, kind
	u.Update.Content.Type, u.Update.Content.Text = "text", text
	t.c.out.send(notification("session/update", u))
}
