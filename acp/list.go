package acp

import (
	"cmp"
	"context"
	"encoding/base64"
	"path/filepath"
	"strings"
	"time"

	"holdfast/session"
)

// pageSize is how many sessions an answer has at most.
const pageSize = 50

type sessionInfo struct {
	SessionID string `json:"sessionId"`
	Cwd       string `json:"cwd"`
	Title     string `json:"title"`
	UpdatedAt string `json:"updatedAt,omitempty"`
}

type sessionList struct {
	Sessions []sessionInfo `json:"sessions"`
	Next     string        `json:"nextCursor,omitempty"`
}

// A place is where a page begins: behind a session in the order of the list. It
// holds although sessions come and go.
type place struct {
	active time.Time
	id     string
}

func (p place) String() string {
	return base64.RawURLEncoding.EncodeToString([]byte(p.active.Format(time.RFC3339Nano) + " " + p.id))
}

func parsePlace(s string) (place, error) {
	b, err1 := base64.RawURLEncoding.DecodeString(s)
	at, id, _ := strings.Cut(string(b), " ")
	active, err2 := time.Parse(time.RFC3339Nano, at)
	if err := cmp.Or(err1, err2); err != nil {
		return place{}, refuse(codeParams, "cursor is none of this list")
	}
	return place{active, id}, nil
}

// before reports whether p stands before other: newest activity first.
func (p place) before(other place) bool {
	return cmp.Or(-p.active.Compare(other.active), strings.Compare(p.id, other.id)) < 0
}

func placeOf(v *session.View) place {
	p := place{id: v.ID}
	if v.ActiveAt != nil {
		p.active = *v.ActiveAt
	}
	return p
}

func (c *conn) callList(m message) (call, error) {
	var p struct {
		Cwd    *string `json:"cwd"`
		Cursor *string `json:"cursor"`
	}
	if err := decode(m.params, &p); err != nil {
		return call{}, err
	}
	var dir string
	if p.Cwd != nil {
		if err := checkCwd(p.Cwd); err != nil {
			return call{}, err
		}
		dir = filepath.Clean(*p.Cwd)
	}
	var after *place
	if p.Cursor != nil {
		at, err := parsePlace(*p.Cursor)
		if err != nil {
			return call{}, err
		}
		after = &at
	}
	return call{run: func(context.Context) (any, error) { return c.list(dir, after) }}, nil
}

// list returns the sessions of a folder, or all, behind a place. Unreadable
// ones are left out: there is nothing that an editor could do with them.
func (c *conn) list(dir string, after *place) (any, error) {
	views, err := c.cfg.Sessions.List(session.Filter{})
	if err != nil {
		return nil, err
	}
	r := sessionList{Sessions: []sessionInfo{}}
	var last place
	for i := range views {
		v := &views[i]
		at := placeOf(v)
		if v.State == session.Unreadable || dir != "" && v.Cwd != dir || after != nil && !after.before(at) {
			continue
		}
		if len(r.Sessions) == pageSize {
			r.Next = last.String()
			break
		}
		info := sessionInfo{SessionID: v.ID, Cwd: v.Cwd, Title: cmp.Or(v.Name, line(v.Argv))}
		if v.ActiveAt != nil {
			info.UpdatedAt = v.ActiveAt.UTC().Format(time.RFC3339)
		}
		r.Sessions = append(r.Sessions, info)
		last = at
	}
	return r, nil
}
