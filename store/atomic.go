package store

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// tempMark is in the name of every temp file, after a dot and the name of
// the file that it is to replace.
const tempMark = ".tmp-"

// A hook is called before each named step of a commit, and fails the step by
// returning an error. It is nil outside tests.
type hook func(step string) error

func (h hook) at(step string) error {
	if h == nil {
		return nil
	}
	return h(step)
}

// do runs a step unless the hook fails it.
func (h hook) do(step string, run func() error) error {
	if err := h.at(step); err != nil {
		return err
	}
	return run()
}

// ReplaceFile makes data the whole content of the file at path, mode 0600:
// readers see the old content or the new, never a mixture, also after a power
// cut. With durable the new content is what a power cut leaves from the moment
// ReplaceFile returns; without, it may still leave the old.
//
// On any error the old file is as it was, or still absent, and no temp file is
// left; only a disk that then refuses three times to take the old content again
// keeps the new one, and the error says so. A process that dies inside may leave
// a temp file. What is at path must be a regular file or nothing: a symbolic
// link is neither followed nor replaced.
func ReplaceFile(path string, data []byte, durable bool) error {
	_, err := replaceFile(path, data, durable, nil)
	return err
}

// replaceFile is ReplaceFile. It returns the stamp of the new file. The order
// of system calls:
//
//	lstat path             refuse what is no regular file
//	open, read, close      the old content, only if durable, for the way back
//	open O_EXCL            step "create": temp file, same folder, mode 0600
//	write                  step "write"
//	fsync                  step "fsync": also if not durable, or a power cut can
//	                       leave the name with no content behind it (seen on
//	                       ext4 with noauto_da_alloc: 0 bytes)
//	close                  step "close"
//	rename                 step "rename"
//	fsync the folder       step "fsync folder", only if durable
func replaceFile(path string, data []byte, durable bool, h hook) (stamp, error) {
	name := filepath.Base(path)
	old, existed, err := oldContent(path, durable)
	if err != nil {
		return stamp{}, fmt.Errorf("replace %s: %w", name, err)
	}
	st, err := swapIn(path, data, h)
	if err != nil {
		return stamp{}, fmt.Errorf("replace %s: %w", name, err)
	}
	// After this line a crash of the process is safe: the new file is there.
	if !durable {
		return st, nil
	}
	err = h.do("fsync folder", func() error { return syncDir(filepath.Dir(path)) })
	// After this line a power cut is safe too.
	if err == nil {
		return st, nil
	}
	if undo := putBack(path, old, existed, h); undo != nil {
		return stamp{}, fmt.Errorf("replace %s: %w; the old content could not be put back: %v", name, err, undo)
	}
	return stamp{}, fmt.Errorf("replace %s: %w", name, err)
}

// putBack makes path what it was before a replacement that the disk did not
// keep. A disk that fails now and then fails here too.
func putBack(path string, old []byte, existed bool, h hook) (err error) {
	for range 3 {
		if existed {
			_, err = swapIn(path, old, func(step string) error { return h.at("put back: " + step) })
		} else {
			err = os.Remove(path)
		}
		if err == nil {
			break
		}
	}
	return err
}

// oldContent checks that path may be replaced and, for a durable replacement,
// reads what is there.
func oldContent(path string, read bool) (old []byte, existed bool, err error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, nil
	case err != nil:
		return nil, false, err
	case !info.Mode().IsRegular():
		return nil, true, fmt.Errorf("not a regular file: %s", fileKind(info.Mode()))
	case read:
		old, err = os.ReadFile(path)
	}
	return old, true, err
}

// swapIn writes data to a temp file and renames it to path. On error path is
// untouched and the temp file gone.
func swapIn(path string, data []byte, h hook) (stamp, error) {
	dir, name := filepath.Dir(path), filepath.Base(path)
	var f *os.File
	err := h.do("create", func() (err error) {
		f, err = os.CreateTemp(dir, "."+name+tempMark+"*")
		return err
	})
	if err != nil {
		return stamp{}, err
	}
	st, err := fill(f, data, h)
	if err == nil {
		err = h.do("rename", func() error { return os.Rename(f.Name(), path) })
	}
	if err != nil {
		os.Remove(f.Name()) // best effort: the reason to report is err
		return stamp{}, err
	}
	return st, nil
}

// fill writes data to f, syncs and closes it. A failed fsync is never tried
// again on the same file: the kernel may have dropped the data and call the
// second one a success.
func fill(f *os.File, data []byte, h hook) (stamp, error) {
	err := h.do("write", func() error { _, err := f.Write(data); return err })
	if err == nil {
		err = h.do("fsync", f.Sync)
	}
	var info fs.FileInfo
	if err == nil {
		info, err = f.Stat()
	}
	// cmp.Or has its arguments evaluated: the file is closed in any case.
	if err := cmp.Or(err, h.at("close"), f.Close()); err != nil {
		return stamp{}, err
	}
	return stampOf(info), nil
}

// maxFile is the size in bytes of a file that ReadFile reads.
const maxFile = 1 << 20

// ReadFile reads a small file like those that ReplaceFile writes. What is no
// regular file is refused: to open a FIFO would wait for ever, and a symbolic
// link leads out of the store. One over 1 MiB is refused before it fills the
// memory.
func ReadFile(path string) ([]byte, error) {
	if err := regular(path); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxFile {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("is over 1 MiB; no more is read")}
	}
	return b, nil
}

// regular refuses what is at path if it is no regular file, but a link, a
// folder or a special file.
func regular(path string) error {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return &fs.PathError{Op: "open", Path: path, Err: errors.New("is " + fileKind(info.Mode()))}
	}
	return nil
}

// Sweep removes the temp files that a crash of ReplaceFile left in the folder
// dir. Only for whoever alone replaces files there.
func Sweep(dir string) error { return sweepTemps(dir, "") }

// sweepTemps is Sweep for the file name alone; "" is any file.
func sweepTemps(dir, name string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		of, _, temp := strings.Cut(strings.TrimPrefix(e.Name(), "."), tempMark)
		if temp && e.Name()[0] == '.' && (name == "" || of == name) {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// fileKind names a mode for people.
func fileKind(m fs.FileMode) string {
	switch {
	case m.IsRegular():
		return "a file"
	case m.IsDir():
		return "a folder"
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	default:
		return "a special file"
	}
}
