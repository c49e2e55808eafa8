package store

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
)

// maxOffset bounds the offsets that a segment may be named after, so that
// adding a size or a hole never overflows.
const maxOffset = math.MaxInt64 / 2

// listTries bounds how often a listing is repeated because retention removed
// a listed segment before it could be looked at.
const listTries = 100

// segmentPath is where the segment that begins at offset first is kept.
func segmentPath(dir string, first int64) string {
	return filepath.Join(dir, fmt.Sprintf("%020d", first))
}

// parseSegment returns the offset that a segment is named after. Every offset
// has one name: 20 digits.
func parseSegment(name string) (first int64, ok bool) {
	if len(name) != 20 {
		return 0, false
	}
	for _, c := range []byte(name) {
		if c < '0' || c > '9' || first > maxOffset/10 {
			return 0, false
		}
		first = first*10 + int64(c-'0')
	}
	return first, first <= maxOffset
}

// listSegments returns the first offsets of the segments in dir, ascending.
// Anything but a regular file with a segment's name is ignored, and a folder
// that is none refused: a symbolic link is never followed.
//
// A segment is complete before its successor exists. So a size that is taken
// after the listing is final for every segment but the last.
func listSegments(dir string) ([]int64, error) {
	info, err := os.Lstat(dir)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: dir, Err: fmt.Errorf("is %s, not a folder", fileKind(info.Mode()))}
	}
	if err != nil {
		return nil, err
	}
	files, err := os.ReadDir(dir) // sorted by name, which is by offset
	if err != nil {
		return nil, err
	}
	var firsts []int64
	for _, f := range files {
		if first, ok := parseSegment(f.Name()); ok && f.Type().IsRegular() {
			firsts = append(firsts, first)
		}
	}
	return firsts, nil
}

// segmentSize returns the size in bytes of the segment at first.
func segmentSize(dir string, first int64) (int64, error) {
	info, err := os.Lstat(segmentPath(dir, first))
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// firstBytes returns the offset of the first byte in the segments firsts, at
// least one. If they are all empty that is where the last of them begins.
func firstBytes(dir string, firsts []int64) (int64, error) {
	last := len(firsts) - 1
	for _, first := range firsts[:last] {
		size, err := segmentSize(dir, first)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // removed by retention
			return 0, err
		}
		if size > 0 {
			return first, nil
		}
	}
	return firsts[last], nil
}

// folderBounds returns the bounds of the log in dir as its files have them.
// Of an append that another process is in the middle of, they may include a
// part: those bytes stay what they are.
func folderBounds(dir string) (oldest, end int64, err error) {
	for range listTries {
		firsts, err := listSegments(dir)
		if err != nil || len(firsts) == 0 {
			return 0, 0, err
		}
		oldest, err = firstBytes(dir, firsts)
		if err != nil {
			return 0, 0, err
		}
		last := firsts[len(firsts)-1]
		size, err := segmentSize(dir, last)
		switch {
		case err == nil:
			return oldest, last + size, nil
		case !errors.Is(err, fs.ErrNotExist):
			return 0, 0, err
		}
	}
	return 0, 0, fmt.Errorf("list output %s: segments vanish faster than they can be read", dir)
}
