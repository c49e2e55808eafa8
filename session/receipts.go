package session

import (
	"crypto/sha256"
)

// maxReceipts is how many Idempotency-Keys a life remembers.
const maxReceipts = 256

// receipts remembers which input came under which key. It is guarded by the
// queue's mutex.
type receipts struct {
	byKey map[string]*keyed
	order []*keyed // oldest first; may hold forgotten ones
}

type keyed struct {
	key  string
	hash [sha256.Size]byte
	item *item
}

// find returns the item that came first under the key of in, or remembers it
// as that first one and returns nil.
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
		r.byKey = make(map[string]*keyed)
	}
	k := &keyed{in.Key, hash, it}
	r.byKey[in.Key] = k
	r.order = append(r.order, k)
	for len(r.order) > maxReceipts {
		old := r.order[0]
		r.order = r.order[1:]
		if r.byKey[old.key] == old {
			delete(r.byKey, old.key)
		}
	}
	return nil, nil
}

// forget takes back an item of which nothing was typed.
func (r *receipts) forget(it *item) {
	for _, k := range r.order {
		if k.item == it && r.byKey[k.key] == k {
			delete(r.byKey, k.key)
		}
	}
}
