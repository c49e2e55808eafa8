package main

import (
	"errors"
	"io"
	"net"
	"net/http"
	"testing"

	"holdfast/store"
)

func TestStreamsAreCapped(t *testing.T) {
	ts := startServer(t, func(_ *store.Options, s *server) { s.streams = make(chan struct{}, 3) })
	v := ts.bind("cat")
	path := "/sessions/" + v.ID
	open := []*http.Response{
		ts.open("GET", path+"/events", ""), ts.open("GET", "/events", ""), ts.open("GET", path+"/output?follow=1", ""),
	}
	for _, full := range []string{"/events", path + "/output?follow=1"} {
		a := ts.do("GET", full, "")
		wantProblem(t, a, http.StatusServiceUnavailable, "too-many-streams")
		if a.header.Get("Retry-After") == "" {
			t.Errorf("GET %s: no Retry-After", full)
		}
	}
	wantProblem(t, ts.do("POST", "/input?stream=1", "x"), http.StatusServiceUnavailable, "too-many-streams")
	if a := ts.do("GET", path+"/output", ""); a.status != http.StatusOK {
		t.Errorf("output without follow: status %d, want 200: it is no stream", a.status)
	}
	open[0].Body.Close()
	waitFor(t, "a stream's place to be free", func() bool { return len(ts.s.streams) == 2 })
	if resp := ts.open("GET", "/events", ""); resp.StatusCode != http.StatusOK {
		t.Errorf("after one was closed: status %d, want 200", resp.StatusCode)
	}
}

func TestConnectionsAreCapped(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln := newLimitListener(inner, 2)
	accepted := make(chan net.Conn)
	ended := make(chan error, 1)
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				ended <- err
				return
			}
			accepted <- c
		}
	}()
	dial := func() net.Conn {
		c, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	dial()
	first := <-accepted
	dial()
	second := <-accepted
	dial() // waits in the kernel's queue
	waitFor(t, "the places to be taken", func() bool { return len(ln.slots) == 2 })
	select {
	case <-accepted:
		t.Fatal("a third connection was accepted")
	default:
	}
	first.Close()
	first.Close() // gives its place back once
	third := <-accepted
	ln.Close() // ends an Accept that waits for a place
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept after Close = %v, want net.ErrClosed", err)
	}
	second.Close()
	third.Close()
	if n := len(ln.slots); n != 0 {
		t.Errorf("%d places are taken after all connections are closed", n)
	}
}

// A body that never comes does not keep its connection for ever, and a read
// deadline that was set for it does not end what comes after.
func TestABodyThatBreaksOff(t *testing.T) {
	ts := startServer(t, nil)
	c, err := net.Dial("tcp", ts.url[len("http://"):])
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	io.WriteString(c, "POST /new HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "+testToken+"\r\nContent-Length: 100\r\nConnection: close\r\n\r\n{\"name\":")
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, c)
	if a := ts.do("GET", "/sessions", ""); a.body != `{"sessions":[]}`+"\n" {
		t.Errorf("sessions = %s, want none", a.body)
	}
}
