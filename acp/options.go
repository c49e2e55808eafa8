package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"holdfast/session"
)

// profileOption is the id of the one option that a session has.
const profileOption = "profile"

// ownProgram is the value of the option while a session has no profile.
const ownProgram = "(none)"

// A configOption is a choice that an editor shows.
type configOption struct {
	ID      string         `json:"id"`
	Name    string         `json:"name"`
	About   string         `json:"description"`
	Type    string         `json:"type"`
	Current string         `json:"currentValue"`
	Options []configChoice `json:"options"`
}

type configChoice struct {
	Value string `json:"value"`
	Name  string `json:"name"`
	About string `json:"description,omitempty"`
}

// options are those of a session: the profiles, and what it has now. While
// profiles.json is broken that is all.
func (c *conn) options(v *session.View) []configOption {
	o := configOption{
		ID: profileOption, Name: "Program", Type: "select", Current: cmp.Or(v.Profile, ownProgram),
		About: "The program that answers. Another choice ends the one that runs and starts the new one.",
	}
	profiles, err := c.cfg.Sessions.Profiles()
	if err != nil {
		c.cfg.Log.Warn("profiles not listed", "err", err)
	}
	if _, ok := profiles[v.Profile]; !ok {
		o.Options = append(o.Options, configChoice{Value: o.Current, Name: cmp.Or(v.Profile, line(v.Argv))})
	}
	for _, name := range slices.Sorted(maps.Keys(profiles)) {
		o.Options = append(o.Options, configChoice{Value: name, Name: name, About: line(profiles[name].Start)})
	}
	return []configOption{o}
}

// maxTitle is how much of a command line is shown, in bytes.
const maxTitle = 100

// line shows the command line of a program.
func line(argv []string) string {
	s := strings.Join(argv, " ")
	if len(s) > maxTitle {
		s = strings.ToValidUTF8(s[:maxTitle], "") + "…"
	}
	return s
}

func (c *conn) callSetOption(m message) (call, error) {
	var p struct {
		SessionID *string         `json:"sessionId"`
		ConfigID  string          `json:"configId"`
		Value     json.RawMessage `json:"value"`
	}
	if err := cmp.Or(decode(m.params, &p), checkSession(p.SessionID)); err != nil {
		return call{}, err
	}
	var value string
	switch {
	case p.ConfigID != profileOption:
		return call{}, refuse(codeParams, "there is no option %.64q", p.ConfigID)
	case json.Unmarshal(p.Value, &value) != nil || value == "":
		return call{}, refuse(codeParams, "value must be the name of a profile")
	}
	id := *p.SessionID
	return call{session: id, run: func(context.Context) (any, error) { return c.setProfile(id, value) }}, nil
}

// setProfile goes on in a session with the program of a profile.
func (c *conn) setProfile(id, profile string) (any, error) {
	o, err := c.mustBeOpen(id)
	if err != nil {
		return nil, err
	}
	v, err := c.cfg.Sessions.Get(id)
	if err != nil {
		return nil, err
	}
	if profile != cmp.Or(v.Profile, ownProgram) {
		if v, err = c.cfg.Sessions.Replace(id, session.SwitchSpec{Profile: profile}); err != nil {
			return nil, err
		}
		o.fresh = true
	}
	return sessionResult{Options: c.options(&v)}, nil
}

// mustBeOpen returns a session that this connection has opened.
func (c *conn) mustBeOpen(id string) (*opened, error) {
	if o := c.opened(id); o != nil {
		return o, nil
	}
	if _, err := c.cfg.Sessions.Get(id); err != nil {
		return nil, err
	}
	return nil, refuse(codeRequest, "session is not open in this connection; load or resume it")
}
