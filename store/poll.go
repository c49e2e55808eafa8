package store

import (
	"os"
	"path/filepath"
	"time"
)

// The poller looks at a session's files every pollMin after a change, and
// twice as seldom after each look that finds none, down to pollMax.
const (
	pollMin = 25 * time.Millisecond
	pollMax = 250 * time.Millisecond
)

// A sample is what a look at a session's files found. Two that are equal mean
// that nothing has changed. What cannot be looked at counts as zero.
type sample struct {
	oldest, end int64 // of the log, bytes
	journal     int64 // its size, bytes
	row         stamp // of session.json
	settled     bool  // whether row can be believed; turning true, it is a change
}

func (s *Store) sample(id string) sample {
	var now sample
	dir := s.folder(id)
	now.oldest, now.end, _ = folderBounds(filepath.Join(dir, outputDir))
	if info, err := os.Lstat(filepath.Join(dir, journalFile)); err == nil {
		now.journal = info.Size()
	}
	if info, err := os.Lstat(filepath.Join(dir, sessionFile)); err == nil {
		now.row = stampOf(info)
		now.settled = now.row.settled() == now.row
	}
	return now
}

// next returns the channel that the next change closes, and whether somebody
// sees to that: a writer of this process or the poller.
func (h *hub) next() (changed <-chan struct{}, watched bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.changed == nil {
		h.changed = make(chan struct{})
	}
	return h.changed, h.stop != nil || h.writer.Load() != nil
}

// watch starts the hub's one poller, which compares with from. It ends when
// nobody waits for the channel any more, when a writer opens in this process,
// or by unwatch; nothing waits for it.
func (h *hub) watch(s *Store, id string, from sample) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stop != nil {
		return // another follower was first, and its sample is older
	}
	h.stop = make(chan struct{})
	h.seen = from
	go h.poll(s, id, h.stop)
}

// unwatch ends the poller.
func (h *hub) unwatch() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stop != nil {
		close(h.stop)
		h.stop = nil
	}
}

func (h *hub) poll(s *Store, id string, stop chan struct{}) {
	wait := pollMin
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		select {
		case <-stop:
			return
		case <-timer.C:
		}
		changed, more := h.compare(s.sample(id), stop)
		if !more {
			return
		}
		wait = min(2*wait, pollMax)
		if changed {
			wait = pollMin
		}
		timer.Reset(wait)
	}
}

// compare closes the channel if now is news. No more is wanted when nobody
// waits, when a writer has opened, or when stop is not the hub's any more.
func (h *hub) compare(now sample, stop chan struct{}) (changed, more bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stop != stop {
		return false, false
	}
	if h.changed == nil || h.writer.Load() != nil {
		h.stop = nil
		return false, false
	}
	if now == h.seen {
		return false, true
	}
	h.seen = now
	close(h.changed)
	h.changed = nil
	return true, true
}
