package cli

import (
	"io"
	"os"

	"golang.org/x/term"
)

// A tty is the terminal, or what stands in its place, that a session is shown
// on: standard input and output.
type tty struct {
	in, out *os.File
	typed   bool        // in is a terminal: keys are typed there
	shown   bool        // out is a terminal
	cooked  *term.State // of in, before it was raw
}

func openTTY() *tty {
	t := &tty{in: os.Stdin, out: os.Stdout}
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
	old, err := term.MakeRaw(int(t.in.Fd()))
	if err == nil && t.cooked == nil {
		t.cooked = old
	}
	return err
}

// cook brings the terminal's line mode back.
func (t *tty) cook() {
	if t.cooked != nil {
		term.Restore(int(t.in.Fd()), t.cooked)
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

// Write implements io.Writer.
func (t *tty) Write(p []byte) (int, error) { return t.out.Write(p) }

func (t *tty) write(s string) { io.WriteString(t.out, s) }

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
