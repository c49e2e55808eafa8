package state

// A Class says what a front end lost when it lost a session. It is computed
// from facts when it is needed and never persisted.
type Class string

const (
	// Disconnected: the program and its holder live, only a client is gone.
	// It changes no state at all.
	Disconnected Class = "disconnected"

	// Orphaned: the program outlived the process that held its terminal.
	// Nobody can reach it any more.
	Orphaned Class = "orphaned"

	// Crashed: the program is gone.
	Crashed Class = "crashed"
)

// A Recovery is what to do about a Class.
type Recovery string

const (
	// WaitForAttach leaves the program alone: its client will come back.
	// Never respawn.
	WaitForAttach Recovery = "wait_for_attach"

	// Respawn starts the program again, after what is left of the old run
	// has been ended.
	Respawn Recovery = "respawn"
)

// ClassifyInterrupt tells the three apart: procAlive says that the program of
// the last run is still there, gatewayRestarted that the process which held
// it is not the one that asks.
func ClassifyInterrupt(procAlive, gatewayRestarted bool) Class {
	switch {
	case !procAlive:
		return Crashed
	case gatewayRestarted:
		return Orphaned
	default:
		return Disconnected
	}
}

// Recovery returns what to do about c.
func (c Class) Recovery() Recovery {
	if c == Disconnected {
		return WaitForAttach
	}
	return Respawn
}
