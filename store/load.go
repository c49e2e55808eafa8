package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"syscall"
)

// seen is what a session.json was found to be: a row or its damage.
type seen struct {
	at     stamp // zero if it may not be believed to tell versions apart
	row    *Row
	damage *DamagedError
}

// result returns the row or the damage as callers want it.
func (v seen) result() (*Row, error) {
	if v.damage != nil {
		return nil, v.damage
	}
	return v.row, nil
}

// Row returns what session.json says, as it is now on disk: without any I/O
// for a session with a Writer in this process, else with one stat, and read
// again only if it may have changed. The row is shared: do not change it. As
// long as it says the same, it is the same pointer.
//
// The error matches ErrNotFound if there is no such session and ErrDamaged if
// its file cannot be used; any other is an I/O error.
func (s *Store) Row(id string) (*Row, error) {
	s.mu.Lock()
	h, known := s.hubs[id], s.rows[id]
	s.mu.Unlock()
	if h != nil {
		if w := h.writer.Load(); w != nil {
			return w.Row(), nil
		}
	}
	info, err := s.statRow(id)
	if err != nil {
		return nil, err
	}
	if stampOf(info) == known.at {
		return known.result()
	}
	fresh, err := s.readRow(id)
	if err != nil {
		return nil, err
	}
	if fresh.row != nil && reflect.DeepEqual(fresh.row, known.row) {
		fresh.row = known.row // as long as nothing changes, callers see the same row
	}
	s.mu.Lock()
	s.rows[id] = fresh
	s.mu.Unlock()
	return fresh.result()
}

// folder returns the path of a session's folder. The id must be valid.
func (s *Store) folder(id string) string { return filepath.Join(s.dir, "sessions", id) }

// exists reports whether there is a session id, in whatever condition. A link
// to a folder is none.
func (s *Store) exists(id string) bool {
	if !ValidID(id) {
		return false
	}
	info, err := os.Lstat(s.folder(id))
	return err == nil && info.IsDir()
}

// statRow looks at a session's session.json without following a link. What is
// no regular file is damage.
func (s *Store) statRow(id string) (fs.FileInfo, error) {
	if !ValidID(id) {
		return nil, notFound(id)
	}
	info, err := os.Lstat(filepath.Join(s.folder(id), sessionFile))
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return nil, s.missing(id)
	case err != nil:
		return nil, fmt.Errorf("session %s: %w", id, err)
	case !info.Mode().IsRegular():
		return nil, &DamagedError{id, "session.json is " + fileKind(info.Mode())}
	}
	return info, nil
}

// openedStamp returns the stamp of a session's session.json as the file server
// has it: to open a file is to ask that.
func (s *Store) openedStamp(id string) (stamp, error) {
	f, at, err := s.openRow(id)
	if err != nil {
		return stamp{}, err
	}
	f.Close()
	return at, nil
}

// openRow opens a session's session.json. The error is that of statRow or of
// the opening.
func (s *Store) openRow(id string) (*os.File, stamp, error) {
	if _, err := s.statRow(id); err != nil {
		return nil, stamp{}, err
	}
	f, err := os.Open(filepath.Join(s.folder(id), sessionFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, stamp{}, s.missing(id)
	}
	if err != nil {
		return nil, stamp{}, fmt.Errorf("session %s: %w", id, err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, stamp{}, fmt.Errorf("session %s: %w", id, err)
	}
	return f, stampOf(info), nil
}

// missing tells a session that is not there from one that has lost its file.
func (s *Store) missing(id string) error {
	if s.exists(id) {
		return &DamagedError{id, "session.json is missing"}
	}
	return notFound(id)
}

// readRow reads a session's session.json, past the cache. The error is that of
// openRow or of the reading; damage found in the content is in the result.
func (s *Store) readRow(id string) (seen, error) {
	if !s.exists(id) {
		return seen{}, notFound(id)
	}
	f, at, err := s.openRow(id)
	if err != nil {
		return seen{}, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxRow+1))
	if err != nil {
		return seen{}, fmt.Errorf("session %s: %w", id, err)
	}
	v := seen{at: at.settled()}
	v.row, err = decodeRow(b)
	if damage, ok := errors.AsType[*DamagedError](err); ok {
		v.damage = &DamagedError{id, damage.Reason}
	} else if v.row.ID != id {
		v.row, v.damage = nil, &DamagedError{id, "session.json is of session " + v.row.ID}
	}
	return v, nil
}

func notFound(id string) error { return fmt.Errorf("%w: %.64q", ErrNotFound, id) }
