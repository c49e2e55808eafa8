package cli

import (
	"fmt"
	"os"
	"syscall"

	"holdfast/session"
)

// An ExitStatus ends the process with a program's status, without a word.
type ExitStatus int

// Error implements error.
func (e ExitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// bySignal is added to the number of a signal that ended a program.
const bySignal = 128

const hangup = ExitStatus(bySignal + int(syscall.SIGHUP))

// StatusOfSignal is the status of a process that a signal ended.
func StatusOfSignal(sig os.Signal) ExitStatus {
	if n, ok := sig.(syscall.Signal); ok {
		return ExitStatus(bySignal + int(n))
	}
	return 1
}

// statusOf is how a shell would tell of the end of a session's program.
func statusOf(v *session.View) error {
	switch {
	case v.Signal != "":
		return ExitStatus(bySignal + signalNumber(v.Signal))
	case v.ExitCode == nil:
		return ExitStatus(1) // nobody saw its end
	case *v.ExitCode != 0:
		return ExitStatus(*v.ExitCode)
	}
	return nil
}
