// Package state is the life of a session as one pure transition matrix.
//
// Next is the single source of truth: every lifecycle change in the program
// asks it, and nothing else decides a state. The package has no I/O, no locks
// and no clock; calls may be made from any goroutine.
//
// It does not know when an event happens, only what an event means.
// TerminationEvent and ClassifyInterrupt name the event, or the class, for
// facts that are true at the same time.
package state

import (
	"errors"
	"fmt"
)

// ErrIllegal reports an event that the matrix does not allow in a state. Next
// returns it, wrapped with both names, together with the unchanged state.
var ErrIllegal = errors.New("illegal transition")

// A State says where a session is in its life. The zero value is a session
// that does not exist yet.
type State string

const (
	// New has no row yet. Next: Running, shown as Pending while the start is
	// in flight.
	New State = ""

	// Pending is how a new session's start in flight shows. It can be
	// terminated, not started. Next: Running, or any of the three ends.
	Pending State = "pending"

	// Running has a program and recent output or input. Next: Idle or any of
	// the three ends.
	Running State = "running"

	// Idle has a program that has been quiet. Next: Running or any of the
	// three ends.
	Idle State = "idle"

	// Stopped has no program, because its user ended it. Terminal until it
	// is started again.
	Stopped State = "stopped"

	// Ended has no program, because it exited by itself: cleanly, by a
	// signal, or by a crash. Terminal until it is started again.
	Ended State = "ended"

	// Interrupted has no program, because the process that held the session
	// went away. It has a Cause. Terminal until it is started again.
	Interrupted State = "interrupted"
)

// Live reports whether a session in s has, or is getting, a program.
func (s State) Live() bool { return s == Pending || s == Running || s == Idle }

// An Event is what may happen to a session.
type Event string

const (
	// Start spawns a program where there is none.
	Start Event = "start"

	// GoIdle reports that nothing was printed or typed for a while.
	GoIdle Event = "idle"

	// Resume reports activity, or a new front end, on a live program.
	Resume Event = "resume"

	// UserStop is a person's or a script's request to end the program.
	UserStop Event = "user_stop"

	// Exit is the end of the program by itself.
	Exit Event = "exit"

	// GatewayShutdown is the end of the process that held the session,
	// orderly or not.
	GatewayShutdown Event = "gateway_shutdown"
)

// A Cause says why a session is Interrupted. It is kept only while it is, and
// cleared by the next start.
type Cause string

const (
	// CauseNone goes with every state but Interrupted.
	CauseNone Cause = ""

	// CauseGatewayShutdown says that the holder closed in an orderly way.
	CauseGatewayShutdown Cause = "gateway_shutdown"

	// CauseGatewayCrash says that the holder died: its row claims a live
	// program and its lease is free.
	CauseGatewayCrash Cause = "gateway_crash"
)

// matrix has every legal edge. A missing cell is illegal; a cell equal to its
// row is an idempotent no-op.
var matrix = map[State]map[Event]State{
	New:         {Start: Running},
	Pending:     {UserStop: Stopped, Exit: Ended, GatewayShutdown: Interrupted},
	Running:     {GoIdle: Idle, Resume: Running, UserStop: Stopped, Exit: Ended, GatewayShutdown: Interrupted},
	Idle:        {GoIdle: Idle, Resume: Running, UserStop: Stopped, Exit: Ended, GatewayShutdown: Interrupted},
	Stopped:     {Start: Running, UserStop: Stopped, Exit: Stopped, GatewayShutdown: Stopped},
	Ended:       {Start: Running, UserStop: Ended, Exit: Ended, GatewayShutdown: Ended},
	Interrupted: {Start: Running, UserStop: Interrupted, Exit: Interrupted, GatewayShutdown: Interrupted},
}

// Next returns the state that follows from when ev happens. An illegal event
// gives from unchanged and an error that matches ErrIllegal.
func Next(from State, ev Event) (State, error) {
	if to, ok := matrix[from][ev]; ok {
		return to, nil
	}
	return from, fmt.Errorf("%w: %s of a %s session", ErrIllegal, ev, from)
}

// Valid reports whether s is one of the seven states.
func (s State) Valid() bool {
	_, ok := matrix[s]
	return ok
}

// TerminationEvent names the event that ended a program, when several reasons
// may be true at once: a stop that its user asked for wins over the shutdown
// of the holder, and that over an exit by itself.
func TerminationEvent(stopRequested, closing bool) Event {
	switch {
	case stopRequested:
		return UserStop
	case closing:
		return GatewayShutdown
	default:
		return Exit
	}
}
