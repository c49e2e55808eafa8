package session

import "fmt"

// A reservation gives one operation a session for itself: the others wait for
// a short one and refuse a long one.
type reservation struct {
	op   string // what is done, for ErrBusy: "being switched"
	long bool   // may wait for a program to end
	done chan struct{}
}

// reserve takes the reservation of a session, and returns how to give it
// back. When somebody else has a long one it returns ErrBusy, or, with
// patient, waits. A patient caller must hold no lock and no reservation.
func (c *Controller) reserve(id, op string, long, patient bool) (release func(), err error) {
	for {
		c.mu.Lock()
		if c.closing {
			c.mu.Unlock()
			return nil, ErrClosing
		}
		other := c.reserved[id]
		if other == nil {
			r := &reservation{op: op, long: long, done: make(chan struct{})}
			c.reserved[id] = r
			c.mu.Unlock()
			return func() {
				c.mu.Lock()
				delete(c.reserved, id)
				c.mu.Unlock()
				close(r.done)
			}, nil
		}
		c.mu.Unlock()
		if other.long && !patient {
			return nil, fmt.Errorf("%w: it is %s", ErrBusy, other.op)
		}
		<-other.done
	}
}

// reservedLong reports whether a session is being switched or deleted.
func (c *Controller) reservedLong(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.reserved[id]
	return r != nil && r.long
}

// settled waits until nobody has a session reserved.
func (c *Controller) settled(id string) {
	for {
		c.mu.Lock()
		r := c.reserved[id]
		c.mu.Unlock()
		if r == nil {
			return
		}
		<-r.done
	}
}
