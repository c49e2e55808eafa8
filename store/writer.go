package store

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
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

	opened time.Time
	row    atomic.Pointer[Row] // what session.json says
	fenced atomic.Bool         // set for good once another epoch was found
	looked atomic.Int64        // when session.json was last found to be ours, as time since opened

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

// fenceEvery is how long a look at session.json is believed before more is
// appended. While a session is busy, Sync looks as often.
const fenceEvery = time.Second

// fence makes sure, once in a while, that session.json is still of our epoch:
// who was away for long, as on a host that was cut off, does not go on where
// another has begun.
func (w *Writer) fence() error {
	if w.fenced.Load() {
		return ErrFenced
	}
	if int64(time.Since(w.opened))-w.looked.Load() < int64(fenceEvery) {
		return nil
	}
	if err := w.Check(); errors.Is(err, ErrFenced) {
		return err
	}
	return nil // what else is wrong with session.json does not stop output
}

// Check looks whether the session was taken over. The error matches ErrFenced
// if it was.
func (w *Writer) Check() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.fenceLocked(); err != nil {
		return fmt.Errorf("session %s: %w", w.id, err)
	}
	return nil
}

// GiveUp makes the writer write nothing more, as if a takeover had been found:
// the lease is lost.
func (w *Writer) GiveUp() { w.fenced.Store(true) }

// fenceLocked makes sure that session.json is still of our epoch. As long as it
// is the file that we wrote it only opens it: a network file system answers a
// stat from memory, for up to a minute.
func (w *Writer) fenceLocked() error {
	if w.fenced.Load() {
		return ErrFenced
	}
	at, err := w.s.openedStamp(w.id)
	if err == nil && at == w.at {
		w.looked.Store(int64(time.Since(w.opened)))
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
			w.looked.Store(int64(time.Since(w.opened)))
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
	w.s.touch()
	return nil
}

// Append adds p to the output log and wakes the followers once. On error
// readers see the log as it was; the caller keeps p and calls again with the
// same bytes, or with the same and more.
func (w *Writer) Append(p []byte) error {
	if err := w.fence(); err != nil {
		return err
	}
	begun := time.Now()
	if err := w.log.append(p); err != nil {
		return err
	}
	w.s.meter.Appends.Observe(time.Since(begun))
	w.s.meter.Appended.Add(int64(len(p)))
	w.hub.wake()
	return nil
}

// Record adds e to the journal, as it is, and wakes the followers if it is a
// run or a size. On error the journal is as it was.
func (w *Writer) Record(e Entry) error {
	if err := w.fence(); err != nil {
		return err
	}
	if err := w.journal.append(e); err != nil {
		return err
	}
	if e.wakes() {
		w.hub.wake()
	}
	return nil
}

// Sync returns when all output and all entries taken before the call are on
// disk. After Close the error matches ErrClosed. ErrFenced and ErrLost mean that
// the session is lost to this process. After any other error it is worth
// another try.
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
			return fmt.Errorf("sync journal: %w: %w", ErrLost, err)
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
