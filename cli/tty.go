package cli

import (
	"context"
	"errors"
	"io"
	"os"
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

	over  <-chan struct{} // closed when this process is to end
	stuck atomic.Bool     // out took nothing after that
}

// openTTY returns the terminal of this process, which is to end with ctx.
func openTTY(ctx context.Context) *tty {
	t := &tty{in: os.Stdin, out: os.Stdout, over: ctx.Done()}
	t.typed, t.shown = term.IsTerminal(int(t.in.Fd())), term.IsTerminal(int(t.out.Fd()))
	return t
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

// Write implements io.Writer. It waits for whoever reads out, but not past the
// end of this process: such a write is left behind, and all later ones fail.
func (t *tty) Write(p []byte) (int, error) {
	if t.stuck.Load() {
		return 0, errStuck
	}
	type written struct {
		n   int
		err error
	}
	done := make(chan written, 1)
	go func() {
		n, err := t.out.Write(p)
		done <- written{n, err}
	}()
	select {
	case w := <-done:
		return w.n, w.err
	case <-t.over:
	}
	select {
	case w := <-done:
		return w.n, w.err
	case <-time.After(stuckGrace):
		t.stuck.Store(true)
		return 0, errStuck
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
