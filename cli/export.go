package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"holdfast/session"
	"holdfast/store"

	"golang.org/x/term"
)

// Export writes what a session has printed. It reads the store, also while a
// server writes it: that is what the server would do.
func Export(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c := newCommand("export", `holdfast export ID --cast|--text|--raw [-o FILE]

Writes what a session has printed: as a recording for terminal players (asciicast v2), as text without terminal escapes, or
byte for byte. FILE is replaced when the export is whole.`)
	var cast, text, raw bool
	var file string
	c.BoolVar(&cast, "cast", false, "a recording")
	c.BoolVar(&text, "text", false, "text without terminal escapes")
	c.BoolVar(&raw, "raw", false, "the bytes")
	c.StringVar(&file, "o", "", "`file` to write instead of standard output")
	words, err := c.parse(args, stdout, 1, 1)
	if err != nil {
		return err
	}
	given := 0
	for _, f := range []bool{cast, text, raw} {
		if f {
			given++
		}
	}
	if given != 1 {
		return Usage("export needs one of --cast, --text and --raw", "holdfast export --help tells them apart")
	}
	ctl, err := c.controller()
	if err != nil {
		return err
	}
	defer ctl.Close()
	id, err := ctl.Resolve(words[0])
	if err != nil {
		return explain(words[0], err)
	}
	err = writeTo(file, stdout, func(w io.Writer) error {
		w, end := showProgress(w, file, stderr)
		defer end()
		switch {
		case cast:
			return ctl.Record(ctx, w, id)
		case raw:
			return copyLog(ctx, ctl, id, w, stderr)
		}
		plain := session.NewPlainWriter(w)
		if err := copyLog(ctx, ctl, id, plain, stderr); err != nil {
			return err
		}
		return plain.Close()
	})
	return explain(words[0], err)
}

// copyLog writes the output of a session, as far as there is any now. Bytes
// that are gone are told of and left out.
func copyLog(ctx context.Context, ctl *session.Controller, id string, w, stderr io.Writer) error {
	f, err := ctl.Follow(id)
	if err != nil {
		return err
	}
	defer f.Close()
	at, end, err := f.Bounds()
	if err != nil {
		return err
	}
	if at > 0 {
		tellGap(stderr, 0, at)
	}
	buf := make([]byte, 64<<10)
	for at < end {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := f.ReadAt(buf[:min(int64(len(buf)), end-at)], at)
		if gap, ok := errors.AsType[*store.GapError](err); ok {
			tellGap(stderr, at, min(gap.To, end))
			at = gap.To
			continue
		}
		if n == 0 {
			return err
		}
		if _, err := w.Write(buf[:n]); err != nil {
			return err
		}
		at += int64(n)
	}
	return nil
}

func tellGap(stderr io.Writer, from, to int64) {
	fmt.Fprintf(stderr, "holdfast: the output from %d to %d is gone and not in the export\n", from, to)
}

// writeTo calls write with a file that replaces the one at path if all goes
// well. What is no regular file, such as a pipe, is written as it is; no path
// is standard output.
func writeTo(path string, stdout io.Writer, write func(io.Writer) error) error {
	if path == "" {
		return write(stdout)
	}
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	if err == nil {
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".holdfast-export-") // 0600: there may be secrets in it
	if err != nil {
		return err
	}
	if err = errors.Join(write(f), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// A progress says how much was written, on one line of a terminal.
type progress struct {
	io.Writer
	stderr  io.Writer
	written int64
	next    time.Time // when to say it again
	said    bool
}

const progressEvery = 200 * time.Millisecond

// showProgress wraps the writer of a file while somebody looks at a terminal.
func showProgress(w io.Writer, file string, stderr io.Writer) (_ io.Writer, end func()) {
	f, ok := stderr.(*os.File)
	if !ok || file == "" || !term.IsTerminal(int(f.Fd())) {
		return w, func() {}
	}
	p := &progress{Writer: w, stderr: stderr, next: time.Now().Add(progressEvery)}
	return p, func() {
		if p.said {
			fmt.Fprint(stderr, "\r\x1b[K")
		}
	}
}

func (p *progress) Write(b []byte) (int, error) {
	n, err := p.Writer.Write(b)
	p.written += int64(n)
	if now := time.Now(); now.After(p.next) {
		fmt.Fprintf(p.stderr, "\r%d MiB written", p.written>>20)
		p.next, p.said = now.Add(progressEvery), true
	}
	return n, err
}
