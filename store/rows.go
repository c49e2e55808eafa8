package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A Found is what Row returns for a session in a list: a row or an error.
type Found struct {
	ID  string
	Row *Row
	Err error
}

// rowsTrust is how long a list is believed in which nothing seems to have
// changed: a change by hand, or by a process that died in the middle of one,
// does not show in the time of the sessions folder.
const rowsTrust = 5 * time.Second

// found is a list and when it was made.
type found struct {
	at   stamp // of the sessions folder before that, or zero if it may not be believed
	made time.Time
	rows []Found
}

// Rows returns what Row returns for each session, sorted by id. It leaves out
// sessions that are removed meanwhile. While nothing changes in the store it
// costs one stat and returns the same slice, which is shared: do not change it.
//
// What tells of a change is the time of the sessions folder: sessions come and
// go in it, and who replaces a row sets it anew.
func (s *Store) Rows() ([]Found, error) {
	info, err := os.Stat(s.sessions())
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	at := stampOf(info)
	s.rowsMu.Lock()
	defer s.rowsMu.Unlock()
	if s.found.at == at && time.Since(s.found.made) < rowsTrust {
		return s.found.rows, nil
	}
	ids, err := s.IDs()
	if err != nil {
		return nil, err
	}
	f := found{made: time.Now(), rows: s.readAll(ids)}
	if !slices.ContainsFunc(f.rows, unreadNow) {
		f.at = at.settled()
	}
	s.found = f
	return f.rows, nil
}

// readAll asks Row for each of ids. Most of that is decoding.
func (s *Store) readAll(ids []string) []Found {
	rows := make([]Found, len(ids))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(ids)/64+1) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(ids); i = int(next.Add(1)) - 1 {
				row, err := s.Row(ids[i])
				rows[i] = Found{ids[i], row, err}
			}
		})
	}
	wg.Wait()
	return slices.DeleteFunc(rows, func(f Found) bool { return errors.Is(f.Err, ErrNotFound) })
}

// unreadNow reports whether a row could not be read, but perhaps can be later.
func unreadNow(f Found) bool { return f.Err != nil && !errors.Is(f.Err, ErrDamaged) }

func (s *Store) sessions() string { return filepath.Join(s.dir, "sessions") }

// touch shows all who list the sessions that a row was replaced. If it fails
// they see it within rowsTrust.
func (s *Store) touch() { _ = os.Chtimes(s.sessions(), time.Time{}, time.Now()) }
