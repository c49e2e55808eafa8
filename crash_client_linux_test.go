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

// programs are what sessions run. Each gets a tag of its own as $0.
var programs = map[string]string{
	"echo":  "echo ready; exec cat",
	"quick": "echo bye; exit 3",
	"loud":  `while :; do cat text; read -rt 0.05 -N 1; done`,
	"flood": `stty raw -echo; head -c 300000 /dev/zero | tr '\0' x; exec cat`,
	// deaf survives its hangup from its first line of input on, when its
	// start was recorded.
	"deaf": `echo ready; read -r; trap '' HUP; echo deaf; exec sleep 600`,
}

// kinds says how often each is run.
var kinds = []string{"echo", "echo", "echo", "quick", "quick", "loud", "loud", "deaf", "deaf", "flood"}

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

// A birth is a session that was asked for.
type birth struct {
	tag    string // its name, or its last argument
	kind   string
	parent *known // of a fork
}

// act does one thing. It reports false when that was not answered, because the
// server is dying.
func (c *client) act() bool {
	c.forget()
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

// forget drops what is deleted.
func (c *client) forget() {
	for i := len(c.own) - 1; i >= 0; i-- {
		if c.own[i].gone {
			c.own = append(c.own[:i], c.own[i+1:]...)
		}
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

func (c *client) tag() string {
	c.tags++
	return fmt.Sprintf("s%d-%d", c.number, c.tags)
}

func argv(kind, tag string) []string { return []string{"bash", "-c", programs[kind], tag} }

func (c *client) create() bool {
	b := birth{tag: c.tag(), kind: kinds[c.rnd.IntN(len(kinds))]}
	path := "/sessions"
	if c.binds {
		path = "/new"
	}
	return c.bear(b, path, map[string]any{
		"argv": argv(b.kind, b.tag), "name": b.tag, "cwd": c.w.cwd, "auto_resume": c.rnd.IntN(2) == 0,
	})
}

func (c *client) fork(k *known) bool {
	b := birth{tag: c.tag(), kind: k.kind, parent: k}
	body := map[string]any{"name": b.tag}
	path := "/sessions/" + k.id + "/fork"
	if c.binds {
		path, body["id"] = "/fork", k.id
	}
	return c.bear(b, path, body)
}

// goOnIn binds a session and switches to another program in a fork of it.
func (c *client) goOnIn(k *known) bool {
	if !c.resume(k) {
		return false
	}
	b := birth{tag: c.tag(), kind: kinds[c.rnd.IntN(len(kinds))], parent: k}
	k.ask(asked{stop: true})
	return c.bear(b, "/switch", map[string]any{"argv": argv(b.kind, b.tag)}) && c.look(k)
}

// look learns how a session is that another request has changed.
func (c *client) look(k *known) bool {
	a, ok := c.send("GET", "/sessions/"+k.id, "")
	if ok {
		k.told(c.decode("look", a, http.StatusOK))
	}
	return ok
}

// bear asks for a session.
func (c *client) bear(b birth, path string, body any) bool {
	c.cut = append(c.cut, b)
	c.bind(b.tag)
	a, ok := c.send("POST", path, body)
	if !ok {
		return false
	}
	c.cut = c.cut[:len(c.cut)-1]
	v := c.decode(path, a, http.StatusCreated)
	if v.ID != "" {
		c.w.read(c.adopt(b, v))
		c.bind(v.ID)()
	}
	return v.ID != ""
}

// bind notes that the binding may move to id, and returns what notes that it
// has.
func (c *client) bind(id string) (done func()) {
	if c.binds {
		c.bound = append(c.bound, id)
	}
	return func() {
		if c.binds {
			c.bound = []string{id}
		}
	}
}

// adopt takes a session as its own.
func (c *client) adopt(b birth, v session.View) *known {
	k := &known{id: v.ID, kind: b.kind, parent: b.parent, view: v}
	c.own = append(c.own, k)
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	c.w.known[v.ID] = k
	return k
}

func (c *client) input(k *known) bool {
	k.ask(asked{turn: true})
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
	k.ask(asked{cols: cols, rows: rows})
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
	k.ask(asked{name: name})
	a, ok := c.send("PATCH", "/sessions/"+k.id, map[string]any{"name": name})
	if ok {
		k.told(c.decode("rename", a, http.StatusOK))
	}
	return ok
}

func (c *client) stop(k *known) bool {
	k.ask(asked{stop: true})
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
	k.ask(asked{start: true})
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
	k.ask(asked{remove: true})
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
