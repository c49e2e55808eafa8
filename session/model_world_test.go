package session_test

import "fmt"

const (
	requests  = 3
	lives     = 3 // of a and b in P, of a in Q
	processes = 2
	sessions  = 2
	none      = -1 // no session, no process
)

// processOf says to which process a request goes: 0 is P, 1 is Q.
var processOf = [requests]int8{0, 0, 1}

// A world is one state of everything. It is comparable, so that a state is
// known again.
type world struct {
	actors [requests + lives]actor // the requests, then the lives
	procs  [processes]proc
	rows   [sessions]row
	path   [sessions]int8 // the inode of a session's lock file; 0: no file
	fault  rule           // what an action has broken
}

// An actor is a request or a life: a goroutine with the lease that it works
// under.
type actor struct {
	op     op
	pc     int8 // the next action in the op's list
	undoes bool // pc is in the undo list
	p, s   int8 // process and session

	file   file
	latest bool // nobody has claimed the session since: its epoch is the row's

	// Of a request.
	bind     bool     // has bindMu
	reserved bool     // has its session reserved
	entered  bool     // has registered a life that it has not published
	moved    bool     // has moved the binding
	was      rowState // what a start that fails must leave

	// Of a life.
	program     bool
	saved, told int8 // 1: its start, 2: its end
}

// A file is an open lock file. The kernel's locks are those of all actors'
// files: they go with them.
type file struct {
	inode  int8 // 0: not open
	locked bool
	held   bool // its actor takes the lease for its own
}

// A proc is what a process has apart from its actors.
type proc struct {
	bindMu   bool // is locked
	reserved [sessions]reservation
	bound    int8 // session
	admitted int8 // the last session that a resume had started or found live
	crashed  bool // before
}

var newProc = proc{bound: none, admitted: none}

type reservation int8

const (
	free reservation = iota
	short
	long
)

// A row has no number for its epoch: the actor that has claimed it last knows.
type row struct {
	state  rowState
	orphan bool // running, and its holder has died
	by     int8 // gone: the process that has removed it
}

type rowState int8

const (
	gone rowState = iota
	ended
	interrupted
	running
)

func (s rowState) String() string {
	return [...]string{"gone", "ended", "interrupted", "running"}[s]
}

// beginnings are the states to begin with: nothing is live, a may have been left
// by a crash. Lock files are there, since they go with their session only.
func beginnings() (all []world) {
	for _, a := range []row{{state: ended}, {state: running, orphan: true}} {
		all = append(all, world{
			procs: [processes]proc{newProc, newProc},
			rows:  [sessions]row{a, {state: ended}},
			path:  [sessions]int8{1, 2},
		})
	}
	return all
}

func (w world) String() string {
	return fmt.Sprintf("a is %v, b is %v", w.rows[0].state, w.rows[1].state)
}

// life returns the life of a session in a process. Its op says whether there
// is one.
func (w *world) life(p, s int8) *actor { return &w.actors[requests+sessions*int(p)+int(s)] }

// A name is that of an actor, or of a process, in a trace.
type name struct {
	i  int8 // of the actor, or, after these, of the process
	op op
	s  int8
}

func (w *world) name(i int) name { return name{int8(i), w.actors[i].op, w.actors[i].s} }

func (n name) String() string {
	who := [...]string{"P1", "P2", "Q1", "P", "P", "Q", "P", "Q"}[n.i]
	if n.i >= requests+lives {
		return who
	}
	return fmt.Sprintf("%s %v %c", who, n.op, 'a'+n.s)
}
