package session

import (
	"errors"
	"time"

	"holdfast/leasefs"
)

// guardEvery is how often a lease is looked after that may be lost without a
// word. A file server lets go of the locks of a host that it has not heard of
// for 10 to 90 s.
const guardEvery = 5 * time.Second

// guard looks after the lease of a session on a network file system, until stop
// is called, which waits for that. A session that was lost is given up, also if
// its program prints nothing.
func (l *live) guard() (stop func()) {
	if l.c.family.Local() {
		return func() {}
	}
	end, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for tick := time.NewTicker(guardEvery); ; {
			select {
			case <-end:
				tick.Stop()
				return
			case <-tick.C:
			}
			if err := l.mine(); err != nil {
				l.lose(err)
				<-end
				return
			}
		}
	}()
	return func() { close(end); <-done }
}

// mine returns an error if the session is not ours any more. No answer is none.
func (l *live) mine() error {
	if err := l.lease.Check(); errors.Is(err, leasefs.ErrLost) {
		return err
	}
	if err := l.w.Check(); lost(err) {
		return err
	}
	return nil
}
