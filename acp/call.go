package acp

import (
	"cmp"
	"context"
	"path/filepath"
)

// version is that of the protocol.
const version = 1

// call returns what a request asks for, or why it cannot be done. Only what
// its params say is checked here.
func (c *conn) call(m message) (call, error) {
	switch m.method {
	case "initialize":
		return c.callInitialize(m)
	case "session/new":
		return c.callNew(m)
	case "session/list":
		return c.callList(m)
	case "session/load":
		return sessionCall(m, true, c.load)
	case "session/resume":
		return sessionCall(m, true, c.resume)
	case "session/fork":
		return sessionCall(m, true, c.fork)
	case "session/close":
		called, err := sessionCall(m, false, c.close)
		called.ends = true
		return called, err
	case "session/delete":
		called, err := sessionCall(m, false, c.delete)
		called.ends = true
		return called, err
	case "session/prompt":
		return c.callPrompt(m)
	case "session/set_config_option":
		return c.callSetOption(m)
	}
	return call{}, refuse(codeMethod, "there is no method %.64q", m.method)
}

// sessionCall is a call whose params name a session, and, with dir, a folder.
func sessionCall(m message, dir bool, run func(ctx context.Context, id string) (any, error)) (call, error) {
	var p struct {
		SessionID *string `json:"sessionId"`
		Cwd       *string `json:"cwd"`
	}
	if err := cmp.Or(decode(m.params, &p), checkSession(p.SessionID)); err != nil {
		return call{}, err
	}
	if dir {
		if err := checkCwd(p.Cwd); err != nil {
			return call{}, err
		}
	}
	id := *p.SessionID
	return call{session: id, run: func(ctx context.Context) (any, error) { return run(ctx, id) }}, nil
}

func checkSession(id *string) error {
	if id == nil || *id == "" {
		return refuse(codeParams, "sessionId is missing")
	}
	return nil
}

// checkCwd refuses a folder that the protocol does not allow.
func checkCwd(dir *string) error {
	switch {
	case dir == nil:
		return refuse(codeParams, "cwd is missing")
	case !filepath.IsAbs(*dir):
		return refuse(codeParams, "cwd %q must be an absolute path", *dir)
	}
	return nil
}

// no is the value of a capability that is there and has no details.
type no struct{}

type initialized struct {
	ProtocolVersion int `json:"protocolVersion"`
	Capabilities    struct {
		LoadSession bool `json:"loadSession"`
		Prompt      struct {
			Image    bool `json:"image"`
			Audio    bool `json:"audio"`
			Embedded bool `json:"embeddedContext"`
		} `json:"promptCapabilities"`
		MCP struct {
			HTTP bool `json:"http"`
			SSE  bool `json:"sse"`
		} `json:"mcpCapabilities"`
		Session struct {
			List   no `json:"list"`
			Resume no `json:"resume"`
			Fork   no `json:"fork"`
			Close  no `json:"close"`
			Delete no `json:"delete"`
		} `json:"sessionCapabilities"`
	} `json:"agentCapabilities"`
	AuthMethods []no `json:"authMethods"`
	Agent       struct {
		Name    string `json:"name"`
		Title   string `json:"title"`
		Version string `json:"version"`
	} `json:"agentInfo"`
}

// callInitialize says what this agent can do. Whatever version the client asks
// for, there is one to offer.
func (c *conn) callInitialize(m message) (call, error) {
	var p struct {
		ProtocolVersion *uint16 `json:"protocolVersion"`
	}
	if err := decode(m.params, &p); err != nil {
		return call{}, err
	}
	if p.ProtocolVersion == nil {
		return call{}, refuse(codeParams, "protocolVersion is missing")
	}
	r := initialized{ProtocolVersion: version, AuthMethods: []no{}}
	r.Capabilities.LoadSession = true
	r.Agent.Name, r.Agent.Title, r.Agent.Version = "holdfast", "holdfast", c.cfg.Version
	return call{run: func(context.Context) (any, error) { return r, nil }}, nil
}
