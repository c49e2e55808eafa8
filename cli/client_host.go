package cli

import (
	"context"
	"io"
	"maps"
	"net/http"
	"slices"

	"holdfast/session"
)

func (c client) create(ctx context.Context, s session.Spec) (v session.View, err error) {
	return v, c.post(ctx, "/sessions", s, &v)
}

func (c client) start(ctx context.Context, id string) (v session.View, err error) {
	return v, c.post(ctx, pathOf(id, "/start"), struct{}{}, &v)
}

func (c client) fork(ctx context.Context, id string, f session.ForkSpec) (v session.View, err error) {
	return v, c.post(ctx, pathOf(id, "/fork"), f, &v)
}

func (c client) switchTo(ctx context.Context, id string, s session.SwitchSpec) (v session.View, err error) {
	return v, c.post(ctx, pathOf(id, "/switch"), s, &v)
}

func (c client) turns(ctx context.Context, id string) ([]session.Turn, error) {
	var answer struct{ Turns []session.Turn }
	err := c.do(ctx, http.MethodGet, pathOf(id, "/turns"), nil, &answer)
	return answer.Turns, err
}

func (c client) profiles(ctx context.Context) ([]string, error) {
	var answer struct{ Profiles map[string]session.Profile }
	err := c.do(ctx, http.MethodGet, "/profiles", nil, &answer)
	return slices.Sorted(maps.Keys(answer.Profiles)), err
}

func (c client) resize(ctx context.Context, id string, cols, rows int) error {
	return c.post(ctx, pathOf(id, "/resize"), map[string]int{"cols": cols, "rows": rows}, nil)
}

func (c client) typist(ctx context.Context, id string) typist {
	return &clientTypist{c: c, ctx: ctx, id: id}
}

// A clientTypist types through one request with a body that goes on. When the
// server ends that, the next piece begins another.
type clientTypist struct {
	c    client
	ctx  context.Context
	id   string
	body *io.PipeWriter // nil: no request
	done chan error     // of the request
}

// Write implements io.Writer.
func (t *clientTypist) Write(p []byte) (int, error) {
	if t.body == nil {
		r, w := io.Pipe()
		t.body, t.done = w, make(chan error, 1)
		go func(done chan<- error) {
			_, err := t.c.input(t.ctx, t.id, r, true)
			r.CloseWithError(io.ErrClosedPipe)
			done <- err
		}(t.done)
	}
	n, err := t.body.Write(p)
	if err != nil {
		t.body = nil
		if answer := <-t.done; answer != nil {
			err = answer
		}
	}
	return n, err
}

// end does nothing: others may type there too.
func (t *clientTypist) end() error { return nil }

// Close implements typist.
func (t *clientTypist) Close() {
	if t.body != nil {
		t.body.Close()
		<-t.done
		t.body = nil
	}
}
