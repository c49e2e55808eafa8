package store

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
)

// A Writer is the lease holder's hand on one session. There is one for each
// session and process, and the caller holds the session's lease from before
// Create or OpenWriter until after Close.
//
// Append belongs to one goroutine at a time, and Close comes after it. The
// other methods may be called from any, also meanwhile.
type Writer struct {
	s       *Store
	id      string
	hub     *hub
	log     *outputLog
	journal *journal

	row    atomic.Pointer[Row] // what session.json says
	fenced atomic.Bool         // set for good once another epoch was found

	// syncMu keeps Sync and Close apart. It is held over their I/O, and
	// taken before mu, so that an update does not wait for a Sync.
	syncMu sync.Mutex
	synced int64 // guarded by syncMu: the size of the journal that is on disk

	// mu makes updates happen one after the other. It is held over their
	// I/O. It guards the fields below; order in the package doc.
	mu     sync.Mutex
	at     stamp // of session.json as it was last written or found to be ours
	closed bool
}

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
		Hole:        hole,
	})
	if err != nil {
		return nil, err
	}
	j, err := openJournal(filepath.Join(dir, journalFile))
	if err != nil {
		return nil, errors.Join(err, log.close())
	}
	w := &Writer{s: s, id: row.ID, hub: h, log: log, journal: j}
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

// Row returns the row as it was last written. It is shared: do not change it.
func (w *Writer) Row() *Row { return w.row.Load() }

// Bounds returns the offset of the oldest byte in the log and the offset after
// the newest.
func (w *Writer) Bounds() (oldest, end int64) { return w.log.bounds() }

// Update lends fn a copy of the row to change, writes what became of it, and
// returns it. Updates are made one after the other. ID, Epoch, Boot, Cursor and
// Oldest are the writer's: what fn does to them does not count. The row that fn
// gets must not be kept.
//
// With durable the row survives a power cut from the moment Update returns, and
// so does the output up to its Cursor. Without, a power cut may bring back the
// row before.
//
// An error of fn is returned as it is. Another one matches ErrFenced if the
// session was taken over, ErrDamaged if its file was damaged from outside. On
// any error the file and Row are as before.
func (w *Writer) Update(durable bool, fn func(*Row) error) (*Row, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, fmt.Errorf("update session %s: %w", w.id, ErrClosed)
	}
	old := w.row.Load()
	next := old.Clone()
	if err := fn(next); err != nil {
		return nil, err
	}
	next.ID, next.Epoch, next.Boot = old.ID, old.Epoch, old.Boot
	if durable {
		// Before the row, or it would vouch for output that is not there.
		if err := w.log.sync(); err != nil {
			return nil, fmt.Errorf("update session %s: %w", w.id, err)
		}
	}
	if err := w.fenceLocked(); err != nil {
		return nil, fmt.Errorf("update session %s: %w", w.id, err)
	}
	if err := w.replaceLocked(next, durable); err != nil {
		return nil, fmt.Errorf("update session %s: %w", w.id, err)
	}
	w.hub.wake()
	return next, nil
}

// fenceLocked makes sure that session.json is still of our epoch: by one stat
// as long as it is the file that we wrote.
func (w *Writer) fenceLocked() error {
	if w.fenced.Load() {
		return ErrFenced
	}
	info, err := w.s.statRow(w.id)
	if err == nil && stampOf(info) == w.at {
		return nil
	}
	var row *Row
	if err == nil {
		var found seen
		if found, err = w.s.readRow(w.id); err == nil {
			row, err = found.result()
		}
		if err == nil && row.Epoch == w.row.Load().Epoch {
			w.at = found.at
			return nil
		}
	}
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	w.fenced.Store(true)
	return ErrFenced
}

// replaceLocked writes next, with the bounds of the log, and makes it the row.
func (w *Writer) replaceLocked(next *Row, durable bool) error {
	next.Oldest, next.Cursor = w.log.bounds()
	data, err := next.encode()
	if err != nil {
		return err
	}
	at, err := replaceFile(filepath.Join(w.s.folder(w.id), sessionFile), data, durable, w.s.hook)
	if err != nil {
		return err
	}
	w.at = at
	w.row.Store(next)
	return nil
}

// Append adds p to the output log and wakes the followers once. On error
// readers see the log as it was; the caller keeps p and calls again with the
// same bytes, or with the same and more.
func (w *Writer) Append(p []byte) error {
	if w.fenced.Load() {
		return ErrFenced
	}
	if err := w.log.append(p); err != nil {
		return err
	}
	w.hub.wake()
	return nil
}

// Record adds e to the journal, as it is, and wakes the followers. On error
// the journal is as it was.
func (w *Writer) Record(e Entry) error {
	if w.fenced.Load() {
		return ErrFenced
	}
	if err := w.journal.append(e); err != nil {
		return err
	}
	w.hub.wake()
	return nil
}

// Sync returns when all output and all entries taken before the call are on
// disk. After Close the error matches ErrClosed. Any other means that the session
// is lost to this process: it was taken over (ErrFenced), or the disk did not
// keep what it was given.
func (w *Writer) Sync() error {
	w.syncMu.Lock()
	defer w.syncMu.Unlock()
	w.mu.Lock()
	err := ErrClosed
	if !w.closed {
		err = w.fenceLocked()
	}
	w.mu.Unlock()
	if err != nil {
		return fmt.Errorf("sync session %s: %w", w.id, err)
	}
	if size := w.journal.size(); size != w.synced {
		if err := w.journal.file.Sync(); err != nil {
			return fmt.Errorf("sync journal: %w", err)
		}
		w.synced = size
	}
	return w.log.sync()
}

// Wake wakes the followers of the session in this process.
func (w *Writer) Wake() { w.hub.wake() }

// Close syncs and closes the session's files. Followers go on with what is on
// disk. The writer is closed also if that fails; a second Close does nothing.
func (w *Writer) Close() error {
	w.syncMu.Lock()
	defer w.syncMu.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	w.closed = true
	err := w.closeFiles()
	w.s.unclaim(w.id, w.hub, seen{at: w.at.settled(), row: w.row.Load()})
	return err
}

func (w *Writer) closeFiles() error { return cmp.Or(w.log.close(), w.journal.close()) }
