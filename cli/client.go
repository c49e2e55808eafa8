package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	"holdfast/leasefs"
	"holdfast/session"
	"holdfast/store"
)

// A client is the host that asks a server over its unix socket.
type client struct {
	http *http.Client
	dial func(ctx context.Context) (net.Conn, error)
}

// newClient asks for the socket at each connection: after a restart the server
// may have another one.
func newClient(socket func() string) client {
	var d net.Dialer
	dial := func(ctx context.Context) (net.Conn, error) { return d.DialContext(ctx, "unix", socket()) }
	return client{&http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return dial(ctx)
	}}}, dial}
}

func (c client) close() { c.http.CloseIdleConnections() }

func (c client) list(ctx context.Context) ([]session.View, error) {
	var answer struct{ Sessions []session.View }
	err := c.do(ctx, http.MethodGet, "/sessions", nil, &answer)
	return answer.Sessions, err
}

func (c client) find(ctx context.Context, ref string) (v session.View, err error) {
	return v, c.do(ctx, http.MethodGet, pathOf(ref, ""), nil, &v)
}

func (c client) input(ctx context.Context, id string, in io.Reader, stream bool) (r session.Receipt, err error) {
	action := "/input"
	if stream {
		action += "?stream=1"
	}
	return r, c.do(ctx, http.MethodPost, pathOf(id, action), in, &r)
}

func (c client) wait(ctx context.Context, id string, w waitFor) (r session.WaitResult, err error) {
	q := url.Values{"from": {w.from}, "for": {w.reasons}, "quiet": {w.quiet.String()}, "timeout": {w.timeout.String()}}
	if w.match != "" {
		q.Set("match", w.match)
	}
	return r, c.do(ctx, http.MethodGet, pathOf(id, "/wait?"+q.Encode()), nil, &r)
}

func (c client) stop(ctx context.Context, id string) (v session.View, err error) {
	return v, c.do(ctx, http.MethodPost, pathOf(id, "/stop"), nil, &v)
}

func (c client) remove(ctx context.Context, id string) error {
	return c.do(ctx, http.MethodDelete, pathOf(id, ""), nil, nil)
}

// origin is the server as a URL names it; the socket is in the transport.
const origin = "http://localhost"

// pathOf is the path of a session, or of something to do with it.
func pathOf(ref, action string) string {
	return "/sessions/" + strings.ReplaceAll(url.PathEscape(ref), ".", "%2E") + action // a name may be ".."
}

// A jsonBody is a body that is not raw bytes.
type jsonBody struct{ *bytes.Reader }

func (c client) post(ctx context.Context, path string, in, out any) error {
	return c.send(ctx, http.MethodPost, path, in, out)
}

// send sends in as JSON, and decodes the answer into out unless that is nil.
func (c client) send(ctx context.Context, method, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	return c.do(ctx, method, path, jsonBody{bytes.NewReader(body)}, out)
}

// do sends a request, and decodes the answer into v unless that is nil.
func (c client) do(ctx context.Context, method, path string, body io.Reader, v any) error {
	r, err := http.NewRequestWithContext(ctx, method, origin+path, body)
	if err != nil {
		return err
	}
	switch body.(type) {
	case nil:
	case jsonBody:
		r.Header.Set("Content-Type", "application/json")
	default:
		r.Header.Set("Content-Type", "application/octet-stream")
	}
	resp, err := c.http.Do(r)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return unanswered(err)
	}
	return decodeAnswer(resp, v)
}

// decodeAnswer decodes an answer into v unless that is nil, or returns the
// problem that it tells of.
func decodeAnswer(resp *http.Response, v any) error {
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		return problemOf(resp)
	}
	if v == nil {
		return nil
	}
	if err := json.NewDecoder(resp.Body).Decode(v); err != nil {
		return fmt.Errorf("the answer of the store's server: %w", err)
	}
	return nil
}

// unanswered says what became of a request that got no answer, without where
// it went: that is ours to know.
func unanswered(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		err = errno
	}
	return fmt.Errorf("the store's server does not answer: %w; try again, or start it with holdfast serve", err)
}

// A remoteError is a problem that a server tells of.
type remoteError struct {
	detail string
	is     error // the error of package session or store that it was; may be nil
}

func (e *remoteError) Error() string { return e.detail }
func (e *remoteError) Unwrap() error { return e.is }

// problemOf makes of a problem document the error that it was.
func problemOf(resp *http.Response) error {
	var p struct {
		Type       string
		Title      string
		Detail     string
		Field      string
		Holder     *session.Holder
		Candidates []session.View
	}
	if err := json.NewDecoder(resp.Body).Decode(&p); err != nil {
		return fmt.Errorf("the store's server answers %s", resp.Status)
	}
	if p.Detail == "" {
		p.Detail = p.Title
	}
	e := &remoteError{detail: p.Detail}
	_, kind, _ := strings.Cut(p.Type, ":holdfast,2026:")
	switch kind {
	case "no-such-session":
		e.is = store.ErrNotFound
	case "unreadable":
		e.is = store.ErrDamaged
	case "not-live":
		e.is = session.ErrNotLive
	case "already-live":
		e.is = session.ErrLive
	case "no-such-range":
		e.is = session.ErrPastEnd
	case "ambiguous":
		e.is = &session.AmbiguousError{Candidates: p.Candidates}
	case "invalid-value":
		e.is = &session.SpecError{Field: p.Field}
	case "held":
		e.is = heldBy(p.Holder)
	}
	return e
}

// heldBy is the refusal that named a holder.
func heldBy(h *session.Holder) *leasefs.HeldError {
	if h == nil || h.PID == 0 || h.Since == nil {
		return &leasefs.HeldError{}
	}
	return &leasefs.HeldError{Holder: &leasefs.Holder{PID: h.PID, Host: h.Host, Since: *h.Since}}
}
