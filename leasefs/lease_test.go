package leasefs

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCheckFindsALostLease(t *testing.T) {
	other := self().Self
	other.PID, other.Since = 99999, time.Now()
	for name, test := range map[string]struct {
		do   func(l *Lease) error
		want error
	}{
		"nothing happened": {func(l *Lease) error { return nil }, nil},
		"file removed":     {func(l *Lease) error { return os.Remove(l.Path()) }, ErrLost},
		"file replaced":    {func(l *Lease) error { return errors.Join(os.Remove(l.Path()), os.WriteFile(l.Path(), nil, 0o600)) }, ErrLost},
		"other's record":   {func(l *Lease) error { return os.WriteFile(l.Path(), other.encode(), 0o600) }, ErrLost},
		"record damaged":   {func(l *Lease) error { return os.WriteFile(l.Path(), []byte("hello"), 0o600) }, nil},
		"storage is gone":  {func(l *Lease) error { return l.file.Close() }, ErrLost},
		"released":         {(*Lease).Release, ErrLost},
		"removed":          {(*Lease).Remove, ErrLost},
	} {
		t.Run(name, func(t *testing.T) {
			l := mustAcquire(t, lockPath(t), self())
			if err := test.do(l); err != nil {
				t.Fatal(err)
			}
			if err := l.Check(); !errors.Is(err, test.want) {
				t.Errorf("Check = %v, want %v", err, test.want)
			}
			if test.want != nil {
				return
			}
			h, err := ReadHolder(l.Path())
			if diff := cmp.Diff(&l.holder, h); diff != "" || err != nil {
				t.Errorf("record after Check, %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestRemoveLeavesTheFileOfAnother(t *testing.T) {
	l := mustAcquire(t, lockPath(t), self())
	if err := errors.Join(os.Remove(l.Path()), os.WriteFile(l.Path(), nil, 0o600), l.Remove()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(l.Path()); err != nil {
		t.Errorf("the file that took the place of ours: %v", err)
	}
}

// A lease that was lost is not to damage what the next holder wrote.
func TestReleaseLeavesTheRecordOfAnother(t *testing.T) {
	l := mustAcquire(t, lockPath(t), self())
	other := self().Self
	other.PID, other.Since = 99999, time.Now().UTC()
	if err := os.WriteFile(l.Path(), other.encode(), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	got, err := ReadHolder(l.Path())
	if diff := cmp.Diff(&other, got); diff != "" || err != nil {
		t.Errorf("record after Release, %v (-want +got):\n%s", err, diff)
	}
}

func TestRemoveTakesTheFileOnlyWhileHeld(t *testing.T) {
	path := lockPath(t)
	l := mustAcquire(t, path, self())
	if err := l.Remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("lock file after Remove: %v", err)
	}

	released := mustAcquire(t, path, self())
	if err := released.Release(); err != nil {
		t.Fatal(err)
	}
	mustAcquire(t, path, self())
	if err := errors.Join(l.Remove(), released.Remove()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the file of the next holder: %v", err)
	}
}

func TestBusyAsksWithoutTaking(t *testing.T) {
	for family := range lockers {
		f := Family(family)
		path := lockPath(t)
		ask := func(when string, want bool) {
			t.Helper()
			if got, err := Busy(path, f); got != want || err != nil {
				t.Errorf("family %d, %s: Busy = %v, %v, want %v", f, when, got, err, want)
			}
		}
		ask("no file", false)
		if _, err := os.Stat(path); err == nil {
			t.Errorf("family %d: Busy created the file", f)
		}
		o := self()
		o.Family = f
		l := mustAcquire(t, path, o)
		ask("held here", true)
		if err := l.Release(); err != nil {
			t.Fatal(err)
		}
		ask("released", false)
		ask("released, asked again", false)
	}
}

func TestGuardRemovesOnlyWhatNobodyHolds(t *testing.T) {
	path := lockPath(t)
	removed := false
	remove := func() error {
		removed = true
		if busy, err := Busy(path, 0); !busy || err != nil {
			t.Errorf("Busy while removing = %v, %v, want true", busy, err)
		}
		return nil
	}
	_, in := holdElsewhere(t, path)
	if err := Guard(path, self(), remove); !errors.Is(err, ErrHeld) || removed {
		t.Errorf("Guard while held elsewhere = %v, removed: %v", err, removed)
	}
	in.Close()

	broken := errors.New("broken")
	waitFree(t, path)
	if err := Guard(path, self(), func() error { return broken }); !errors.Is(err, broken) {
		t.Errorf("Guard = %v, want %v", err, broken)
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("lock file after a removal that failed: %v", err)
	}
	if err := Guard(path, self(), remove); err != nil || !removed {
		t.Errorf("Guard = %v, removed: %v", err, removed)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("lock file after Guard: %v", err)
	}
	// What is gone already takes the lock file that Guard itself made with it.
	if err := Guard(path, self(), func() error { return os.ErrNotExist }); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Guard of nothing = %v, want os.ErrNotExist", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("lock file after Guard of nothing: %v", err)
	}
}

// waitFree waits until another process has let go.
func waitFree(t *testing.T, path string) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; {
		busy, err := Busy(path, 0)
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("busy: %v, %v", busy, err)
		}
		if !busy {
			return
		}
	}
}
