//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package process

import (
	"context"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// retry is how long Write waits for word that the terminal takes more. Linux
// gives it when the program reads, and not when the terminal itself discards
// what it had, as by the kill character in line mode.
const retry = 100 * time.Millisecond

// Write types b and returns how many bytes the terminal took, which is all of
// them if the error is nil. If the program does not read, Write waits until ctx
// ends and returns its error. Other errors are [ErrExited], and [os.ErrClosed]
// after Close.
func (p *Process) Write(ctx context.Context, b []byte) (n int, err error) {
	// The exit and the end of ctx set a deadline in the past. Each turn sets
	// its own before they are looked at, so that none goes unseen.
	cut := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		p.master.SetWriteDeadline(pastDeadline)
		close(cut)
	})
	defer func() {
		if !cancel() {
			<-cut // or it would cut off the next Write
		}
	}()
	for {
		switch {
		case p.master.SetWriteDeadline(time.Now().Add(retry)) != nil:
			return n, os.ErrClosed
		case p.hasExited():
			return n, ErrExited
		case ctx.Err() != nil:
			return n, ctx.Err()
		}
		m, err := p.writeAll(b[n:])
		if n += m; n == len(b) || err != nil {
			return n, err
		}
	}
}

// TryWrite types as much of b as the terminal takes at once, and returns how
// many bytes that is: fewer than all, without an error, are for Write to go on
// with. The errors are those of Write.
func (p *Process) TryWrite(b []byte) (n int, err error) {
	if p.hasExited() {
		return 0, ErrExited
	}
	if p.conn.Control(func(fd uintptr) { n, err = put(int(fd), b) }) != nil {
		return 0, os.ErrClosed
	}
	return n, err
}

// writeAll writes b until the deadline or a Close. The error is the terminal's
// own.
func (p *Process) writeAll(b []byte) (n int, err error) {
	_ = p.conn.Write(func(fd uintptr) bool { // Write finds out which it was
		var m int
		m, err = put(int(fd), b[n:])
		n += m
		return n == len(b) || err != nil
	})
	return n, err
}

// put writes as much of b as the terminal takes at once.
func put(fd int, b []byte) (n int, err error) {
	for n < len(b) {
		m, err := unix.Write(fd, b[n:])
		switch {
		case m > 0:
			n += m
		case err == unix.EINTR:
		case err == unix.EAGAIN, err == nil:
			return n, nil
		case err == unix.EIO:
			return n, ErrExited
		default:
			return n, fmt.Errorf("write to the terminal: %w", err)
		}
	}
	return n, nil
}

// Close closes the PTY master, which hangs up whoever still has the terminal,
// and unblocks a Read and a Write. It does not wait for the program to exit.
func (p *Process) Close() error { return p.master.Close() }
