package leasefs

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestKeeperMovesFromOneLeaseToTheNext(t *testing.T) {
	first := lockPath(t)
	second := filepath.Join(filepath.Dir(first), "second.lock")
	k := NewKeeper(self())
	check := func(when, path string, held ...string) {
		t.Helper()
		if got := k.Path(); got != path {
			t.Errorf("%s: Path = %q, want %q", when, got, path)
		}
		if diff := cmp.Diff(held, Held()); diff != "" {
			t.Errorf("%s: Held (-want +got):\n%s", when, diff)
		}
	}
	rebind := func(path string, claim func() error) {
		t.Helper()
		if err := k.Rebind(path, claim); err != nil {
			t.Fatalf("Rebind(%q): %v", path, err)
		}
	}
	check("new", "")
	rebind(first, nil)
	check("bound", first, first)
	rebind(second, func() error {
		check("while moving", first, second, first)
		return nil
	})
	check("moved", second, second)
	rebind("", nil)
	check("released", "")
	rebind("", nil)
	check("released again", "")
}

func TestKeeperKeepsWhatItHasWhenRebindFails(t *testing.T) {
	first := lockPath(t)
	second := filepath.Join(filepath.Dir(first), "second.lock")
	k := NewKeeper(self())
	defer k.Rebind("", nil)
	if err := k.Rebind(first, nil); err != nil {
		t.Fatal(err)
	}
	lease := k.lease.Load()

	_, in := holdElsewhere(t, second)
	if err := k.Rebind(second, nil); !errors.Is(err, ErrHeld) {
		t.Errorf("Rebind to what another has = %v, want ErrHeld", err)
	}
	in.Close()
	waitFree(t, second)
	broken := errors.New("broken")
	if err := k.Rebind(second, func() error { return broken }); err != broken {
		t.Errorf("Rebind = %v, want %v", err, broken)
	}
	if err := k.Rebind(filepath.Join(first, "x"), nil); err == nil {
		t.Error("Rebind into a file succeeded")
	}
	if k.lease.Load() != lease || lease.Check() != nil {
		t.Errorf("the old lease was touched: %v", lease.Check())
	}
	if diff := cmp.Diff([]string{first}, Held()); diff != "" {
		t.Errorf("Held (-want +got):\n%s", diff)
	}
}

func TestKeeperKnowsItsPathInEveryForm(t *testing.T) {
	path := lockPath(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Dir(path), link); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Dir(path))
	k := NewKeeper(self())
	defer k.Rebind("", nil)
	if err := k.Rebind(path, nil); err != nil {
		t.Fatal(err)
	}
	lease := k.lease.Load()
	for _, same := range []string{path, "session.lock", "./x/../session.lock", filepath.Join(link, "session.lock")} {
		if err := k.Rebind(same, func() error { return errors.New("claimed again") }); err != nil {
			t.Errorf("Rebind(%q) = %v, want a no-op", same, err)
		}
		if k.lease.Load() != lease {
			t.Errorf("Rebind(%q) made a new lease", same)
		}
	}
}
