package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"sort"
)

// unknown stands for an offset that is past all that is known.
const unknown = math.MaxInt64

// A GapError reports a read at an offset whose byte does not exist: it was
// removed by retention, or it was lost or never written around a power cut.
type GapError struct {
	From int64 // the offset that was asked for
	To   int64 // the next offset that can be read; it may be the log's end
}

func (e *GapError) Error() string {
	return fmt.Sprintf("output from %d to %d is gone", e.From, e.To)
}

// Restart reports whether a gap that begins behind the last byte before it is
// one that a restart of the machine, or a takeover by another one, makes on
// purpose. It is told by its size, from which the late bytes are missing that
// a host got to the disk after another had taken over.
func (e *GapError) Restart() bool { return e.To-e.From > holeSize/2 }

// A logReader reads the output of one session, by offset. It is for one
// goroutine. It keeps the segment that it read last open, so that retention
// does not take that from under it.
type logReader struct {
	dir       string
	published func() (oldest, end int64) // nil: what is in the folder

	file  *os.File // the open segment, or nil
	first int64    // offset of its first byte
	limit int64    // where the next segment begins, as far as that is known
}

// newLogReader returns a reader of the log in dir. bounds tells what the
// writer of this process has published; nil means that there is none, and
// that what is in the folder counts.
func newLogReader(dir string, bounds func() (oldest, end int64)) *logReader {
	return &logReader{dir: dir, published: bounds}
}

// bounds returns the offset of the oldest byte and the offset after the
// newest.
func (r *logReader) bounds() (oldest, end int64, err error) {
	if r.published != nil {
		oldest, end = r.published()
		return oldest, end, nil
	}
	oldest, end, err = folderBounds(r.dir)
	if err != nil {
		return 0, 0, fmt.Errorf("read output: %w", err)
	}
	return oldest, end, nil
}

// readAt reads bytes from off on into p: at least one, and not past the end
// of a segment. At the end of the log, and after it, it returns io.EOF; where
// the byte at off does not exist, a *GapError.
func (r *logReader) readAt(p []byte, off int64) (int, error) {
	end := int64(unknown)
	if r.published != nil {
		if _, end = r.published(); off >= end {
			return 0, io.EOF
		}
		p = p[:min(int64(len(p)), end-off)]
	}
	if r.file != nil && off >= r.first && off < r.limit {
		if n, err := r.read(p, off); err != io.EOF {
			return n, err
		}
	}
	if err := r.seek(off, end); err != nil {
		return 0, err
	}
	return r.read(p, off)
}

// read reads from the open segment. io.EOF says that it has no byte at off.
func (r *logReader) read(p []byte, off int64) (int, error) {
	n, err := r.file.ReadAt(p[:min(int64(len(p)), r.limit-off)], off-r.first)
	switch {
	case n > 0 || err == nil:
		return n, nil
	case err == io.EOF:
		return 0, io.EOF
	default:
		return 0, fmt.Errorf("read output: %w", err)
	}
}

// seek opens the segment that holds the byte at off, which is before end. If
// there is none it returns a *GapError, or io.EOF if that is where an unknown
// end is, and leaves the open segment open.
func (r *logReader) seek(off, end int64) error {
	for range listTries {
		firsts, err := listSegments(r.dir)
		if err != nil {
			return fmt.Errorf("read output: %w", err)
		}
		next := sort.Search(len(firsts), func(i int) bool { return firsts[i] > off })
		if next > 0 {
			found, err := r.openAt(firsts[next-1], off)
			if errors.Is(err, fs.ErrNotExist) {
				continue // removed by retention since the listing
			}
			if err != nil {
				return fmt.Errorf("read output: %w", err)
			}
			if found {
				r.limit = unknown
				if next < len(firsts) {
					r.limit = firsts[next]
				}
				return nil
			}
		}
		if next < len(firsts) {
			to, err := firstBytes(r.dir, firsts[next:])
			if err != nil {
				return fmt.Errorf("read output: %w", err)
			}
			end = min(end, to)
		}
		if end == unknown {
			return io.EOF
		}
		return &GapError{From: off, To: end}
	}
	return fmt.Errorf("read output %s: segments vanish faster than they can be read", r.dir)
}

// openAt makes the segment at first the open one if it has a byte at off.
func (r *logReader) openAt(first, off int64) (bool, error) {
	f, err := os.Open(segmentPath(r.dir, first))
	if err != nil {
		return false, err
	}
	info, err := f.Stat()
	if err != nil || off-first >= info.Size() {
		f.Close()
		return false, err
	}
	r.close()
	r.file, r.first = f, first
	return true, nil
}

// close gives up the open segment. The reader can be used again.
func (r *logReader) close() {
	if r.file != nil {
		r.file.Close()
		r.file = nil
	}
}
