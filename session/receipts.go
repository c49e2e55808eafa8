package session

import (
	"context"
	"crypto/sha256"
	"slices"
	"sync"
)

const (
	// maxReceipts is how many inputs that were typed a session remembers.
	maxReceipts = 256

	// maxPast is of how many sessions without a program they are remembered.
	maxPast = 64
)

// receipts remembers which input of a session came under which Idempotency-Key:
// those on their way, and the last that were typed. It goes from one life of the
// session to the next.
type receipts struct {
	mu    sync.Mutex // guards the fields below; a leaf
	byKey map[string]keyed
	typed []string // the keys of inputs that were typed, oldest first
}

type keyed struct {
	hash [sha256.Size]byte
	item *item
}

// known returns the item that came first under the key of in, if there is one.
func (r *receipts) known(in Input) (*item, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.knownLocked(in.Key, sha256.Sum256(in.Data))
}

func (r *receipts) knownLocked(key string, hash [sha256.Size]byte) (*item, error) {
	k, ok := r.byKey[key]
	if ok && k.hash != hash {
		return nil, ErrKeyReused
	}
	return k.item, nil
}

// find is known, or remembers it as that first item and returns nil. That one is
// to be kept or forgotten.
func (r *receipts) find(in Input, it *item) (*item, error) {
	if in.Key == "" {
		return nil, nil
	}
	hash := sha256.Sum256(in.Data)
	r.mu.Lock()
	defer r.mu.Unlock()
	if first, err := r.knownLocked(in.Key, hash); first != nil || err != nil {
		return first, err
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
	r.mu.Lock()
	defer r.mu.Unlock()
	r.typed = append(r.typed, it.key)
	if len(r.typed) > maxReceipts {
		delete(r.byKey, r.typed[0])
		r.typed = r.typed[1:]
	}
}

// forget takes back an item of which nothing was typed: a repetition may still
// type it.
func (r *receipts) forget(it *item) {
	if it.key == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byKey, it.key)
}

func (r *receipts) empty() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.byKey) == 0
}

// pastReceipts has the receipts of sessions that have no life here any more,
// those that ended last: what was typed may have ended the program, and who
// typed it have lost the answer. The Controller's mutex guards it.
type pastReceipts struct {
	byID  map[string]*receipts
	order []string // ids, oldest first
}

func (p *pastReceipts) put(id string, r *receipts) {
	if r.empty() {
		return
	}
	if p.byID == nil {
		p.byID = make(map[string]*receipts)
	}
	p.byID[id] = r
	p.order = append(p.order, id)
	if len(p.order) > maxPast {
		p.take(p.order[0])
	}
}

// take returns the receipts of a session, and forgets where they were.
func (p *pastReceipts) take(id string) *receipts {
	r, ok := p.byID[id]
	if !ok {
		return new(receipts)
	}
	delete(p.byID, id)
	p.order = slices.DeleteFunc(p.order, func(other string) bool { return other == id })
	return r
}

// pastReceipt answers an input to a session that takes none, because of err, as
// it was answered before.
func (c *Controller) pastReceipt(ctx context.Context, id string, in Input, err error) (Receipt, error) {
	c.mu.Lock()
	r := c.past.byID[id]
	c.mu.Unlock()
	if r == nil || in.Key == "" {
		return Receipt{}, err
	}
	first, reused := r.known(in)
	if first == nil && reused == nil {
		return Receipt{}, err
	}
	return wait(ctx, first, reused)
}
