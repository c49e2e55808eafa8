package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"

	"holdfast/session"
)

// maxOwn is how many sessions a client has at most.
const maxOwn = 6

// A client makes sessions and changes them. Nobody else changes those, so that
// it knows what must be true of them. One client alone moves the binding.
type client struct {
	w      *world
	number uint64
	binds  bool
	rnd    *rand.Rand

	own   []*known
	tags  int
	cut   []birth  // creations that were not answered
	bound []string // ids or tags, one of which is bound; "" is nothing
}

// act does one thing. It reports false when that was not answered, because the
// server is dying.
func (c *client) act() bool {
	c.own = slices.DeleteFunc(c.own, func(k *known) bool { return k.gone })
	n := c.rnd.IntN(100)
	if len(c.own) == 0 || n < 22 && len(c.own) < maxOwn {
		return c.create()
	}
	k := c.own[c.rnd.IntN(len(c.own))]
	switch {
	case n < 32 && len(c.own) < maxOwn:
		return c.fork(k)
	case n < 38 && c.binds:
		return c.goOnIn(k)
	case n < 60:
		return c.input(k)
	case n < 67:
		return c.resize(k)
	case n < 74:
		return c.rename(k)
	case n < 82:
		return c.stop(k)
	case n < 93:
		return c.resume(k)
	default:
		return c.remove(k)
	}
}

// send returns the answer to a request, or false if there is none.
func (c *client) send(method, path string, body any) (answer, bool) {
	text, ok := body.(string)
	if !ok {
		b, err := json.Marshal(body)
		if err != nil {
			c.w.t.Error(err)
		}
		text = string(b)
	}
	resp, err := c.w.ts.unix.Do(c.w.ts.request(method, path, text))
	var b []byte
	if err == nil {
		b, err = io.ReadAll(resp.Body)
		resp.Body.Close()
	}
	if err != nil {
		if !c.w.dying.Load() {
			c.w.t.Errorf("%s %s: %v", method, path, err)
		}
		return answer{}, false
	}
	return answer{resp.StatusCode, resp.Header, string(b)}, true
}

// decode reads a session from an answer that must have a status.
func (c *client) decode(what string, a answer, status int) (v session.View) {
	if a.status != status {
		c.w.t.Errorf("%s: %d %s, want %d", what, a.status, a.body, status)
	} else if err := json.Unmarshal([]byte(a.body), &v); err != nil {
		c.w.t.Errorf("%s: %v", what, err)
	}
	return v
}

func (c *client) input(k *known) bool {
	k.asked = asked{turn: true}
	a, ok := c.send("POST", "/sessions/"+k.id+"/input?enter=1", fmt.Sprintf("typed %d", c.rnd.Uint32()))
	if !ok {
		return false
	}
	if a.status == http.StatusOK {
		k.view.Turns++
	}
	k.answered(c.w, "input", a, http.StatusOK)
	return true
}

func (c *client) resize(k *known) bool {
	cols, rows := uint16(1+c.rnd.IntN(300)), uint16(1+c.rnd.IntN(100))
	k.asked = asked{cols: cols, rows: rows}
	a, ok := c.send("POST", "/sessions/"+k.id+"/resize", map[string]any{"cols": cols, "rows": rows})
	if !ok {
		return false
	}
	if a.status == http.StatusNoContent {
		k.view.Cols, k.view.Rows = cols, rows
	}
	k.answered(c.w, "resize", a, http.StatusNoContent)
	return true
}

func (c *client) rename(k *known) bool {
	name := fmt.Sprintf("%s+%d", c.tag(), c.rnd.IntN(100))
	k.asked = asked{name: name}
	a, ok := c.send("PATCH", "/sessions/"+k.id, map[string]any{"name": name})
	if ok {
		k.told(c.decode("rename", a, http.StatusOK))
	}
	return ok
}

func (c *client) stop(k *known) bool {
	k.asked = asked{stop: true}
	a, ok := c.send("POST", "/sessions/"+k.id+"/stop", "")
	if !ok {
		return false
	}
	v := c.decode("stop", a, http.StatusOK)
	if v.Live || v.State == "running" || v.State == "idle" {
		c.w.t.Errorf("%s: a stop is answered with %s", k, v.State)
	}
	k.told(v)
	return true
}

// resume starts a session if it is not live.
func (c *client) resume(k *known) bool {
	path, body := "/sessions/"+k.id+"/start", any("")
	if c.binds {
		path, body = "/resume", map[string]any{"id": k.id}
	}
	bound := c.bind(k.id)
	k.asked = asked{start: true}
	a, ok := c.send("POST", path, body)
	if !ok {
		return false
	}
	if a.status == http.StatusConflict && !c.binds {
		return c.look(k) // it is live already
	}
	bound()
	k.told(c.decode("resume", a, http.StatusOK))
	c.w.read(k)
	return true
}

func (c *client) remove(k *known) bool {
	k.asked = asked{remove: true}
	k.deleting.Store(true)
	before := c.bound
	unbound := c.bind("")
	a, ok := c.send("DELETE", "/sessions/"+k.id, "")
	if !ok {
		return false
	}
	if a.status != http.StatusNoContent {
		c.w.t.Errorf("%s: delete: %d %s", k, a.status, a.body)
	}
	k.gone = true
	if c.bound = before; slices.Contains(before, k.id) {
		unbound()
	}
	return true
}

// look learns how a session is that another request has changed.
func (c *client) look(k *known) bool {
	a, ok := c.send("GET", "/sessions/"+k.id, "")
	if ok {
		k.told(c.decode("look", a, http.StatusOK))
	}
	return ok
}
