package cli

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"syscall"
)

// A clientTypist types through one request with a body that goes on. When the
// server ends that, the next piece begins another.
//
// The request has a connection of its own, and each piece is one write to it.
// Through package http it would go to a pipe, to a goroutine that copies from
// that, and to the connection: two wakes of a thread for each key.
type clientTypist struct {
	c   client
	ctx context.Context
	id  string

	conn  net.Conn // nil: no request
	raw   syscall.RawConn
	done  chan error // of the request
	out   []byte     // of the request, still to be sent
	begun int        // bytes of the next piece that are in out, or were
}

func (c client) typist(ctx context.Context, id string) typist {
	return &clientTypist{c: c, ctx: ctx, id: id}
}

// Write implements io.Writer.
func (t *clientTypist) Write(p []byte) (int, error) {
	if t.conn == nil {
		if err := t.open(); err != nil {
			return 0, err
		}
	}
	t.add(p)
	if err := t.send(); err != nil {
		return 0, err
	}
	t.begun = 0
	return len(p), nil
}

// writeNow implements typist.
func (t *clientTypist) writeNow(p []byte) bool {
	if t.conn == nil {
		return false
	}
	t.add(p)
	t.out = t.out[writeNow(t.raw, t.out):]
	if len(t.out) > 0 {
		return false
	}
	t.begun = 0
	return true
}

// open begins a request.
func (t *clientTypist) open() error {
	conn, err := t.c.dial(t.ctx)
	if err != nil {
		return unanswered(err)
	}
	if t.raw, err = conn.(syscall.Conn).SyscallConn(); err != nil {
		return err // a nil connection
	}
	t.conn, t.done, t.begun = conn, make(chan error, 1), 0
	t.out = fmt.Appendf(t.out[:0], "POST %s HTTP/1.1\r\nHost: localhost\r\n"+
		"Content-Type: application/octet-stream\r\nTransfer-Encoding: chunked\r\n\r\n", pathOf(t.id, "/input?stream=1"))
	go awaitAnswer(t.ctx, conn, t.done)
	return nil
}

// awaitAnswer tells what the server answers to a request, which it may do at
// any time, and closes the connection; so does the end of ctx.
func awaitAnswer(ctx context.Context, conn net.Conn, done chan<- error) {
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	switch {
	case err == nil:
		err = decodeAnswer(resp, nil)
	case ctx.Err() != nil:
		err = ctx.Err()
	default:
		err = unanswered(err)
	}
	conn.Close() // so that what is typed after it fails
	done <- err
}

// add makes a chunk of the body of a piece.
func (t *clientTypist) add(p []byte) {
	if p = p[t.begun:]; len(p) == 0 {
		return
	}
	t.begun += len(p)
	t.out = fmt.Appendf(t.out, "%x\r\n", len(p))
	t.out = append(t.out, p...)
	t.out = append(t.out, "\r\n"...)
}

// send sends what is in out. If that fails, or the request was over before, it
// returns why.
func (t *clientTypist) send() error {
	if _, err := t.conn.Write(t.out); err == nil {
		t.out = t.out[:0]
		return nil
	}
	t.conn = nil
	if err := <-t.done; err != nil {
		return err
	}
	return unanswered(net.ErrClosed) // it ended what goes on
}

// end does nothing: others may type there too.
func (t *clientTypist) end() error { return nil }

// Close implements typist. It returns when the program has what was typed.
func (t *clientTypist) Close() {
	if t.conn == nil {
		return
	}
	t.out = append(t.out, "0\r\n\r\n"...)
	if t.send() == nil {
		<-t.done
	}
	t.conn = nil
}
