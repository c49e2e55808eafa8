package session

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// A sweep that found a session half made, and waited for its lease, may find it
// whole: made by a process that is through with it.
func TestASweepKeepsWhatWasMadeMeanwhile(t *testing.T) {
	c := open(t, t.TempDir())
	v := newSession(t, c, "printf", "whole")
	waitOver(t, c, v.ID)
	half := filepath.Join(c.store.Dir(), "sessions", ".new-"+v.ID)
	leave := func() {
		t.Helper()
		if err := errors.Join(os.MkdirAll(half, 0o700), os.WriteFile(c.store.LockPath(v.ID), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	whole := func(after string) {
		t.Helper()
		if got := output(t, c, v.ID); got != "whole" {
			t.Errorf("after %s the output is %q", after, got)
		}
		if _, err := os.Lstat(half); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("after %s what was half made is there: %v", after, err)
		}
	}
	leave()
	if err := c.CheckAll(); err != nil {
		t.Error(err)
	}
	whole("the check of a start")
	leave()
	if _, err := c.sweep(); err != nil {
		t.Error(err)
	}
	whole("a sweep")
	leave()
	if cleared, there, err := c.clear(v.ID); !cleared || !there || err != nil {
		t.Errorf("clear = %v, %v, %v; want it cleared, and the session there", cleared, there, err)
	}
	if cleared, there, err := c.clear(v.ID); cleared || !there || err != nil {
		t.Errorf("again, clear = %v, %v, %v; want the session there", cleared, there, err)
	}
	whole("both")
	if _, err := os.Lstat(c.store.LockPath(v.ID)); err != nil {
		t.Errorf("the lock file of a session: %v", err)
	}
}
