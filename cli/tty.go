package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/term"
)

// A tty is the terminal, or what stands in its place, that a session is shown
// on: standard input and output.
type tty struct {
	in, out *os.File
	typed   bool        // in is a terminal: keys are typed there
	shown   bool        // out is a terminal
	cooked  *term.State // of in, before it was raw

	over   <-chan struct{} // closed when this process is to end
	stuck  atomic.Bool     // out took nothing after that
	mu     sync.Mutex      // held for a write to out
	writes atomic.Int64    // twice those that are over; and one if one is under way
}

// openTTY returns the terminal of this process, which is to end with ctx.
func openTTY(ctx context.Context) *tty {
	t := &tty{in: os.Stdin, out: os.Stdout, over: ctx.Done()}
	t.typed, t.shown = term.IsTerminal(int(t.in.Fd())), term.IsTerminal(int(t.out.Fd()))
	return t
}

// Read reads what is typed. A terminal that is gone has an end; that of one
// which is still there was typed as a key, before the terminal was raw.
func (t *tty) Read(p []byte) (int, error) {
	n, err := t.in.Read(p)
	if err == io.EOF && len(p) > 0 && term.IsTerminal(int(t.in.Fd())) {
		p[0] = 0x04 // Ctrl-D
		return 1, nil
	}
	return n, err
}

// interactive reports whether there is somebody to ask.
func (t *tty) interactive() bool { return t.typed && t.shown }

// raw hands every key on as it is typed, until cook.
func (t *tty) raw() error {
	if !t.typed {
		return nil
	}
	var old *term.State
	var err error
	unstopped(func() { old, err = term.MakeRaw(int(t.in.Fd())) })
	if err == nil && t.cooked == nil {
		t.cooked = old
	}
	return err
}

// cook brings the terminal's line mode back.
func (t *tty) cook() {
	if t.cooked != nil {
		unstopped(func() { term.Restore(int(t.in.Fd()), t.cooked) })
	}
}

// size is that of the terminal in character cells; 0, 0 if there is none.
func (t *tty) size() (cols, rows int) {
	for _, f := range []*os.File{t.out, t.in} {
		if cols, rows, err := term.GetSize(int(f.Fd())); err == nil && cols > 0 && rows > 0 {
			return cols, rows
		}
	}
	return 0, 0
}

// stuckGrace is how long a write may take once this process is to end.
const stuckGrace = 250 * time.Millisecond

var errStuck = errors.New("nobody reads it")

// Write implements io.Writer. It waits for whoever reads out; see outlast.
func (t *tty) Write(p []byte) (int, error) {
	if t.stuck.Load() {
		return 0, errStuck
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.writes.Add(1)
	defer t.writes.Add(1)
	return t.out.Write(p)
}

// outlast returns what work does, which writes to out. Once this process is to
// end it waits for no write that makes no progress: work is left behind then,
// all later writes fail, and so does outlast.
//
// A write to a terminal cannot be called off. To wait for each in another
// goroutine would be two wakes of a thread for each.
func (t *tty) outlast(work func() error) error {
	done := make(chan error, 1)
	go func() { done <- work() }()
	select {
	case err := <-done:
		return err
	case <-t.over:
	}
	for {
		before := t.writes.Load()
		select {
		case err := <-done:
			return err
		case <-time.After(stuckGrace):
		}
		if before%2 == 1 && t.writes.Load() == before {
			t.stuck.Store(true)
			return errStuck
		}
	}
}

func (t *tty) write(s string) { io.WriteString(t, s) }

// Sequences that the front end itself needs (ECMA-48, xterm's ctlseqs).
const (
	enterAlternate = "\x1b[?1049h\x1b[2J\x1b[H"
	leaveAlternate = "\x1b[?1049l"
	clearScreen    = "\x1b[2J\x1b[H"
	saveCursor     = "\x1b7"
	restoreCursor  = "\x1b8"
	lastRow        = "\x1b[999;1H"
	clearLine      = "\x1b[K"
	reverse        = "\x1b[7m"
	normal         = "\x1b[0m"
	bell           = "\a"
)
