package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A Source is what a fork begins with: the output of session ID up to the
// offset At, in bytes, and the journal entries up to there.
type Source struct {
	ID string
	At int64
}

// Create makes the session row.ID, with epoch 1, and opens it for writing. The
// caller holds its lease. With from it begins as a fork. Row keeps being the
// caller's; Boot, Epoch, Cursor and Oldest in it do not count.
//
// The session is durable when Create returns. The error matches ErrExists if
// the id is taken. On any error there is no such session, and nothing of it.
func (s *Store) Create(row *Row, from *Source) (*Writer, error) {
	if !ValidID(row.ID) {
		return nil, fmt.Errorf("create session: %.64q is no session id", row.ID)
	}
	h, err := s.claim(row.ID)
	if err != nil {
		return nil, fmt.Errorf("create session %s: %w", row.ID, err)
	}
	w, err := s.create(row.Clone(), from, h)
	if err != nil {
		s.unclaim(row.ID, h, seen{})
		return nil, fmt.Errorf("create session %s: %w", row.ID, err)
	}
	w.publish()
	return w, nil
}

// create is the I/O of Create, in this order:
//
//	step "build"           folder sessions/.new-<id>, output, journal, synced
//	replaceFile            session.json in it, which syncs the folder
//	step "publish"         rename the folder to sessions/<id>
//	step "fsync sessions"  the folder that it is in now
//	open log and journal
func (s *Store) create(row *Row, from *Source, h *hub) (*Writer, error) {
	folder, building := s.folder(row.ID), s.building(row.ID)
	if _, err := os.Lstat(folder); err == nil {
		return nil, ErrExists
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	row.Epoch, row.Boot = 1, s.options.Boot
	at, err := s.build(building, row, from)
	if err == nil {
		err = s.hook.do("publish", func() error { return os.Rename(building, folder) })
	}
	if err != nil {
		os.RemoveAll(building) // best effort: Leftovers finds it
		return nil, err
	}
	// After this line a crash of the process is safe: the session is there.
	var w *Writer
	err = s.hook.do("fsync sessions", func() error { return syncDir(filepath.Dir(folder)) })
	// After this line a power cut is safe too.
	if err == nil {
		w, err = s.newWriter(row, h, false)
	}
	if err != nil {
		if os.Rename(folder, building) == nil {
			os.RemoveAll(building)
		}
		return nil, err
	}
	w.at = at
	return w, nil
}

// build makes the folder dir with all that a session has, durable but for its
// own name, and returns the stamp of its session.json.
func (s *Store) build(dir string, row *Row, from *Source) (stamp, error) {
	output := filepath.Join(dir, outputDir)
	err := s.hook.do("build", func() error { return os.Mkdir(dir, 0o700) })
	if err == nil && from == nil {
		err = os.Mkdir(output, 0o700)
	} else if err == nil {
		err = s.copyFrom(*from, dir)
	}
	if err == nil {
		row.Oldest, row.Cursor, err = folderBounds(output)
	}
	var data []byte
	if err == nil {
		data, err = row.encode()
	}
	if err != nil {
		return stamp{}, err
	}
	return replaceFile(filepath.Join(dir, sessionFile), data, true, s.hook)
}

// copyFrom puts the log and the journal of a session into dir.
func (s *Store) copyFrom(from Source, dir string) error {
	if !s.exists(from.ID) {
		return notFound(from.ID)
	}
	src := s.folder(from.ID)
	err := copyLog(filepath.Join(src, outputDir), filepath.Join(dir, outputDir), from.At)
	if err == nil {
		err = copyJournal(filepath.Join(src, journalFile), filepath.Join(dir, journalFile), from.At)
	}
	if !s.exists(from.ID) {
		return notFound(from.ID) // removed meanwhile, so that the copy may lack anything
	}
	return err
}

// building is the path of the folder in which a session is made.
func (s *Store) building(id string) string {
	return filepath.Join(s.dir, "sessions", newMark+id)
}
