package main

import (
	"fmt"
	"net/http"

	"holdfast/session"
)

// programs are what sessions run. Each gets a tag of its own as $0.
var programs = map[string]string{
	"echo":  "echo ready; exec cat",
	"quick": "echo bye; exit 3",
	"loud":  `while :; do cat text; read -rt 0.2 -N 1; done`,
	"flood": `stty raw -echo; head -c 300000 /dev/zero | tr '\0' x; exec cat`,
	// deaf survives its hangup from its first line of input on, when its
	// start was recorded.
	"deaf": `echo ready; read -r; trap '' HUP; echo deaf; exec sleep 600`,
}

// kinds says how often each is run.
var kinds = []string{"echo", "echo", "echo", "quick", "quick", "loud", "loud", "deaf", "deaf", "flood"}

// A birth is a session that was asked for.
type birth struct {
	tag    string // its name, or its last argument
	kind   string
	parent *known // of a fork
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
	k.asked = asked{stop: true}
	return c.bear(b, "/switch", map[string]any{"argv": argv(b.kind, b.tag)}) && c.look(k)
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
