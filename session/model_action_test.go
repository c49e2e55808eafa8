package session_test

import "slices"

// An action is one step of an actor. or is what may come of it instead.
type action struct {
	name   string
	do     deed
	orName string
	or     deed
}

type deed func(w *world, me *actor) verdict

// A verdict says how an actor goes on.
type verdict int8

const (
	goes   verdict = iota // with the next action
	waits                 // not now; nothing has changed
	skips                 // nothing to do here
	fails                 // with the undo list
	quits                 // the same, with nothing wrong
	stays                 // with this one, once more
	again                 // with open
	isLive                // with admit
)

func index(list []*action, a *action) int8 { return int8(slices.Index(list, a)) }

// The lock file, as in package leasefs.
var (
	open = &action{name: "open", do: func(w *world, me *actor) verdict {
		if w.path[me.s] == 0 {
			w.path[me.s] = w.freshInode()
		}
		me.file.inode = w.path[me.s]
		return goes
	}}
	lock = &action{
		name: "lock", do: func(w *world, me *actor) verdict {
			if w.locked(me.file.inode) {
				return fails
			}
			me.file.locked = true
			return goes
		},
		// A refusal is doubted for a while.
		orName: "lock again", or: func(w *world, me *actor) verdict {
			if !w.locked(me.file.inode) {
				return waits
			}
			me.file = file{}
			return again
		},
	}
	compare = &action{name: "compare", do: func(w *world, me *actor) verdict {
		if w.path[me.s] != me.file.inode {
			me.file = file{}
			return again
		}
		me.file.held = true
		return goes
	}}
	trust = &action{name: "do not compare", do: func(w *world, me *actor) verdict {
		me.file.held = true
		return goes
	}}
	// With the file gone from its path the lease is given up: the next one will
	// be on another file.
	unlink = &action{name: "unlink", do: func(w *world, me *actor) verdict {
		w.path[me.s], me.file.held = 0, false
		return goes
	}}
	// A session that claim finds gone leaves no lock file.
	unlinkGone = &action{name: "unlink its file", do: func(w *world, me *actor) verdict {
		if me.op == remove || !me.file.held || w.rows[me.s].state != gone || w.path[me.s] != me.file.inode {
			return skips
		}
		w.path[me.s], me.file.held = 0, false
		return goes
	}}
	unlock = &action{name: "unlock", do: func(w *world, me *actor) verdict {
		if me.file.inode == 0 {
			return skips
		}
		me.file = file{}
		return goes
	}}
	askBusy = &action{name: "ask who holds it", do: func(w *world, me *actor) verdict {
		if w.path[me.s] != 0 && w.locked(w.path[me.s]) {
			return quits
		}
		return goes
	}}
)

// The row, as in package store.
var (
	look = &action{name: "look", do: func(w *world, me *actor) verdict {
		if w.rows[me.s].state == gone {
			return fails
		}
		return goes
	}}
	doubt = &action{name: "doubt", do: func(w *world, me *actor) verdict {
		if w.rows[me.s].state != running || w.life(me.p, me.s).op == run {
			return quits
		}
		return goes
	}}
	claim = &action{name: "claim", do: func(w *world, me *actor) verdict {
		r := &w.rows[me.s]
		if r.state == gone {
			return fails
		}
		for i := range w.actors {
			if w.actors[i].s == me.s {
				w.actors[i].latest = false
			}
		}
		me.latest, me.was = true, r.state
		if me.was == running {
			me.was = interrupted
		}
		return goes
	}}
	settle = &action{name: "settle", do: func(w *world, me *actor) verdict {
		if w.rows[me.s].state != running {
			return skips
		}
		w.write(me, interrupted)
		return goes
	}}
	saveStart = &action{
		name: "save", do: func(w *world, me *actor) verdict {
			w.write(me, running)
			w.life(me.p, me.s).saved = 1
			return goes
		},
		orName: "fail to save", or: func(*world, *actor) verdict { return fails },
	}
	saveEnd = &action{name: "save", do: func(w *world, me *actor) verdict {
		w.write(me, ended)
		me.saved = 2
		return goes
	}}
	removeFolder = &action{name: "remove", do: func(w *world, me *actor) verdict {
		if w.rows[me.s].state == gone {
			return fails
		}
		w.write(me, gone)
		w.rows[me.s] = row{by: me.p}
		return goes
	}}
)

// write changes a row, as only its holder may.
func (w *world) write(me *actor, to rowState) {
	switch {
	case !me.file.held:
		w.fault = unleased
	case me.op != remove && !me.latest:
		w.fault = overtaken
	}
	w.rows[me.s].state, w.rows[me.s].orphan = to, false
}

// locked reports whether the kernel has a lock on an inode.
func (w *world) locked(inode int8) bool {
	return slices.ContainsFunc(w.actors[:], func(a actor) bool { return a.file.inode == inode && a.file.locked })
}

// freshInode returns the lowest inode that no path and no open file has.
func (w *world) freshInode() int8 {
	for inode := int8(1); ; inode++ {
		open := slices.ContainsFunc(w.actors[:], func(a actor) bool { return a.file.inode == inode })
		if !open && !slices.Contains(w.path[:], inode) {
			return inode
		}
	}
}
