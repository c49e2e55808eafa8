package store

import (
	"sync"
	"sync/atomic"
)

// A hub joins the one who writes a session in this process, if any, with those
// who follow it here. It exists while there is one of either.
type hub struct {
	// writer is nil while no Writer is open here. Changed under Store.mu.
	writer atomic.Pointer[Writer]

	claimed   bool // guarded by Store.mu: a writer is open, or being opened or removed
	followers int  // guarded by Store.mu

	mu      sync.Mutex    // guards the fields below; order in the package doc
	changed chan struct{} // closed at the next change; nil if nobody asked
	stop    chan struct{} // closed to end the poller; nil if none runs
	seen    sample        // what the poller compares with
}

// hubLocked returns the hub of a session, making it if there is none.
func (s *Store) hubLocked(id string) *hub {
	h := s.hubs[id]
	if h == nil {
		h = &hub{}
		s.hubs[id] = h
	}
	return h
}

// dropLocked forgets a hub that nobody uses.
func (s *Store) dropLocked(id string, h *hub) {
	if !h.claimed && h.followers == 0 {
		delete(s.hubs, id)
	}
}

// claim makes the caller the only one in this process that may write or remove
// the session, until unclaim.
func (s *Store) claim(id string) (*hub, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.hubLocked(id)
	if h.claimed {
		return nil, errBusy
	}
	h.claimed = true
	return h, nil
}

// unclaim ends a claim. What the session is from now on is read from disk,
// but for what last says.
func (s *Store) unclaim(id string, h *hub, last seen) {
	s.mu.Lock()
	h.writer.Store(nil)
	h.claimed = false
	s.dropLocked(id, h)
	if last.row != nil {
		s.rows[id] = last
	} else {
		delete(s.rows, id)
	}
	s.mu.Unlock()
	h.wake()
}

// wake closes the channel that followers wait on. Whoever changes something
// that they look at calls it afterwards: then a follower that took its channel
// before it looked cannot miss the change.
func (h *hub) wake() {
	h.mu.Lock()
	if h.changed != nil {
		close(h.changed)
		h.changed = nil
	}
	h.mu.Unlock()
}
