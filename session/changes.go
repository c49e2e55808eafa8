package session

import (
	"sync"
	"time"
)

// changeLog is how many changes a watcher may be behind.
const changeLog = 4096

// changes tells watchers which sessions changed. Like the output log it has
// no queue per watcher: each keeps its own place in one ring.
type changes struct {
	mu   sync.Mutex // guards the fields below; a leaf
	next int64      // number of the next change
	ring [changeLog]string
	more chan struct{} // closed at the next change; nil while nobody waits

	watchers int
	stopScan chan struct{}
}

// add reports a change of a session's row, its beginning, or its end.
func (h *changes) add(id string) {
	if id == "" {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ring[h.next%changeLog] = id
	h.next++
	if h.more != nil {
		close(h.more)
		h.more = nil
	}
}

// wait returns a channel that is closed at the next change.
func (h *changes) wait() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.more == nil {
		h.more = make(chan struct{})
	}
	return h.more
}

// since returns the sessions that changed from a place on, each once, and the
// next place. It reports false when that place is too far back.
func (h *changes) since(from int64) (ids []string, next int64, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.next-from > changeLog {
		return nil, h.next, false
	}
	seen := make(map[string]bool)
	for i := from; i < h.next; i++ {
		if id := h.ring[i%changeLog]; !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	return ids, h.next, true
}

// scanEvery is how often changes by other processes are looked for while
// somebody watches.
const scanEvery = time.Second

// watch begins a watcher at the present place. While there is one, a scan of
// the store finds what other processes change.
func (c *Controller) watch() (from int64) {
	h := &c.changes
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watchers++; h.watchers == 1 {
		h.stopScan = make(chan struct{})
		go c.scan(h.stopScan)
	}
	return h.next
}

func (c *Controller) unwatch() {
	h := &c.changes
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watchers--; h.watchers == 0 {
		close(h.stopScan)
	}
}

// scan adds the sessions that other processes made, changed or removed. It is
// started by the first watcher and ends with the last.
func (c *Controller) scan(stop <-chan struct{}) {
	known := c.stamps()
	tick := time.NewTicker(scanEvery)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		now := c.stamps()
		for id, stamp := range now {
			if known[id] != stamp {
				c.changes.add(id)
			}
		}
		for id := range known {
			if _, ok := now[id]; !ok {
				c.changes.add(id)
			}
		}
		known = now
	}
}

// stamps returns what tells one version of a session from another, for the
// sessions that are not live here.
func (c *Controller) stamps() map[string]any {
	rows, err := c.store.Rows()
	if err != nil {
		c.log.Warn("store not scanned", "err", err)
	}
	stamps := make(map[string]any, len(rows))
	for _, f := range rows {
		if c.lookup(f.ID) != nil {
			continue
		}
		if row, err := c.trueRow(f); err != nil {
			stamps[f.ID] = err.Error()
		} else {
			stamps[f.ID] = row
		}
	}
	return stamps
}
