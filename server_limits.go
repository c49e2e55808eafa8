package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
)

const (
	// maxStreams is how many event streams, followed outputs and input
	// streams may be open at once.
	maxStreams = 512

	// maxConns is how many connections each listener serves at once. More
	// wait in the kernel's queue.
	maxConns = 1024
)

// openStream takes a place for a stream. Its context ends with the request,
// and at once when the process begins to end; call release at the end.
//
// While the process ends, no stream is opened and the connection is cut: any
// answer would stop an EventSource from coming back.
func (s *server) openStream(r *http.Request) (ctx context.Context, release func(), err error) {
	if s.closing.Err() != nil {
		panic(http.ErrAbortHandler)
	}
	select {
	case s.streams <- struct{}{}:
	default:
		return nil, nil, &requestError{errStreams, fmt.Sprintf("%d streams are open; close one, or try again later", cap(s.streams))}
	}
	ctx, cancel := context.WithCancel(r.Context())
	stop := context.AfterFunc(s.closing, cancel)
	return ctx, func() {
		stop()
		cancel()
		<-s.streams
	}, nil
}

// countConn follows the connections of the http.Server.
func (s *server) countConn(_ net.Conn, now http.ConnState) {
	switch now {
	case http.StateNew:
		s.conns.Add(1)
	case http.StateClosed, http.StateHijacked:
		s.conns.Add(-1)
	}
}

// A limitListener has at most cap(slots) accepted connections open.
type limitListener struct {
	net.Listener
	slots  chan struct{} // holds a value for each connection
	once   sync.Once
	closed chan struct{}
}

func newLimitListener(ln net.Listener, limit int) *limitListener {
	return &limitListener{Listener: ln, slots: make(chan struct{}, limit), closed: make(chan struct{})}
}

// Accept implements net.Listener. It waits while the limit is reached.
func (l *limitListener) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	conn, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	return &limitedConn{Conn: conn, slots: l.slots}, nil
}

// Close implements net.Listener.
func (l *limitListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// A limitedConn gives its slot back when it is closed.
type limitedConn struct {
	net.Conn
	slots chan struct{}
	once  sync.Once
}

// Close implements net.Conn.
func (c *limitedConn) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() { <-c.slots })
	return err
}
