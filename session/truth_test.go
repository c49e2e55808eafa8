package session

import (
	"sync"
	"testing"
)

// Whoever looks at a session of a dead holder may find another that is making
// it true just then. Nobody may be told that another process has it.
func TestManyWhoLookAtADeadHoldersSession(t *testing.T) {
	dir := t.TempDir()
	for range 10 {
		id, end := startHolder(t, dir, "")
		end(true)
		c := open(t, dir)
		begin := make(chan struct{})
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				<-begin
				if v, err := c.Get(id); err != nil || v.Holder != nil || v.State != "interrupted" {
					t.Errorf("state %q, holder %+v, %v; want it interrupted, and held by nobody", v.State, v.Holder, err)
				}
			})
		}
		close(begin)
		all.Wait()
		c.Close()
	}
}
