package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"
)

// maxRequests is how many requests of a connection may be under way or wait.
const maxRequests = 256

// errCancelled is why a request ends that its client cancelled.
var errCancelled = errors.New("request was cancelled")

// A conn is one connection.
type conn struct {
	cfg  Config
	out  *writer
	ctx  context.Context // of all requests
	stop context.CancelCauseFunc
	work sync.WaitGroup // one for each lane

	mu    sync.Mutex // guards the fields below; a leaf
	ended bool       // no request is taken any more
	count int        // of requests that are not answered
	lanes map[string]*lane
	open  map[string]*opened
}

// A lane has the requests of one session, by the id that they name, in the
// order in which they came. The first is being handled.
type lane struct{ requests []*request }

// A request is one that a client waits for.
type request struct {
	id     json.RawMessage
	call   call
	ctx    context.Context
	cancel context.CancelCauseFunc
}

// A call is what a request asks for.
type call struct {
	session string // whose order it is in; empty: that of requests without one
	prompt  bool   // there is one at a time for a session
	ends    bool   // it ends the prompts that came before it
	run     func(ctx context.Context) (any, error)
}

func newConn(cfg Config, out *writer) *conn {
	c := &conn{cfg: cfg, out: out, lanes: make(map[string]*lane), open: make(map[string]*opened)}
	c.ctx, c.stop = context.WithCancelCause(context.Background())
	return c
}

// read handles messages until there are no more.
func (c *conn) read(in *lines) error {
	for {
		line, err := in.next()
		switch {
		case errors.Is(err, errTooLong):
			c.answer(nil, nil, refuse(codeRequest, "%v", err))
		case err != nil:
			return err
		case len(bytes.TrimSpace(line)) > 0:
			c.handle(line)
		}
	}
}

// handle starts what a message asks for.
func (c *conn) handle(line []byte) {
	m, err := parse(line)
	switch {
	case err != nil:
		c.answer(m.id, nil, err)
	case m.method == "":
	case m.id == nil:
		c.notified(m)
	default:
		call, err := c.call(m)
		if err == nil {
			err = c.begin(m.id, call)
		}
		if err != nil {
			c.answer(m.id, nil, err)
		}
	}
}

// notified handles a notification. Those that are not known are ignored.
func (c *conn) notified(m message) {
	var p struct {
		SessionID string          `json:"sessionId"`
		RequestID json.RawMessage `json:"requestId"`
	}
	if err := decode(m.params, &p); err != nil {
		c.cfg.Log.Warn("notification not understood", "method", m.method, "err", err)
		return
	}
	switch m.method {
	case "session/cancel":
		c.mu.Lock()
		defer c.mu.Unlock()
		c.lanes[p.SessionID].cancelPrompts(errCancelled)
	case "$/cancel_request":
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, l := range c.lanes {
			for _, r := range l.requests {
				if bytes.Equal(r.id, p.RequestID) {
					r.cancel(errCancelled)
				}
			}
		}
	}
}

// cancelPrompts ends the prompts of a lane, or does nothing if that is nil.
func (l *lane) cancelPrompts(why error) {
	if l == nil {
		return
	}
	for _, r := range l.requests {
		if r.call.prompt {
			r.cancel(why)
		}
	}
}

// begin puts a request in its lane.
func (c *conn) begin(id json.RawMessage, call call) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return refuse(codeCancelled, "%v", errEnded)
	}
	if c.count >= maxRequests {
		return refuse(codeRequest, "%d requests are under way; wait for some of them", c.count)
	}
	l := c.lanes[call.session]
	if l == nil {
		l = new(lane)
		c.lanes[call.session] = l
		c.work.Go(func() { c.runLane(call.session, l) })
	}
	if call.prompt && l.hasPrompt() {
		return refuse(codeRequest, "a prompt of this session is under way; wait for it, or cancel it")
	}
	if call.ends {
		l.cancelPrompts(errEnded)
	}
	r := &request{id: bytes.Clone(id), call: call}
	r.ctx, r.cancel = context.WithCancelCause(c.ctx)
	l.requests = append(l.requests, r)
	c.count++
	return nil
}

func (l *lane) hasPrompt() bool {
	for _, r := range l.requests {
		if r.call.prompt {
			return true
		}
	}
	return false
}

// runLane handles the requests of a lane until there are none.
func (c *conn) runLane(session string, l *lane) {
	for {
		c.mu.Lock()
		if len(l.requests) == 0 {
			delete(c.lanes, session)
			c.mu.Unlock()
			return
		}
		r := l.requests[0]
		c.mu.Unlock()

		result, err := r.run()
		// Over before its client knows, who may send the next prompt then.
		c.mu.Lock()
		l.requests = l.requests[1:]
		c.mu.Unlock()
		c.answer(r.id, result, err)
		r.cancel(nil)
		c.mu.Lock()
		c.count--
		c.mu.Unlock()
	}
}

// run handles a request. A prompt that was cancelled has an answer of its own.
func (r *request) run() (any, error) {
	if r.ctx.Err() != nil && !r.call.prompt {
		return nil, context.Cause(r.ctx)
	}
	return r.call.run(r.ctx)
}

// answer answers a request.
func (c *conn) answer(id json.RawMessage, result any, err error) {
	c.out.send(answer(id, result, c.errorOf(err)))
}

// end ends all requests, and waits for them. A client that reads gets their
// answers.
func (c *conn) end() {
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
	c.stop(errEnded)
	patience := time.AfterFunc(endGrace, func() { c.out.give(errEnded) })
	c.work.Wait()
	patience.Stop()
	c.out.close()
}
