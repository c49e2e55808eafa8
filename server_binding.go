package main

import (
	"net/http"

	"holdfast/session"
)

// The routes here move the binding. Each has read its whole request before it
// asks the controller, so that a slow client holds nothing.

func (s *server) postNew(w http.ResponseWriter, r *http.Request) error {
	var spec session.Spec
	if err := readOptionalJSON(w, r, &spec); err != nil {
		return err
	}
	v, err := s.ctl.New(spec)
	return created(w, v, err)
}

type resumeRequest struct {
	ID string `json:"id"`
}

func (s *server) postResume(w http.ResponseWriter, r *http.Request) error {
	var in resumeRequest
	if err := readJSON(w, r, &in); err != nil {
		return err
	}
	if in.ID == "" {
		return malformed("id is missing: say which session to resume")
	}
	id, err := s.resolve(in.ID)
	if err != nil {
		return err
	}
	v, err := s.ctl.Resume(id)
	return found(w, v, err)
}

// A forkRequest without an ID forks the bound session.
type forkRequest struct {
	ID string `json:"id"`
	session.ForkSpec
}

func (s *server) postFork(w http.ResponseWriter, r *http.Request) error {
	var in forkRequest
	err := readOptionalJSON(w, r, &in)
	if err != nil {
		return err
	}
	var id string
	if in.ID != "" {
		id, err = s.resolve(in.ID)
	} else {
		id, err = s.ctl.Bound()
	}
	if err != nil {
		return err
	}
	v, err := s.ctl.Fork(id, in.ForkSpec, true)
	return created(w, v, err)
}
