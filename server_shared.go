package main

import (
	"bytes"
	"sync"

	"holdfast/session"
)

// A frameRing keeps large frames of output for the streams that come to the
// same place next: a log never changes, so neither does a frame of it. What is
// kept is what a second stream has asked for; a session with one reader costs
// nothing.
type frameRing struct {
	mu   sync.Mutex // guards the fields below; a leaf
	kept [32]keptFrame
	next int
}

// A keptFrame is of the output of a session from one offset to another.
type keptFrame struct {
	id       string
	from, to int64
	wanted   bool   // more than one stream came here
	frame    []byte // nil until one of them has made it
}

// minShared is how much output in bytes is worth looking a frame up.
const minShared = 4 << 10

// shareable reports whether an event is output of the log, and much of it.
func shareable(ev *session.Event) bool {
	return (ev.Kind == session.KindOutput || ev.Kind == session.KindBytes) &&
		len(ev.Data) >= minShared && int64(len(ev.Data)) == ev.Cursor-ev.From
}

// find returns the frame of an event, or nil. It is shared: do not change it.
func (r *frameRing) find(ev *session.Event) []byte {
	if !shareable(ev) {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if k := r.lookupLocked(ev); k != nil {
		k.wanted = true
		return k.frame
	}
	r.kept[r.next] = keptFrame{id: ev.ID, from: ev.From, to: ev.Cursor}
	r.next = (r.next + 1) % len(r.kept)
	return nil
}

// offer shows the frame of an event that find did not have.
func (r *frameRing) offer(ev *session.Event, frame []byte) {
	if !shareable(ev) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if k := r.lookupLocked(ev); k != nil && k.wanted && k.frame == nil {
		k.frame = bytes.Clone(frame)
	}
}

func (r *frameRing) lookupLocked(ev *session.Event) *keptFrame {
	for i := range r.kept {
		if k := &r.kept[i]; k.to == ev.Cursor && k.from == ev.From && k.id == ev.ID {
			return k
		}
	}
	return nil
}
