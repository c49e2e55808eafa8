package session_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A model of how sessions are leased, started, bound, ended and removed, small
// enough to try every order in which things can happen. It is to be read next
// to the package comments of session and leasefs.
//
//   - The lists of protocol are the protocol: an action is one system call or
//     one critical section. What each does is in model_action_test.go (lock
//     file, row) and model_control_test.go (controller).
//   - model_world_test.go has the state that they change, model_step_test.go
//     how one state follows from another, crashes included.
//   - model_rule_test.go has what must be true in every state.
//   - model_variant_test.go has the protocol without one of its parts, and the
//     rule that breaks then.
//
// Two processes P and Q share the store with the sessions a and b. P gets two
// requests at the same time, Q gets one; see everything. Each process may crash
// once, between any two actions, and starts again.
//
// Not in the model:
//
//   - the holder record, which decides nothing;
//   - the table of a process's leases, since locks of open files refuse by
//     themselves;
//   - the fence, which would hide that the lease has failed: a write that it
//     would have to refuse breaks a rule here;
//   - a stop, which is an exit that somebody wants;
//   - programs that outlive their terminal.
type model struct {
	lists map[op][]*action
	asks  [requests][]ask // what each request may be
}

// An op is what an actor is at.
type op int8

const (
	nothing op = iota
	resume
	remove
	check // of the truth of a row
	run   // the life of a session: its program, and then its end
	over  // a request that was answered
	undo  // not of an actor: the way out of a request
)

func (o op) String() string {
	return [...]string{"nothing", "resume", "delete", "check", "run", "over", "undo"}[o]
}

// protocol returns the actions of each op in their order. undo is what a
// request does that fails or has nothing to do; of its actions those are left
// out that have nothing to undo.
func protocol() map[op][]*action {
	return map[op][]*action{
		resume: {look, lockBind, reserve, enter, open, lock, compare, claim, settle,
			spawn, saveStart, publishStart, admit, bind, unlockBind},
		remove: {reserveLong, look, end, open, lock, compare,
			removeFolder, unlink, unlock, unbind, unreserve},
		check: {doubt, askBusy, reserve, lookUp, open, lock, compare, claim, settle, unlock, unreserve},
		run:   {exit, saveEnd, publishEnd, unlock, leave},
		undo:  {kill, unlinkGone, unlock, leave, unreserve, unlockBind},
	}
}

// An ask is one request.
type ask struct {
	op op
	s  int8 // the session: 0 is a, 1 is b
}

// everything that may be asked. Sessions are alike, so that a may be the one
// where three requests meet.
var everything = [requests][]ask{
	{{resume, 0}, {remove, 0}, {check, 0}},
	{{resume, 0}, {remove, 0}, {check, 0}, {resume, 1}, {remove, 1}},
	{{resume, 0}, {remove, 0}, {check, 0}},
}

func TestRulesHoldInEveryOrder(t *testing.T) {
	found := model{protocol(), everything}.explore()
	if found.broken != whole {
		t.Fatalf("%v after %d states:\n%s", found.broken, found.states, found.trace)
	}
	t.Logf("%d states", found.states)
	// What was never done was not checked.
	for o, list := range protocol() {
		for _, a := range list {
			if !found.done[a.name] {
				t.Errorf("%v: %q was never done", o, a.name)
			}
			if a.or != nil && !found.done[a.orName] {
				t.Errorf("%v: %q was never done", o, a.orName)
			}
		}
	}
}

// findings are what explore has seen.
type findings struct {
	states int
	done   map[string]bool // actions, by their names
	broken rule            // the first that was
	trace  string          // the shortest way there
}

// A visit is how a state was reached first: by what an actor did.
type visit struct {
	from  int // the visit before, or -1
	actor name
	did   string
}

// explore visits all states that can be reached, the nearest first, until one
// breaks a rule.
func (m model) explore() findings {
	var (
		worlds []world // by visit
		visits []visit
		known  = map[world]struct{}{}
		found  = findings{done: map[string]bool{}}
	)
	reach := func(w world, v visit) {
		found.done[v.did] = true
		if _, ok := known[w]; ok || found.broken != whole {
			return
		}
		known[w] = struct{}{}
		worlds, visits = append(worlds, w), append(visits, v)
		if found.broken = w.broken(); found.broken != whole {
			found.trace = trace(visits, len(visits)-1)
		}
	}
	for _, w := range beginnings() {
		reach(w, visit{-1, name{}, w.String()})
	}
	for i := 0; i < len(worlds) && found.broken == whole; i++ {
		w := worlds[i]
		goesOn := false
		m.each(w, func(actor name, did string, next world) {
			goesOn = goesOn || did != crash
			reach(next, visit{i, actor, did})
		})
		if !goesOn && w.waiting() && found.broken == whole {
			found.broken, found.trace = deadlock, trace(visits, i)
		}
	}
	found.states = len(visits)
	return found
}

// trace tells how a state was reached: a line for each actor that goes on.
func trace(visits []visit, i int) string {
	var way []visit
	for ; i >= 0; i = visits[i].from {
		way = append(way, visits[i])
	}
	var b strings.Builder
	slices.Reverse(way)
	fmt.Fprintf(&b, "  at first: %s", way[0].did)
	for j, v := range way[1:] {
		if j > 0 && v.actor == way[j].actor {
			fmt.Fprintf(&b, ", %s", v.did)
		} else {
			fmt.Fprintf(&b, "\n  %v: %s", v.actor, v.did)
		}
	}
	return b.String()
}
