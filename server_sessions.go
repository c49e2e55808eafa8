package main

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"holdfast/session"
	"holdfast/store"
)

// target returns the session that a route acts on: the one in its path, or the
// bound one where the path names none.
func (s *server) target(r *http.Request) (string, error) {
	if ref := r.PathValue("id"); ref != "" {
		return s.resolve(ref)
	}
	return s.ctl.Bound()
}

// targetAfter is target once read has the body in v, so that a slow client finds
// the session as it is then.
func (s *server) targetAfter(read func(http.ResponseWriter, *http.Request, any) error, w http.ResponseWriter, r *http.Request, v any) (string, error) {
	if err := read(w, r, v); err != nil {
		return "", err
	}
	return s.target(r)
}

// resolve returns the id that a client's reference means.
func (s *server) resolve(ref string) (string, error) {
	id, err := s.ctl.Resolve(ref)
	if errors.Is(err, store.ErrNotFound) {
		return "", &requestError{store.ErrNotFound, fmt.Sprintf("there is no session %q", shorten(ref))}
	}
	return id, err
}

// listBuffer is how much of a list is sent at once, bytes.
const listBuffer = 64 << 10

func (s *server) listSessions(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	f := session.Filter{State: q.Get("state"), Query: q.Get("q")}
	if !f.Valid() {
		return malformed("state is %q; it is one of %s", shorten(f.State), strings.Join(session.FilterStates, ", "))
	}
	list, err := s.ctl.EncodedList(f)
	if err != nil {
		return err
	}
	const head, tail = `{"sessions":`, "}\n"
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(head)+list.Len()+len(tail)))
	out := bufio.NewWriterSize(w, listBuffer) // the whole may be megabytes
	out.WriteString(head)
	list.Encode(out)
	out.WriteString(tail)
	return out.Flush()
}

// created answers with a new session and where it is.
func created(w http.ResponseWriter, v session.View, err error) error {
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/sessions/"+v.ID)
	return writeJSON(w, http.StatusCreated, v)
}

// found answers with a session that was there before.
func found(w http.ResponseWriter, v session.View, err error) error {
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, v)
}

func (s *server) createSession(w http.ResponseWriter, r *http.Request) error {
	var spec session.Spec
	if err := readOptionalJSON(w, r, &spec); err != nil {
		return err
	}
	v, err := s.ctl.Create(spec)
	return created(w, v, err)
}

func (s *server) getSession(w http.ResponseWriter, r *http.Request) error {
	id, err := s.target(r)
	if err != nil {
		return err
	}
	v, err := s.ctl.Get(id)
	return found(w, v, err)
}

func (s *server) patchSession(w http.ResponseWriter, r *http.Request) error {
	var patch session.Patch
	id, err := s.targetAfter(readJSON, w, r, &patch)
	if err != nil {
		return err
	}
	v, err := s.ctl.Patch(id, patch)
	return found(w, v, err)
}

func (s *server) deleteSession(w http.ResponseWriter, r *http.Request) error {
	id, err := s.targetAfter(readOptionalJSON, w, r, &struct{}{})
	if err != nil {
		return err
	}
	return noContent(w, s.ctl.Delete(id))
}

func noContent(w http.ResponseWriter, err error) error {
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}

func (s *server) startSession(w http.ResponseWriter, r *http.Request) error {
	id, err := s.targetAfter(readOptionalJSON, w, r, &struct{}{})
	if err != nil {
		return err
	}
	v, err := s.ctl.Start(id)
	return found(w, v, err)
}

func (s *server) forkSession(w http.ResponseWriter, r *http.Request) error {
	var fork session.ForkSpec
	id, err := s.targetAfter(readOptionalJSON, w, r, &fork)
	if err != nil {
		return err
	}
	v, err := s.ctl.Fork(id, fork, false)
	return created(w, v, err)
}

// postSwitch moves the binding if that names the session.
func (s *server) postSwitch(w http.ResponseWriter, r *http.Request) error {
	var in session.SwitchSpec
	id, err := s.targetAfter(readJSON, w, r, &in)
	if err != nil {
		return err
	}
	v, err := s.ctl.Switch(id, in, r.PathValue("id") == "")
	return created(w, v, err)
}

func (s *server) postStop(w http.ResponseWriter, r *http.Request) error {
	id, err := s.targetAfter(readOptionalJSON, w, r, &struct{}{})
	if err != nil {
		return err
	}
	v, err := s.ctl.Stop(id)
	return found(w, v, err)
}

type resizeRequest struct {
	Cols *int `json:"cols"`
	Rows *int `json:"rows"`
}

func (s *server) postResize(w http.ResponseWriter, r *http.Request) error {
	var in resizeRequest
	if err := readJSON(w, r, &in); err != nil {
		return err
	}
	if in.Cols == nil || in.Rows == nil {
		return malformed("cols and rows are both needed")
	}
	id, err := s.target(r)
	if err != nil {
		return err
	}
	return noContent(w, s.ctl.Resize(id, *in.Cols, *in.Rows))
}

type signalRequest struct {
	Signal string `json:"signal"`
}

func (s *server) postSignal(w http.ResponseWriter, r *http.Request) error {
	var in signalRequest
	id, err := s.targetAfter(readJSON, w, r, &in)
	if err != nil {
		return err
	}
	return noContent(w, s.ctl.Signal(id, in.Signal))
}
