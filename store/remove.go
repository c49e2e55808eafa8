package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Remove deletes a session, damaged or not, and what a crash left of one. The
// caller holds its lease, and no Writer of it is open here.
//
// The error matches ErrNotFound if there is nothing of that id, and ErrLeft if
// the session is gone but files of it are left: a second Remove goes on. On any
// other the session is as before.
func (s *Store) Remove(id string) error { return s.take(id, true) }

// Undo is Remove of a session that nobody was told of. It asks nothing of the
// disk that has just failed: a power cut may bring the session back.
func (s *Store) Undo(id string) error { return s.take(id, false) }

func (s *Store) take(id string, durable bool) error {
	if !ValidID(id) {
		return notFound(id)
	}
	h, err := s.claim(id)
	if err != nil {
		return fmt.Errorf("remove session %s: %w", id, err)
	}
	err = s.remove(id, durable)
	s.unclaim(id, h, seen{})
	if err != nil && !errors.Is(err, ErrNotFound) {
		return fmt.Errorf("remove session %s: %w", id, err)
	}
	return err
}

// Clear deletes what a crash left of a session that was being made or removed,
// and nothing of one that is there. The caller holds its lease, and no Writer
// of it is open here. It reports whether there was anything.
func (s *Store) Clear(id string) (cleared bool, err error) {
	if !ValidID(id) {
		return false, notFound(id)
	}
	h, err := s.claim(id)
	if err == nil {
		cleared, err = s.clear(s.building(id), s.trash(id))
		s.unclaim(id, h, seen{})
	}
	if err != nil {
		return false, fmt.Errorf("clear session %s: %w", id, err)
	}
	return cleared, nil
}

// remove is the I/O of Remove, in this order:
//
//	step "clear"           delete sessions/.new-<id> and trash/<id>
//	step "discard"         rename sessions/<id> to trash/<id>
//	step "fsync sessions"  both folders, only if durable
//	step "delete"          trash/<id>
func (s *Store) remove(id string, durable bool) error {
	folder, trash := s.folder(id), s.trash(id)
	cleared, err := s.clear(s.building(id), trash)
	if err != nil {
		return err
	}
	err = s.hook.do("discard", func() error { return os.Rename(folder, trash) })
	if errors.Is(err, fs.ErrNotExist) {
		if cleared {
			return nil
		}
		return notFound(id)
	}
	if err != nil {
		return err
	}
	// After this line a crash of the process is safe: the session is gone.
	if durable {
		err = s.hook.do("fsync sessions", func() error {
			return errors.Join(syncDir(filepath.Dir(folder)), syncDir(filepath.Dir(trash)))
		})
	}
	// After this line a power cut is safe too.
	if err != nil {
		return errors.Join(err, os.Rename(trash, folder))
	}
	if err := s.hook.do("delete", func() error { return os.RemoveAll(trash) }); err != nil {
		return fmt.Errorf("%w: %w", ErrLeft, err)
	}
	return nil
}

// clear deletes the paths and reports whether there was any.
func (s *Store) clear(paths ...string) (cleared bool, err error) {
	if err := s.hook.at("clear"); err != nil {
		return false, err
	}
	for _, path := range paths {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := os.RemoveAll(path); err != nil {
			return false, err
		}
		cleared = true
	}
	return cleared, nil
}

// trash is the path to which a session is moved to be removed.
func (s *Store) trash(id string) string { return filepath.Join(s.dir, "trash", id) }
