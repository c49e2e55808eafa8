package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
)

// copyLog makes the folder dst a log that has the bytes of the log src up to
// the offset at, which may be in use by its writer. Sealed segments become
// hard links where the file system has them; the segment that at cuts is
// copied, unless Follower.Cut has made at the end of one. The last segment of
// dst is empty and its own, so that no writer ever appends to a file that is
// shared.
//
// What is copied is on disk when it returns; what is linked is as safe as in
// src. On error dst is incomplete and the caller removes it.
func copyLog(src, dst string, at int64) error {
	_, end, err := folderBounds(src)
	if err == nil && (at < 0 || at > end) {
		err = fmt.Errorf("offset %d is not in 0 to %d", at, end)
	}
	if err == nil {
		err = os.Mkdir(dst, 0o700)
	}
	if err == nil {
		err = copySegments(src, dst, at)
	}
	var last *os.File
	if err == nil { // O_EXCL, as in writeNew: to truncate what is shared would be the end of src
		last, err = os.OpenFile(segmentPath(dst, at), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	}
	if err == nil {
		err = last.Close()
	}
	if err == nil {
		err = syncDir(dst)
	}
	if err != nil {
		return fmt.Errorf("copy output: %w", err)
	}
	return nil
}

// copySegments goes from the newest to the oldest: when retention removes
// one meanwhile, all older ones are gone too, and what is left is in one
// piece.
func copySegments(src, dst string, at int64) error {
	firsts, err := listSegments(src)
	if err != nil {
		return err
	}
	for i, first := range slices.Backward(firsts) {
		if first >= at {
			continue
		}
		size, err := segmentSize(src, first)
		if err == nil && size > 0 {
			sealed := i+1 < len(firsts)
			err = copySegment(src, dst, first, min(size, at-first), sealed && first+size <= at)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// copySegment copies the first n bytes of a segment, all of it by a link if
// share is set. Not every file system has links, or as many as it takes.
func copySegment(src, dst string, first, n int64, share bool) error {
	from, to := segmentPath(src, first), segmentPath(dst, first)
	if share && os.Link(from, to) == nil {
		return nil
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	return writeNew(to, func(out *os.File) error {
		_, err := io.CopyN(out, in, n) // copy_file_range on Linux
		return err
	})
}

// writeNew makes a file of what write puts into it, on disk when writeNew
// returns.
func writeNew(path string, write func(*os.File) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err = write(f); err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// copyJournal makes dst a journal of the entries of the journal src that
// happened up to the offset at. A turn that begins there is not among them: its
// first byte was typed after. It is on disk when copyJournal returns. On
// error dst is incomplete and the caller removes it.
func copyJournal(src, dst string, at int64) error {
	data, err := readFrom(src, 0)
	var kept []byte
	eachEntry(data, func(line []byte, e Entry) {
		if e.At < at || e.At == at && e.Kind != "turn" {
			kept = append(kept, line...) // as it is, with fields of newer versions
		}
	})
	if err == nil {
		err = writeNew(dst, func(f *os.File) error {
			_, err := f.Write(kept)
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("copy journal: %w", err)
	}
	return nil
}
