package session

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdfast/leasefs"
	"holdfast/store"
)

// The race that bindMu is there for: one resume has its lease and is about to
// bind when another one comes. Without bindMu the second binds first, and the
// first then moves the binding back, although it was asked for earlier.
//
// The first to arrive is chosen by compare-and-swap: a sync.Once would make
// the others wait for it, and so do the work of bindMu itself.
func TestResumesAreSerialised(t *testing.T) {
	c := open(t, t.TempDir())
	a, b := newSession(t, c, "true"), newSession(t, c, "true")
	waitOver(t, c, a.ID)
	waitOver(t, c, b.ID)

	parked, park := make(chan struct{}), make(chan struct{})
	var first atomic.Bool
	c.hook = func(step string) {
		if step == "resume:leased" && first.CompareAndSwap(false, true) {
			close(parked)
			<-park
		}
	}
	var wg sync.WaitGroup
	resume := func(id string, landed chan<- error) {
		wg.Go(func() {
			_, err := c.Resume(id)
			landed <- err
		})
	}
	landedA, landedB := make(chan error, 1), make(chan error, 1)
	resume(a.ID, landedA)
	<-parked
	if id, err := c.Bound(); !errors.Is(err, ErrNothingBound) {
		t.Errorf("Bound() = %q, %v while the first resume is parked, want nothing", id, err)
	}
	resume(b.ID, landedB)
	// Nothing may land while the first is parked. That the second waits is
	// seen by its not landing for a while; were bindMu gone, it would land in
	// a few milliseconds, so that a slow machine can hide the fault but not
	// invent one.
	select {
	case err := <-landedB:
		t.Errorf("the second resume landed beside the first: %v", err)
		landedB <- err
	case <-time.After(300 * time.Millisecond):
	}
	close(park)
	wg.Wait()
	if err := errors.Join(<-landedA, <-landedB); err != nil {
		t.Error(err)
	}
	if id, err := c.Bound(); id != b.ID {
		t.Errorf("Bound() = %q, %v; want the later one, %q", id, err, b.ID)
	}
	waitOver(t, c, a.ID)
	waitOver(t, c, b.ID)
	checkLeases(t, c)
}

func TestSwitch(t *testing.T) {
	c := open(t, t.TempDir())
	if _, err := c.Switch(store.NewID(), SwitchSpec{Argv: []string{"cat"}}, true); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Switch of no session: %v, want store.ErrNotFound", err)
	}
	old, err := c.New(Spec{Argv: []string{"sh", "-c", "echo first; cat"}})
	if err != nil {
		t.Fatal(err)
	}
	waitOutput(t, c, old.ID, "first")
	for _, s := range []SwitchSpec{{}, {Profile: "none"}, {Argv: []string{"no-such-program-at-all"}}} {
		_, err := c.Switch(old.ID, s, true)
		if _, ok := errors.AsType[*SpecError](err); !ok {
			t.Errorf("Switch(%+v): %v, want a *SpecError", s, err)
		}
	}
	if v, err := c.Get(old.ID); err != nil || !v.Live || v.PID != old.PID {
		t.Errorf("after refused switches = %+v, %v; want the same run", v, err)
	}
	v, err := c.Switch(old.ID, SwitchSpec{Argv: []string{"sh", "-c", "echo second; cat"}}, true)
	if err != nil || !v.Live || !v.Bound || v.Parent != old.ID {
		t.Fatalf("Switch = %+v, %v; want a live, bound fork of the old session", v, err)
	}
	waitOutput(t, c, v.ID, "first\r\nsecond")
	if v, err := c.Get(old.ID); err != nil || v.State != "stopped" || v.Bound {
		t.Errorf("old session = %+v, %v; want stopped, not bound", v, err)
	}
	checkLeases(t, c)
}

// The one exception to "all is as before".
func TestSwitchThatDoesNotStartLeavesTheOldStopped(t *testing.T) {
	dir := t.TempDir()
	c := open(t, dir)
	old, err := c.New(Spec{Argv: []string{"cat"}})
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "bad")
	writeScript(t, script, "#!/no/such/interpreter\n")
	_, err = c.Switch(old.ID, SwitchSpec{Argv: []string{script}}, true)
	if _, ok := errors.AsType[*SpecError](err); !ok {
		t.Errorf("Switch to a program that does not start: %v, want a *SpecError", err)
	}
	v, err := c.Get(old.ID)
	if err != nil || v.State != "stopped" || !v.Bound || v.Argv[0] != "cat" {
		t.Errorf("old session = %+v, %v; want stopped, bound, with its own argv", v, err)
	}
	if ids, err := c.store.IDs(); err != nil || len(ids) != 1 {
		t.Errorf("sessions = %v, %v; want only the old one", ids, err)
	}
	checkLeases(t, c)
}

// While a session is being switched others are refused, and a stop waits.
func TestSwitchReservesTheSession(t *testing.T) {
	c := open(t, t.TempDir())
	old, err := c.New(Spec{Argv: []string{"cat"}})
	if err != nil {
		t.Fatal(err)
	}
	reserved, goOn := make(chan struct{}), make(chan struct{})
	c.hook = func(step string) {
		if step == "switch:reserved" {
			close(reserved)
			<-goOn
		}
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := c.Switch(old.ID, SwitchSpec{Argv: []string{"cat"}}, true); err != nil {
			t.Error(err)
		}
	})
	<-reserved
	_, err1 := c.Resume(old.ID)
	_, err2 := c.Start(old.ID)
	_, err3 := c.Patch(old.ID, Patch{})
	_, err4 := c.Switch(old.ID, SwitchSpec{Argv: []string{"cat"}}, true)
	for i, err := range []error{err1, err2, err3, err4} {
		if !errors.Is(err, ErrBusy) {
			t.Errorf("request %d beside a switch: %v, want ErrBusy", i+1, err)
		}
	}
	// A slow switch keeps nobody from the other sessions.
	if _, err := c.New(Spec{Argv: []string{"cat"}}); err != nil {
		t.Errorf("New beside a switch: %v", err)
	}
	stopped := make(chan View, 1)
	wg.Go(func() {
		v, err := c.Stop(old.ID)
		if err != nil {
			t.Error(err)
		}
		stopped <- v
	})
	close(goOn)
	wg.Wait()
	if v := <-stopped; v.State != "stopped" {
		t.Errorf("Stop beside a switch = %+v, want stopped", v)
	}
	checkLeases(t, c)
}

func TestInvariantSeesALeaseTooMany(t *testing.T) {
	c := open(t, t.TempDir())
	v := newSession(t, c, "cat")
	lease, err := leasefs.Acquire(c.store.LockPath(store.NewID()), leasefs.Options{Family: c.family, Self: c.self})
	if err != nil {
		t.Fatal(err)
	}
	if leaseTrouble(c) == "" {
		t.Errorf("a lease without a session beside %s was not seen", v.ID)
	}
	if err := lease.Release(); err != nil {
		t.Fatal(err)
	}
	checkLeases(t, c)
}

// A session that another process removed leaves no lock file behind.
func TestNoLockFileOfASessionThatIsGone(t *testing.T) {
	c := open(t, t.TempDir())
	id := store.NewID()
	if _, _, err := c.lease(id); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("lease of no session: %v, want ErrNotFound", err)
	}
	if _, err := os.Stat(c.store.LockPath(id)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("lock file: %v, want none", err)
	}
}

func TestBindingToASessionThatIsGone(t *testing.T) {
	dir := t.TempDir()
	c, other := open(t, dir), open(t, dir)
	v, err := c.New(Spec{Argv: []string{"true"}})
	if err != nil {
		t.Fatal(err)
	}
	waitOver(t, c, v.ID)
	if err := other.Delete(v.ID); err != nil {
		t.Fatal(err)
	}
	if id, err := c.Bound(); !errors.Is(err, ErrNothingBound) {
		t.Errorf("Bound() = %q, %v; want ErrNothingBound", id, err)
	}
}

// Two parts of this process never refuse each other a lease.
func TestStopAndStartOfAnInterruptedSession(t *testing.T) {
	dir := t.TempDir()
	first := open(t, dir)
	v, err := first.Create(Spec{Argv: []string{"bash", "--norc"}})
	if err != nil {
		t.Fatal(err)
	}
	first.Close()
	c := open(t, dir, func(cfg *Config) { cfg.StopGrace = 50 * time.Millisecond })
	on := true
	var wg sync.WaitGroup
	for i := range 24 {
		wg.Go(func() {
			var err error
			switch i % 4 {
			case 0:
				_, err = c.Stop(v.ID)
			case 1:
				_, err = c.Start(v.ID)
			case 2:
				_, err = c.Patch(v.ID, Patch{AutoResume: &on})
			default:
				_, err = c.Get(v.ID)
			}
			if err != nil && !expected(err) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	checkLeasesSettled(t, c)
}
