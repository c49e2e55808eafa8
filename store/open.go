package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// OpenWriter opens a session for writing. The caller holds its lease.
//
// It clears away what a crash left (temp files, torn tails of log and
// journal) and raises the epoch, durably, so that any other writer finds
// itself fenced. If the machine was restarted, or is another one, since bytes
// were appended that may be lost, the log goes on 1 GiB after its end, and the
// row's PID is cleared.
//
// The error matches ErrNotFound or ErrDamaged as for Row. On error the session
// is as it was, but for the repairs.
func (s *Store) OpenWriter(id string) (*Writer, error) {
	if !ValidID(id) {
		return nil, notFound(id)
	}
	h, err := s.claim(id)
	if err != nil {
		return nil, fmt.Errorf("open session %s: %w", id, err)
	}
	w, err := s.takeOver(id, h)
	if err != nil {
		s.unclaim(id, h, seen{})
		return nil, err
	}
	w.publish()
	return w, nil
}

// takeOver is the I/O of OpenWriter, in this order: read session.json; step
// "repair": temp files, log, journal; replaceFile with the next epoch.
func (s *Store) takeOver(id string, h *hub) (*Writer, error) {
	found, err := s.readRow(id)
	if err != nil {
		return nil, err
	}
	row, err := found.result()
	if err != nil {
		return nil, err
	}
	if err := s.hook.at("repair"); err != nil {
		return nil, fmt.Errorf("open session %s: %w", id, err)
	}
	if err := sweepTemps(s.folder(id), sessionFile); err != nil {
		return nil, fmt.Errorf("open session %s: %w", id, err)
	}
	w, err := s.newWriter(row, h, s.mayHaveLost(row))
	if err != nil {
		return nil, fmt.Errorf("open session %s: %w", id, err)
	}
	next := row.Clone()
	next.Epoch++
	if next.Boot != s.options.Boot {
		next.Boot, next.PID, next.PIDStart = s.options.Boot, 0, 0
	}
	// After the replacement a crash is safe: the session is ours, or anyone's.
	if err := w.replaceLocked(next, true); err != nil {
		w.closeFiles()
		return nil, fmt.Errorf("open session %s: %w", id, err)
	}
	return w, nil
}

// mayHaveLost reports whether bytes that readers have seen may be gone: the
// last writer ran under another boot id, and it was not orderly done. An
// ended session whose log is as long as its row says was synced before that
// row was written.
func (s *Store) mayHaveLost(row *Row) bool {
	if row.Boot == "" || row.Boot == s.options.Boot {
		return false
	}
	_, end, err := folderBounds(filepath.Join(s.folder(row.ID), outputDir))
	return err != nil || row.State.Live() || end != row.Cursor
}

// newWriter opens the files of a session for a claim that the caller has.
func (s *Store) newWriter(row *Row, h *hub, hole bool) (*Writer, error) {
	dir := s.folder(row.ID)
	log, err := openLog(filepath.Join(dir, outputDir), logOptions{
		SegmentSize: s.options.SegmentSize,
		Keep:        s.options.Keep,
		End:         row.Cursor,
		Hole:        hole,
		Syncs:       &s.meter.Syncs,
	})
	if err != nil {
		return nil, err
	}
	j, err := openJournal(filepath.Join(dir, journalFile))
	if err != nil {
		return nil, errors.Join(err, log.close())
	}
	w := &Writer{s: s, id: row.ID, hub: h, log: log, journal: j, opened: time.Now()}
	w.row.Store(row)
	return w, nil
}

// publish makes w the one that the store and followers in this process ask.
func (w *Writer) publish() {
	w.s.mu.Lock()
	w.hub.writer.Store(w)
	delete(w.s.rows, w.id)
	w.s.mu.Unlock()
	w.hub.wake()
}
