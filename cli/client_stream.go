package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"holdfast/session"
	"holdfast/store"
)

// kindAway is an event of a clientStream alone: the server is not there. The
// stream goes on when it is back.
const kindAway session.EventKind = "away"

const (
	firstRetry = 50 * time.Millisecond // after a connection that was lost
	maxRetry   = time.Second
	maxLine    = 16 << 20 // bytes of an event's data
)

// A clientStream reads a session's event stream over a connection. When that
// breaks it comes back to where it was, for as long as it takes: nothing is
// missed, and nothing comes twice.
type clientStream struct {
	c    client
	path string
	last string // id of the last event; empty: none came

	answers bool // a terminal does, as the connection said

	body  io.ReadCloser // nil: not connected
	lines *bufio.Scanner
	retry time.Duration // until the next try
	away  bool          // kindAway was told
}

func (c client) stream(ctx context.Context, id string, from session.Cursor, answers bool) (eventStream, error) {
	q := make(url.Values)
	if at := from.String(); at != "" {
		q.Set("from", at)
	}
	if answers {
		q.Set("terminal", "1")
	}
	s := &clientStream{c: c, path: pathOf(id, "/events?"+q.Encode())}
	return s, s.connect(ctx)
}

// connect opens the stream where it was left. It returns io.EOF if there is
// nothing more to come.
func (s *clientStream) connect(ctx context.Context) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, origin+s.path, nil)
	if err != nil {
		return err
	}
	if s.last != "" {
		r.Header.Set("Last-Event-ID", s.last)
	}
	resp, err := s.c.http.Do(r)
	if err != nil {
		return err
	}
	switch {
	case resp.StatusCode == http.StatusOK:
		s.body, s.lines = resp.Body, bufio.NewScanner(resp.Body)
		s.lines.Buffer(make([]byte, 64<<10), maxLine)
		s.away = false
		return nil
	case resp.StatusCode == http.StatusNoContent:
		err = io.EOF
	default:
		err = problemOf(resp)
	}
	resp.Body.Close()
	return err
}

// Close implements eventStream.
func (s *clientStream) Close() {
	if s.body != nil {
		s.body.Close()
		s.body = nil
	}
}

// Next implements eventStream.
func (s *clientStream) Next(ctx context.Context) (session.Event, error) {
	for {
		if s.body != nil {
			e, err := s.read()
			if err == nil {
				return e, nil
			}
			s.Close()
			s.retry = firstRetry
			if s.answers { // nobody knows who does until it is back
				s.answers = false
				return session.Event{Kind: session.KindTerminal}, nil
			}
		}
		if ctx.Err() != nil {
			return session.Event{}, ctx.Err()
		}
		err := s.connect(ctx)
		switch {
		case err == nil:
			continue
		case final(err):
			return session.Event{}, err
		case !s.away && s.retry > firstRetry:
			s.away = true
			return session.Event{Kind: kindAway}, nil
		}
		select {
		case <-time.After(s.retry):
		case <-ctx.Done():
		}
		s.retry = min(2*s.retry, maxRetry)
	}
}

// final reports whether a stream that cannot be opened will not be, however
// often it is tried.
func final(err error) bool {
	return err == io.EOF || errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrDamaged)
}

// read returns the next event of the connection. Its Data stays valid.
func (s *clientStream) read() (session.Event, error) {
	var id, kind string
	var data []byte
	for s.lines.Scan() {
		field, value, _ := bytes.Cut(s.lines.Bytes(), []byte(": "))
		switch string(field) {
		case "id":
			id = string(value)
		case "event":
			kind = string(value)
		case "data":
			data = append(data, value...)
		case "":
			if kind == "" {
				continue
			}
			e, err := decodeEvent(session.EventKind(kind), id, data)
			if err == nil && id != "" {
				s.last = id
			}
			if e.Kind == session.KindTerminal {
				s.answers = e.Answers
			}
			return e, err
		}
	}
	if err := s.lines.Err(); err != nil {
		return session.Event{}, err
	}
	return session.Event{}, io.ErrUnexpectedEOF
}

// eventData has the members of all events' data that are objects.
type eventData struct {
	Cols     uint16 `json:"cols"`
	Rows     uint16 `json:"rows"`
	Run      int    `json:"run"`
	From     int64  `json:"from"`
	To       int64  `json:"to"`
	Answers  bool   `json:"answers"`
	State    string `json:"state"`
	ExitCode *int   `json:"exit_code"`
	Signal   string `json:"signal"`
}

// decodeEvent makes of a frame the event that it was.
func decodeEvent(kind session.EventKind, id string, data []byte) (session.Event, error) {
	e := session.Event{Kind: kind}
	var cursor string
	e.ID, cursor, _ = strings.Cut(id, "/")
	e.Cursor, _ = strconv.ParseInt(cursor, 10, 64)
	var err error
	switch kind {
	case session.KindOutput:
		var text string
		err = json.Unmarshal(data, &text)
		e.Data = []byte(text)
	case session.KindBytes:
		err = json.Unmarshal(data, &e.Data) // base64
	case session.KindSession:
		err = json.Unmarshal(data, &e.View)
	default:
		var d eventData
		err = json.Unmarshal(data, &d)
		e.Cols, e.Rows, e.Run, e.From, e.To, e.Answers = d.Cols, d.Rows, d.Run, d.From, d.To, d.Answers
		if kind == session.KindEnd {
			e.View = &session.View{ID: e.ID, State: d.State, ExitCode: d.ExitCode, Signal: d.Signal}
		}
	}
	if err != nil {
		return e, fmt.Errorf("an event of the store's server: %w", err)
	}
	return e, nil
}
