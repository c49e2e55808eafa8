//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package process

import (
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// phase is how far the reading of a program's output has come.
type phase int

const (
	// live has a program. A terminal that nobody holds open may be opened
	// again (/dev/tty), so that only the exit ends this phase. Next: grace.
	live phase = iota

	// grace has lost its program; background jobs may still write. It ends
	// with the terminal, or after drainGrace. Next: rest or ended.
	grace

	// rest reads what is queued, without waiting, up to drainLimit. Next:
	// ended.
	rest

	// ended has no more output. Final.
	ended
)

// output is the reader's side of a Process. The fields are kept here, not on
// the reader's stack, so that a Read allocates nothing.
type output struct {
	phase     phase
	left      int // bytes that may still be read in rest
	buf       []byte
	n         int // bytes of buf filled
	drainFunc func(fd uintptr) bool
}

var (
	noDeadline   time.Time
	pastDeadline = time.Unix(1, 0)
)

// Read waits for output, then reads without waiting until b is full or the
// terminal is empty. It returns [io.EOF] after the last byte: when the program
// has exited and nobody holds the terminal open, or the drain grace is over. It
// returns [os.ErrClosed] after Close.
func (p *Process) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	o := &p.out
	o.buf, o.n = b, 0
	defer func() { o.buf = nil }()
	for o.phase != ended && o.phase != rest {
		err := p.conn.Read(o.drainFunc)
		switch {
		case o.n > 0:
			return o.n, nil
		case err == nil: // ended
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return 0, os.ErrClosed
		case o.phase == live: // watch has seen the exit
			o.phase = grace
			if p.master.SetReadDeadline(time.Now().Add(drainGrace)) != nil {
				return 0, os.ErrClosed
			}
		default:
			o.phase, o.left = rest, drainLimit
		}
	}
	if o.phase == ended {
		return 0, io.EOF
	}
	return p.readRest()
}

// readRest is Read in the phase rest. The deadline has passed, so that nothing
// can wait any more.
func (p *Process) readRest() (int, error) {
	o := &p.out
	o.buf = o.buf[:min(len(o.buf), o.left)]
	if err := p.conn.Control(func(fd uintptr) { o.drain(fd) }); err != nil {
		return 0, os.ErrClosed
	}
	if o.n == 0 {
		o.phase = ended
		return 0, io.EOF
	}
	o.left -= o.n
	return o.n, nil
}

// drain fills buf as far as the terminal has output now. It reports false if
// the poller has to wait for more.
func (o *output) drain(fd uintptr) bool {
	for o.n < len(o.buf) {
		n, err := unix.Read(int(fd), o.buf[o.n:])
		switch {
		case n > 0:
			o.n += n
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			return o.n > 0
		default: // EIO, or 0 on the BSDs: nobody holds the terminal open
			if o.n == 0 && o.phase == grace {
				o.phase = ended
			}
			return o.n > 0 || o.phase == ended
		}
	}
	return true
}
