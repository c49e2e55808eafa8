package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"holdfast/session"
)

// Export writes what a session has printed. It reads the store, also while a
// server writes it: that is what the server would do.
func Export(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c := newCommand("export", `holdfast export ID --cast|--text|--raw [-o FILE]

Writes what a session has printed: as a recording for terminal players (asciicast v2), as text without terminal escapes, or
byte for byte. FILE is replaced when the export is whole. With -o, --json prints what was written where.`).withJSON()
	formats := map[string]*bool{
		"cast": c.Bool("cast", false, "a recording"),
		"text": c.Bool("text", false, "text without terminal escapes"),
		"raw":  c.Bool("raw", false, "the bytes"),
	}
	var file string
	c.StringVar(&file, "o", "", "`file` to write instead of standard output, which - is")
	words, err := c.parse(args, stdout, 1, 1)
	if err != nil {
		return err
	}
	if file == "-" {
		file = ""
	}
	maps.DeleteFunc(formats, func(_ string, given *bool) bool { return !*given })
	if len(formats) != 1 {
		return Usage("export needs one of --cast, --text and --raw", "holdfast export --help tells them apart")
	}
	if c.json && file == "" {
		return Usage("export --json needs -o", "standard output has what the session printed; give a file for that")
	}
	ctl, err := c.controller()
	if err != nil {
		return err
	}
	defer ctl.Close()
	id, err := ctl.Resolve(words[0])
	if err != nil {
		return Explain(words[0], err)
	}
	e := export{ctl: ctl, id: id, progress: showProgress(stderr, file != "" || isRegular(stdout))}
	for e.format = range formats {
	}
	err = writeTo(file, stdout, func(w io.Writer) error { return e.write(ctx, w) })
	if err != nil || !c.json {
		return Explain(words[0], err)
	}
	return PrintJSON(stdout, map[string]any{"id": id, "format": e.format, "file": file, "bytes": e.written, "missing": e.missing})
}

// An export is one session in one format.
type export struct {
	ctl      *session.Controller
	id       string
	format   string // cast, text or raw
	progress *progress
	written  int64 // bytes, once it was written
	missing  int64 // bytes of output that are gone
}

func (e *export) write(ctx context.Context, w io.Writer) (err error) {
	count := &countingWriter{Writer: w, progress: e.progress}
	defer func() {
		e.progress.clear()
		e.written = count.written
	}()
	switch e.format {
	case "cast":
		e.missing, err = e.ctl.Record(ctx, count, e.id)
		if err == nil && e.missing > 0 {
			e.progress.clear()
			fmt.Fprintf(e.progress.stderr, "holdfast: %d bytes of output are gone\n", e.missing)
		}
		return err
	case "raw":
		return e.copyLog(ctx, count)
	}
	text := session.NewPlainWriter(count)
	if err := e.copyLog(ctx, text); err != nil {
		return err
	}
	return text.Close()
}

// copyLog writes the output of a session, as far as there is any now. Bytes
// that are gone are told of and left out.
func (e *export) copyLog(ctx context.Context, w io.Writer) error {
	f, err := e.ctl.Follow(e.id)
	if err != nil {
		return err
	}
	defer f.Close()
	at, end, err := f.Bounds()
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("the output of the session cannot be read: %w", e.Err)
	}
	if err != nil {
		return err
	}
	if at > 0 {
		e.gap(0, at)
	}
	return f.Each(make([]byte, 64<<10), at, end, func(p []byte) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		_, err := w.Write(p)
		return err
	}, func(from, to int64) error {
		e.gap(from, to)
		return nil
	})
}

// gap tells of output that is not in the export.
func (e *export) gap(from, to int64) {
	e.missing += to - from
	e.progress.clear()
	tellGap(e.progress.stderr, from, to)
}

func tellGap(stderr io.Writer, from, to int64) {
	fmt.Fprintf(stderr, "holdfast: the output from %d to %d is gone\n", from, to)
}

const tempName = ".holdfast-export-"

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
	f, err := os.CreateTemp(filepath.Dir(path), tempName) // 0600: there may be secrets in it
	if err != nil {
		return inFile(path, err)
	}
	if err = errors.Join(write(f), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return inFile(path, err)
}

// inFile says of an error with a temporary file which file was to become of it.
func inFile(path string, err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok && strings.HasPrefix(filepath.Base(e.Path), tempName) {
		return fmt.Errorf("%s: %w", path, e.Err)
	}
	return err
}
