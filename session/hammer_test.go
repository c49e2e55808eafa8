package session

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"holdfast/store"
)

// The binding never points to a session that is not there, and the leases are
// those of the live sessions, whatever runs at the same time.
func TestHammer(t *testing.T) {
	for _, tt := range []struct {
		name string
		ops  []string
	}{
		{"resume x resume", []string{"resume", "resume"}},
		{"resume x fork", []string{"resume", "fork"}},
		{"new x switch x stop", []string{"new", "switch", "stop"}},
		{"all", []string{"new", "resume", "start", "fork", "switch", "stop", "delete", "input", "resize", "list", "patch"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			hammer(t, tt.ops)
		})
	}
}

func hammer(t *testing.T, ops []string) {
	c := open(t, t.TempDir(), func(cfg *Config) { cfg.StopGrace = 50 * time.Millisecond })
	var ids []string
	for range 3 {
		ids = append(ids, newSession(t, c, "cat").ID)
	}
	for round := range 8 {
		var wg sync.WaitGroup
		for i := range 6 {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(uint64(round), uint64(i)))
				op, id := ops[(i+round)%len(ops)], ids[r.IntN(len(ids))]
				if err := do(t, c, op, id); err != nil && !expected(err) {
					t.Errorf("round %d: %s: %v", round, op, err)
				}
			})
		}
		wg.Wait()
		checkBinding(t, c)
		checkLeasesSettled(t, c)
		trim(t, c)
	}
}

func do(t *testing.T, c *Controller, op, id string) (err error) {
	switch op {
	case "new":
		_, err = c.New(Spec{Argv: []string{"cat"}})
	case "resume":
		_, err = c.Resume(id)
	case "start":
		_, err = c.Start(id)
	case "fork":
		_, err = c.Fork(id, ForkSpec{}, true)
	case "switch":
		_, err = c.Switch(id, SwitchSpec{Argv: []string{"cat"}}, true)
	case "stop":
		_, err = c.Stop(id)
	case "delete":
		err = c.Delete(id)
	case "input":
		_, err = c.Input(t.Context(), id, Input{Data: []byte("x\n")})
	case "resize":
		err = c.Resize(id, 100, 30)
	case "list":
		_, err = c.List(Filter{})
	case "patch":
		_, err = c.Patch(id, Patch{Name: new("p")})
	default:
		err = fmt.Errorf("no operation %q", op)
	}
	return err
}

// expected reports whether an operation may be refused like that when others
// run beside it. A session that is held by this very process is never among
// the reasons: that would be two parts of it at odds.
func expected(err error) bool {
	for _, e := range []error{ErrBusy, ErrLive, ErrNotLive, ErrNothingBound, store.ErrNotFound} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

func checkBinding(t *testing.T, c *Controller) {
	t.Helper()
	id, err := c.Bound()
	if err != nil {
		return
	}
	if _, err := c.store.Row(id); err != nil {
		t.Errorf("bound to %s: %v", id, err)
	}
}

// checkLeasesSettled is checkLeases at a moment when no session is between
// its last state and the end of its lease.
func checkLeasesSettled(t *testing.T, c *Controller) {
	t.Helper()
	ids, err := c.store.IDs()
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		c.running(id)
	}
	checkLeases(t, c)
}

// trim deletes sessions until few are left.
func trim(t *testing.T, c *Controller) {
	t.Helper()
	views, err := c.List(Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range views[:max(0, len(views)-6)] {
		if err := c.Delete(v.ID); err != nil {
			t.Error(err)
		}
	}
}
