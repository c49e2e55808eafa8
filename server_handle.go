package main

import (
	"context"
	"io"
	"net/http"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

// A handlerFunc answers one request, or returns why it cannot.
//
// An error before the first byte becomes a problem document. One after it, or
// after the client has gone, cuts the connection: nobody may take a part of an
// answer for the whole.
type handlerFunc func(http.ResponseWriter, *http.Request) error

func (s *server) handle(h handlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := &trackedBody{ReadCloser: r.Body, ended: r.Body == http.NoBody}
		r.Body = body
		tw := &trackingWriter{ResponseWriter: w, ctl: http.NewResponseController(w), stall: s.stall, body: body}
		hurried := make(chan struct{})
		stop := context.AfterFunc(s.closing, func() { tw.hurry(); close(hurried) })
		defer func() {
			if !stop() {
				<-hurried // w is not ours after this
			}
		}()
		err := h(tw, r)
		switch {
		case err == nil:
			tw.extend() // for the last chunk, which net/http sends; the last Write may be long ago
		case tw.wrote || r.Context().Err() != nil:
			s.log.DebugContext(r.Context(), "response cut short", "route", r.Pattern, "err", err)
			panic(http.ErrAbortHandler)
		default:
			s.fail(tw, r, err)
		}
	})
}

// A trackingWriter knows whether anything was sent, and gives up on a client
// that takes nothing for the time of stall. Use it through one goroutine; hurry
// may be called by another.
type trackingWriter struct {
	http.ResponseWriter
	ctl   *http.ResponseController
	stall time.Duration
	late  atomic.Bool  // the process ends
	body  *trackedBody // of the request
	until time.Time    // the deadline of writes, but for hurry
	wrote bool
}

// endStall takes the place of stall when the process ends: it waits for no
// reader, but lets one that reads see the end of its answer.
const endStall = 500 * time.Millisecond

// hurry limits this write and those that follow to endStall.
func (w *trackingWriter) hurry() {
	w.late.Store(true)
	w.ctl.SetWriteDeadline(time.Now().Add(endStall))
}

// A trackedBody knows whether the whole body was read.
type trackedBody struct {
	io.ReadCloser
	ended bool
}

// Read implements io.Reader.
func (b *trackedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.ended = b.ended || err == io.EOF
	return n, err
}

// writePiece is how many bytes have the time of stall for themselves: a slow
// client that reads on is not a stalled one.
const writePiece = 64 << 10

// Unwrap lets http.ResponseController reach the connection.
func (w *trackingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader implements http.ResponseWriter. It does not wait for the rest of
// a body that nobody reads, as net/http would: the client may never send it.
func (w *trackingWriter) WriteHeader(status int) {
	w.wrote = true
	if !w.body.ended {
		w.Header().Set("Connection", "close")
		w.ctl.SetReadDeadline(time.Unix(1, 0))
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter. It returns os.ErrDeadlineExceeded
// for a client that stalls.
func (w *trackingWriter) Write(p []byte) (int, error) {
	if !w.wrote {
		w.WriteHeader(http.StatusOK)
	}
	done := 0
	for {
		w.extend()
		n, err := w.ResponseWriter.Write(p[done:min(len(p), done+writePiece)])
		done += n
		if err != nil || done == len(p) {
			return done, err
		}
	}
}

// extend gives what is sent next the time of stall, or up to a sixteenth more:
// to move a deadline for each key may wake a thread, which then looks for timers.
func (w *trackingWriter) extend() {
	if now := time.Now(); w.until.Sub(now) < w.stall {
		w.until = now.Add(w.stall + w.stall/16)
		w.ctl.SetWriteDeadline(w.until) // cleared by net/http before the next request
	}
	if w.late.Load() {
		w.hurry() // which may have come just before that
	}
}

// shorten makes what a client sent fit into a message.
func shorten(s string) string {
	const limit = 64
	if len(s) <= limit {
		return s
	}
	cut := limit
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
