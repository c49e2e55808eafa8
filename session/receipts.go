package session

import (
	"crypto/sha256"
)

// maxReceipts is how many inputs that were typed a life remembers.
const maxReceipts = 256

// receipts remembers which input came under which Idempotency-Key: those on
// their way, and the last that were typed. It is guarded by the queue's mutex.
type receipts struct {
	byKey map[string]keyed
	typed []string // the keys of inputs that were typed, oldest first
}

type keyed struct {
	hash [sha256.Size]byte
	item *item
}

// find returns the item that came first under the key of in, or remembers it
// as that first one and returns nil. That one is to be kept or forgotten.
func (r *receipts) find(in Input, it *item) (*item, error) {
	if in.Key == "" {
		return nil, nil
	}
	hash := sha256.Sum256(in.Data)
	if k, ok := r.byKey[in.Key]; ok {
		if k.hash != hash {
			return nil, ErrKeyReused
		}
		return k.item, nil
	}
	if r.byKey == nil {
		r.byKey = make(map[string]keyed)
	}
	it.key = in.Key
	r.byKey[in.Key] = keyed{hash, it}
	return nil, nil
}

// keep remembers an item that was typed, in the place of the oldest one.
func (r *receipts) keep(it *item) {
	if it.key == "" {
		return
	}
	r.typed = append(r.typed, it.key)
	if len(r.typed) > maxReceipts {
		delete(r.byKey, r.typed[0])
		r.typed = r.typed[1:]
	}
}

// forget takes back an item of which nothing was typed: a repetition may still
// type it.
func (r *receipts) forget(it *item) { delete(r.byKey, it.key) }
