package cli

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// progressEvery is how often a line that says how far something is changes.
const progressEvery = 200 * time.Millisecond

// A progress is a line on the terminal of somebody who waits. It leaves no
// trace there.
type progress struct {
	stderr io.Writer
	seen   bool      // stderr is a terminal
	next   time.Time // when it may change again
	said   bool      // the line is there
}

// showProgress shows nothing before it has lasted for a moment, nor if nobody
// wants to see it or stderr is no terminal.
func showProgress(stderr io.Writer, wanted bool) *progress {
	return &progress{stderr: stderr, seen: wanted && isTerminal(stderr), next: time.Now().Add(progressEvery)}
}

// say makes the line say something, which must fit a small terminal.
func (p *progress) say(text string) {
	if p.seen {
		fmt.Fprintf(p.stderr, "\r%s\x1b[K", text)
		p.next, p.said = time.Now().Add(progressEvery), true
	}
}

// clear takes the line away, so that something else can be printed.
func (p *progress) clear() {
	if p.said {
		fmt.Fprint(p.stderr, "\r\x1b[K")
		p.said = false
	}
}

// A countingWriter says how much was written.
type countingWriter struct {
	io.Writer
	progress *progress
	written  int64
}

func (w *countingWriter) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b)
	w.written += int64(n)
	if time.Now().After(w.progress.next) {
		w.progress.say(fmt.Sprintf("%d MiB written", w.written>>20))
	}
	return n, err
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// isRegular reports whether w is a file that keeps what is written.
func isRegular(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode().IsRegular()
}
