package main

import (
	"net/http"
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
		tw := &trackingWriter{ResponseWriter: w, ctl: http.NewResponseController(w), stall: s.stall}
		err := h(tw, r)
		switch {
		case err == nil:
		case tw.wrote || r.Context().Err() != nil:
			s.log.DebugContext(r.Context(), "response cut short", "route", r.Pattern, "err", err)
			panic(http.ErrAbortHandler)
		default:
			s.fail(tw, r, err)
		}
	})
}

// A trackingWriter knows whether anything was sent, and gives up on a client
// that takes nothing for the time of stall. Use it through one goroutine.
type trackingWriter struct {
	http.ResponseWriter
	ctl   *http.ResponseController
	stall time.Duration
	wrote bool
}

// writePiece is how many bytes have the time of stall for themselves: a slow
// client that reads on is not a stalled one.
const writePiece = 16 << 10

// Unwrap lets http.ResponseController reach the connection.
func (w *trackingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (w *trackingWriter) WriteHeader(status int) {
	w.wrote = true
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter. It returns os.ErrDeadlineExceeded
// for a client that stalls.
func (w *trackingWriter) Write(p []byte) (int, error) {
	w.wrote = true
	done := 0
	for {
		w.ctl.SetWriteDeadline(time.Now().Add(w.stall)) // cleared by net/http before the next request
		n, err := w.ResponseWriter.Write(p[done:min(len(p), done+writePiece)])
		done += n
		if err != nil || done == len(p) {
			return done, err
		}
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
