// Package process runs a program on a terminal of its own and ends it again,
// with everything it left behind.
//
// A [Process] is a program on a new PTY, at the head of a new kernel session.
// The package promises:
//
//   - Every byte that the program wrote before it exited is read before
//     [io.EOF], however late the reader comes. A background job that keeps the
//     terminal open, or floods it, delays the end by the drain grace (300 ms)
//     and 2 MiB of output at most.
//   - The PTY master is non-blocking and waits in Go's poller: an idle process
//     costs no thread and no buffer, and Close unblocks a Read and a Write.
//   - The program inherits the PTY as descriptors 0, 1 and 2, and nothing
//     else. For that, each Start on Linux marks every descriptor of this
//     process close-on-exec, those too that its own parent left open.
//   - The program ignores no signal because this process does: from the first
//     Start on an ignored SIGHUP or SIGINT is caught here, without effect.
//   - Stop leaves nothing alive in the program's kernel session, whatever
//     process groups job control made of it. A job that made a session of its
//     own (setsid) is out of its reach.
//
// # Concurrency
//
// One goroutine reads and one writes at a time. All other methods may be called
// by any goroutine, beside a Read and a Write that wait. The package has one
// goroutine per program, which ends when the program has exited.
//
// # Limits
//
// Linux needs /proc, and kernel 5.4 to wait without a thread. On macOS and the
// BSDs waiting for the exit takes a thread, Stop reaches the program's own
// process group only, and [Identity] has no start time, so that leftovers are
// never recognised. Elsewhere Start fails with [errors.ErrUnsupported].
package process

import (
	"errors"
	"time"
)

var (
	// ErrExited reports that the program has exited, or has closed its
	// terminal for good.
	ErrExited = errors.New("program has exited")

	// ErrUnknownSignal reports a signal name that this system does not have.
	ErrUnknownSignal = errors.New("unknown signal")
)

const (
	// drainGrace is how long Read waits, after the program's exit, for a
	// terminal that a background job holds open.
	drainGrace = 300 * time.Millisecond

	// drainLimit is how many bytes are read after the grace if the terminal
	// does not run empty. It is more than any kernel queues on a PTY, so that
	// all the program wrote is among them (Linux: 8 KiB and a line, with a
	// driver default of twice 640 KiB).
	drainLimit = 2 << 20

	// killLimit is how long processes may take to die of SIGKILL. One that
	// needs longer waits for a device and cannot be helped.
	killLimit = 2 * time.Second
)

// A Spec says what to run.
type Spec struct {
	Path       string   // the program's file; relative to Dir, but never a bare name
	Argv       []string // all arguments, the program's name first
	Dir        string   // the working folder; "" is this process's own
	Env        []string // the whole environment, "KEY=value"; nothing is added
	Cols, Rows uint16   // the window in character cells, set before the program runs
}

// An Identity tells a process from every other that had or will have its pid.
type Identity struct {
	PID   int
	Start uint64 // clock ticks from boot to its start; 0 if unknown
	Boot  string // the boot id of its machine; "" if unknown
}

// An Exit says how a program ended.
type Exit struct {
	Code   int    // the exit code, or -1 if a signal ended it
	Signal string // the signal's name without SIG ("KILL"), or ""
}
