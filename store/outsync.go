package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// sync returns when everything that was appended before the call is on disk.
// After an error that matches ErrLost the state of the disk is unknown, and
// every later call returns the same error. After another, nothing was tried.
func (l *outputLog) sync() error {
	l.syncMu.Lock()
	defer l.syncMu.Unlock()
	end := l.end.Load()
	l.mu.Lock()
	segs, err := append([]segment(nil), l.segs...), l.lost
	l.mu.Unlock()
	if err != nil || end == l.synced {
		return err
	}
	for i, s := range segs {
		if i+1 < len(segs) && segs[i+1].first <= l.synced {
			continue
		}
		if err := l.syncSegment(s.first); err != nil {
			return l.failed(err)
		}
	}
	if segs[len(segs)-1].first >= l.synced { // it may be new in the folder
		if err := syncDir(l.dir); err != nil {
			return l.failed(err)
		}
	}
	l.synced = end
	return nil
}

// syncSegment opens the file anew, since append may close its own.
func (l *outputLog) syncSegment(first int64) error {
	f, err := os.OpenFile(segmentPath(l.dir, first), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // removed by prune
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if err := l.opts.hook.at("sync"); err != nil {
		return err
	}
	begun := time.Now()
	if err := f.Sync(); err != nil {
		return err
	}
	l.opts.Syncs.Observe(time.Since(begun))
	return nil
}

// failed tells a sync that could not be tried, as when no descriptor is left,
// from one that went wrong.
func (l *outputLog) failed(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok && e.Op == "open" {
		return fmt.Errorf("sync output: %w", err)
	}
	return l.lose(err)
}

func (l *outputLog) lose(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost == nil {
		l.lost = fmt.Errorf("sync output: %w: %w", ErrLost, err)
	}
	return l.lost
}

// close syncs and closes the log.
func (l *outputLog) close() error {
	err := l.sync()
	l.appendMu.Lock()
	defer l.appendMu.Unlock()
	if l.file != nil {
		err = errors.Join(err, l.file.Close())
		l.file = nil
	}
	return err
}
