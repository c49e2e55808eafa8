package main

import (
	"context"
	"errors"
	"io"
	"net/http"

	"holdfast/session"
)

// reconnectAfter is how many milliseconds an EventSource waits before it comes
// back: long enough not to hurry a server that restarts.
const reconnectAfter = "retry: 1000\n\n"

// getEvents streams a session, or whichever is bound where the path names none.
func (s *server) getEvents(w http.ResponseWriter, r *http.Request) error {
	ctx, release, err := s.openStream(r)
	if err != nil {
		return err
	}
	defer release()
	stream, again, err := s.subscribe(r, http.NewResponseController(w).Flush)
	if err != nil {
		return err
	}
	defer stream.Close()
	if again && stream.AtEnd() {
		w.WriteHeader(http.StatusNoContent) // an EventSource stops at that
		return nil
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no") // nginx would hold frames back
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return nil
	}
	return s.sendEvents(ctx, w, stream)
}

// subscribe begins the stream that a request asks for; flush is called before
// it waits. It reports whether the client says that it was here before.
func (s *server) subscribe(r *http.Request, flush func() error) (stream *session.Stream, again bool, err error) {
	q := r.URL.Query()
	watch, err := flagIn(q, "watch")
	if err != nil {
		return nil, false, err
	}
	terminal, err := flagIn(q, "terminal")
	if err != nil {
		return nil, false, err
	}
	tail, err := tailIn(q)
	if err != nil {
		return nil, false, err
	}
	from, err := cursorIn(q, "from", tail)
	if err != nil {
		return nil, false, err
	}
	id := ""
	if r.PathValue("id") != "" {
		if id, err = s.target(r); err != nil {
			return nil, false, err
		}
	}
	o := session.StreamOptions{ID: id, From: from, Watch: watch, Terminal: terminal, Wait: flush}
	if last, cursor, ok := parseEventID(r.Header.Get("Last-Event-ID")); ok {
		stream, err = s.comeBack(o, last, cursor)
		if stream != nil || err != nil {
			return stream, true, err
		}
	}
	stream, err = s.ctl.Stream(o)
	return stream, from != tail && from != session.FromOffset(0), err
}

// comeBack goes on where a client was in the session last. It returns no
// stream if that is not the session which is asked for now.
func (s *server) comeBack(o session.StreamOptions, last string, cursor int64) (*session.Stream, error) {
	o.From = session.FromOffset(cursor)
	stream, err := s.ctl.Stream(o)
	if errors.Is(err, session.ErrPastEnd) {
		// Another session's cursor; or the end of the log was lost with its
		// machine's power. Then what follows begins with a gap, while an
		// error would stop an EventSource.
		o.From = session.FromLast(0)
		stream, err = s.ctl.Stream(o)
	}
	if err == nil && stream.ID() != last {
		stream.Close()
		return nil, nil
	}
	return stream, err
}

// sendEvents writes frames until the stream or ctx ends. It reads the next
// event only when the client has taken the last, so that a slow client costs
// nothing but its own delay. What net/http keeps back is flushed before a wait,
// not after each frame: that is two writes to the connection, not three, for
// each of those that make a backlog.
func (s *server) sendEvents(ctx context.Context, w http.ResponseWriter, stream *session.Stream) error {
	var buf []byte
	frame := []byte(reconnectAfter)
	for {
		if _, err := w.Write(frame); err != nil {
			return err
		}
		ev, err := stream.Next(ctx)
		if err == io.EOF || ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		if frame = s.frames.find(&ev); frame != nil {
			continue
		}
		if buf, err = appendFrame(buf[:0], &ev); err != nil {
			return err
		}
		s.frames.offer(&ev, buf)
		frame = buf
	}
}
