package session

import (
	"errors"
	"io"
	"time"

	"holdfast/store"
)

// How long a failed append waits before it is tried again. The program waits
// too, since nobody reads its terminal.
const minRetry, maxRetry = 100 * time.Millisecond, 2 * time.Second

// run reads the program's output to its end, then ends the life.
func (l *live) run() {
	buf := make([]byte, pumpBuffer)
	for {
		n, err := l.proc.Read(buf)
		if n > 0 {
			from := l.follow(buf[:n])
			mine := l.claim(from, n)
			if !l.keep(buf[:n]) {
				break
			}
			l.answer(mine)
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				l.c.log.Warn("terminal lost", "session", l.id, "err", err)
			}
			break
		}
	}
	l.finish()
}

// pumpBuffer is how many bytes of output are appended at once, at most. What
// was read into once stays in memory, for each live session.
const pumpBuffer = 32 << 10

// keep appends output to the log, as often as it takes: no byte is dropped.
// It reports false when the life was abandoned meanwhile, or when this process
// ends and the store still cannot be written; no reader has seen those bytes.
func (l *live) keep(p []byte) bool {
	l.mark()
	l.idle.note() // before the output can be read, so that who has it sees the activity
	for wait := minRetry; ; wait = min(2*wait, maxRetry) {
		err := l.w.Append(p)
		if err == nil {
			l.clear()
			l.idle.stir()
			l.planSync()
			return true
		}
		if lost(err) {
			l.lose(err)
			return false
		}
		l.report(err)
		if l.c.isClosing() {
			l.c.log.Error("output lost", "session", l.id, "bytes", len(p), "err", err)
			return false
		}
		select {
		case <-l.abandoned.Done():
			return false
		case <-time.After(wait):
		}
	}
}

// sync makes the log durable, once a second while it is written.
func (l *live) sync() {
	l.dirty.Store(false)
	err := l.w.Sync()
	switch {
	case errors.Is(err, store.ErrClosed):
	case lost(err):
		l.lose(err)
	case err != nil:
		l.unsynced.Store(true)
		l.report(err)
		l.planSync()
	case l.unsynced.Swap(false):
		l.clear()
	}
}

func (l *live) planSync() {
	if !l.dirty.Swap(true) {
		time.AfterFunc(time.Second, l.sync)
	}
}

// lost reports whether err says that a session is not ours any more.
func lost(err error) bool { return errors.Is(err, store.ErrLost) || errors.Is(err, store.ErrFenced) }

// lose stops the program of a session that somebody else may be writing, and
// writes nothing more.
func (l *live) lose(err error) {
	if l.gone.Swap(true) {
		return
	}
	l.w.GiveUp()
	l.c.meter.LostLeases.Add(1)
	l.c.log.Error("lease lost", "session", l.id, "err", err)
	l.abandon()
	l.proc.Stop(0)
}

// report shows in the session why the store cannot be written.
func (l *live) report(err error) {
	text := cause(err)
	if old := l.trouble.Swap(&text); old == nil {
		l.c.meter.StorageErrors.Add(1)
		l.c.log.Error("storage error", "session", l.id, "err", err)
	}
	l.w.Wake()
	l.c.changes.add(l.id)
}

// clear takes the storage error back after a write that worked.
func (l *live) clear() {
	if l.trouble.Load() != nil {
		l.trouble.Store(nil)
		l.c.log.Info("storage works again", "session", l.id)
		l.w.Wake()
		l.c.changes.add(l.id)
	}
}
