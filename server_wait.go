package main

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"holdfast/session"
)

const (
	waitTimeout = 30 * time.Second // of a wait that names none
	maxWait     = time.Hour
	quietTime   = 500 * time.Millisecond // of a wait for quiet that names none
)

// getWait answers when something happens in a session. It takes the place of
// a stream, since it stays open like one.
func (s *server) getWait(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	spec, err := waitSpec(q)
	if err != nil {
		return err
	}
	timeout, err := durationIn(q, "timeout", waitTimeout, 0)
	if err != nil {
		return err
	}
	id, err := s.target(r)
	if err != nil {
		return err
	}
	ctx, release, err := s.openStream(r)
	if err != nil {
		return err
	}
	defer release()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	result, err := s.ctl.Wait(ctx, id, spec)
	if s.closing.Err() != nil {
		return session.ErrClosing
	}
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, result)
}

// waitSpec reads what a request waits for.
func waitSpec(q url.Values) (spec session.WaitSpec, err error) {
	from, err := cursorIn(q, "from", session.FromLast(0))
	if err != nil {
		return spec, err
	}
	quiet, err := durationIn(q, "quiet", quietTime, 1)
	if err != nil {
		return spec, err
	}
	spec, _, err = session.ParseWait(q.Get("for"), q.Get("match"), quiet)
	if e, ok := errors.AsType[*session.SpecError](err); ok {
		return spec, malformed("%s is %q; %s", e.Field, shorten(e.Value), e.Reason)
	}
	spec.From = from
	return spec, err
}

type turnList struct {
	Turns []session.Turn `json:"turns"`
}

func (s *server) getTurns(w http.ResponseWriter, r *http.Request) error {
	id, err := s.target(r)
	if err != nil {
		return err
	}
	turns, err := s.ctl.Turns(id)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, turnList{turns})
}

// getRecording sends a session as a file that terminal players read.
func (s *server) getRecording(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	if format := q.Get("format"); format != "" && format != "cast" {
		return malformed("format is %q; there is cast", shorten(format))
	}
	id, err := s.target(r)
	if err != nil {
		return err
	}
	if _, err := s.ctl.Get(id); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/x-asciicast")
	h.Set("Content-Disposition", `attachment; filename="`+id+`.cast"`)
	if r.Method == http.MethodHead {
		w.WriteHeader(http.StatusOK)
		return nil
	}
	_, err = s.ctl.Record(r.Context(), w, id)
	return err
}
