package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// A Follower reads one session's log, journal and row, and learns when they
// change. It needs no lease: the session may be written by this process, by
// another one, or by none. It belongs to one goroutine.
//
// To keep up with a session without missing anything, in this order: take
// Changed, look at all that is wanted, and then wait for the channel.
type Follower struct {
	s       *Store
	id      string
	hub     *hub
	writer  *Writer // whose bounds log uses; nil: the files are looked at
	log     *logReader
	damaged int
	closed  bool
}

// Follow begins to follow a session, also a damaged one. The caller must Close
// the Follower. The error matches ErrNotFound if there is no such session.
func (s *Store) Follow(id string) (*Follower, error) {
	if !s.exists(id) {
		return nil, notFound(id)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.hubLocked(id)
	h.followers++
	return &Follower{s: s, id: id, hub: h}, nil
}

// Changed returns a channel that is closed at the next change of the log, the
// row, or the runs and sizes in the journal after this call, or at Writer.Wake. It may be closed
// without a change. The channel is closed at once for a writer in this
// process; else the files are looked at every 25 to 250 ms. Once the last
// Follower of the session in this process is closed it may never be.
func (f *Follower) Changed() <-chan struct{} {
	changed, watched := f.hub.next()
	if !watched {
		// Taken before the caller looks: what changes after that is seen.
		f.hub.watch(f.s, f.id, f.s.sample(f.id))
	}
	return changed
}

// ReadAt reads output from the offset off on into p, at least one byte. It
// returns io.EOF at the end of the log, a *GapError where bytes do not exist,
// and what matches ErrNotFound once the session is gone.
func (f *Follower) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.reader().readAt(p, off)
	return n, f.gone(err)
}

// Each hands the output of [from, to) to take, in pieces that lie in buf until
// take returns, and the ranges of it that do not exist to gap. An error of
// either ends it; others are those of ReadAt, io.EOF if the log ends before to.
func (f *Follower) Each(buf []byte, from, to int64, take func(p []byte) error, gap func(from, to int64) error) error {
	for from < to {
		n, err := f.ReadAt(buf[:min(int64(len(buf)), to-from)], from)
		next := from + int64(n)
		if missing, ok := errors.AsType[*GapError](err); ok {
			next = min(missing.To, to)
			err = gap(from, next)
		} else if n > 0 {
			err = take(buf[:n])
		}
		if err != nil {
			return err
		}
		from = next
	}
	return nil
}

// Bounds returns the offset of the oldest byte in the log and the offset after
// the newest. The error is as for ReadAt.
func (f *Follower) Bounds() (oldest, end int64, err error) {
	oldest, end, err = f.reader().bounds()
	return oldest, end, f.gone(err)
}

// Cut returns the end of the log as a place where a fork is cheap: if this
// process has the Writer, all before it is on disk, in segments that no byte
// comes to any more. Without one, or if that fails, it is the end as it is.
func (f *Follower) Cut() (end int64, err error) {
	if w := f.hub.writer.Load(); w != nil && w.fence() == nil {
		end, err := w.log.seal()
		if err == nil && w.log.sync() == nil {
			return end, nil
		}
	}
	_, end, err = f.Bounds()
	return end, err
}

// gone tells the removal of a session from the loss of one of its files.
func (f *Follower) gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) && !f.s.exists(f.id) {
		return notFound(f.id)
	}
	return err
}

// reader returns a reader that asks the writer of this process, if there is
// one now. A writer that has been closed since goes on to tell the truth.
func (f *Follower) reader() *logReader {
	w := f.hub.writer.Load()
	if f.log != nil && w == f.writer {
		return f.log
	}
	if f.log != nil {
		f.log.close()
	}
	var bounds func() (oldest, end int64)
	if w != nil {
		bounds = w.Bounds
	}
	f.writer, f.log = w, newLogReader(filepath.Join(f.s.folder(f.id), outputDir), bounds)
	return f.log
}

// Entries returns the journal's entries from the byte position from on, 0 for
// all, and the position to go on from. Damaged lines are skipped and counted.
func (f *Follower) Entries(from int64) (es []Entry, next int64, err error) {
	es, next, damaged, err := readJournal(f.journal(), from)
	f.damaged += damaged
	return es, next, err
}

// Damaged returns how many damaged lines Entries has skipped.
func (f *Follower) Damaged() int { return f.damaged }

// JournalSize returns the size of the journal in bytes, 0 if it cannot be
// read: Entries has more only if this is past its last next.
func (f *Follower) JournalSize() int64 {
	if w := f.hub.writer.Load(); w != nil {
		return w.journal.size()
	}
	info, err := os.Lstat(f.journal())
	if err != nil {
		return 0
	}
	return info.Size()
}

// Told returns how much of the journal has runs and sizes, in bytes, or more
// than that: Entries has more of them only if this is past its last next.
func (f *Follower) Told() int64 {
	if w := f.hub.writer.Load(); w != nil {
		return w.journal.told.Load()
	}
	return f.JournalSize()
}

func (f *Follower) journal() string { return filepath.Join(f.s.folder(f.id), journalFile) }

// Row is Store.Row of the session.
func (f *Follower) Row() (*Row, error) { return f.s.Row(f.id) }

// Close ends the following. A second Close does nothing.
func (f *Follower) Close() {
	if f.closed {
		return
	}
	f.closed = true
	if f.log != nil {
		f.log.close()
	}
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	f.hub.followers--
	if f.hub.followers == 0 {
		f.hub.unwatch()
	}
	f.s.dropLocked(f.id, f.hub)
}
