//go:build !(linux || darwin || dragonfly || freebsd || netbsd || openbsd)

package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

const maxLine = 4095

// Supported says whether Start can run programs on this system.
const Supported = false

// A Process is a program on a PTY. There is none on this system.
type Process struct{}

// Start fails with an error that matches [errors.ErrUnsupported].
func Start(Spec) (*Process, error) {
	return nil, fmt.Errorf("run a program on a terminal: %w", errors.ErrUnsupported)
}

// Self returns who this process is, as far as it is known.
func Self() Identity { return Identity{PID: os.Getpid()} }

// BootID returns "": the boot id is unknown.
func BootID() string { return "" }

// Alive returns false: no process is known by its identity.
func Alive(Identity) bool { return false }

// Getenv returns false: nothing is known of a process.
func Getenv(Identity, string) (string, bool) { return "", false }

// EndLeftovers does nothing and returns false.
func EndLeftovers(Identity) bool { return false }

// The methods are never called, for there is no Process.

func (*Process) Identity() Identity                         { panic(errors.ErrUnsupported) }
func (*Process) Read([]byte) (int, error)                   { panic(errors.ErrUnsupported) }
func (*Process) Write(context.Context, []byte) (int, error) { panic(errors.ErrUnsupported) }
func (*Process) TryWrite([]byte) (int, error)               { panic(errors.ErrUnsupported) }
func (*Process) Resize(cols, rows uint16) error             { panic(errors.ErrUnsupported) }
func (*Process) Signal(string) error                        { panic(errors.ErrUnsupported) }
func (*Process) Stop(time.Duration)                         { panic(errors.ErrUnsupported) }
func (*Process) Wait() Exit                                 { panic(errors.ErrUnsupported) }
func (*Process) Exited() <-chan struct{}                    { panic(errors.ErrUnsupported) }
func (*Process) LineMode() (LineMode, error)                { panic(errors.ErrUnsupported) }
func (*Process) Close() error                               { panic(errors.ErrUnsupported) }
