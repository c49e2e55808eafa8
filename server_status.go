package main

import (
	"net/http"
	"time"

	"holdfast/leasefs"
	"holdfast/session"
)

// A status is what a server says of itself.
type status struct {
	Version   string    `json:"version"`
	PID       int       `json:"pid"`
	Host      string    `json:"host"`
	Address   string    `json:"address"` // URL without the token
	StartedAt time.Time `json:"started_at"`

	// The rest is counted when it is asked for.
	Bound    *string `json:"bound"` // id of the bound session, or null
	Sessions int     `json:"sessions"`
	Live     int     `json:"live"`    // sessions with a program in this server
	Leases   int     `json:"leases"`  // that this process holds, the server's own included
	Streams  int     `json:"streams"` // that are open
}

func (s *server) getStatus(w http.ResponseWriter, r *http.Request) error {
	views, err := s.ctl.List(session.Filter{})
	if err != nil {
		return err
	}
	now := s.about
	now.Sessions, now.Leases, now.Streams = len(views), len(leasefs.Held()), len(s.streams)
	for _, v := range views {
		if v.Live {
			now.Live++
		}
	}
	if id, err := s.ctl.Bound(); err == nil {
		now.Bound = &id
	}
	return writeJSON(w, http.StatusOK, now)
}

type health struct {
	Status string `json:"status"`
}

// getHealth says that the server answers, and nothing else.
func (s *server) getHealth(w http.ResponseWriter, r *http.Request) error {
	return writeJSON(w, http.StatusOK, health{"ok"})
}

type profileList struct {
	Profiles map[string]session.Profile `json:"profiles"`
}

func (s *server) getProfiles(w http.ResponseWriter, r *http.Request) error {
	all, err := s.ctl.Profiles()
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, profileList{all})
}
