package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// What could not even be tried has lost nothing.
func TestSyncThatCouldNotBeginIsTriedAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "output")
	l := mustOpenLog(t, dir, logOptions{})
	mustAppend(t, l, 10)
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	if err := l.sync(); err == nil || errors.Is(err, ErrLost) {
		t.Errorf("sync without a folder: %v, want an error that is not %q", err, ErrLost)
	}
	if err := os.Rename(dir+".away", dir); err != nil {
		t.Fatal(err)
	}
	if err := l.sync(); err != nil {
		t.Errorf("sync with the folder back: %v", err)
	}
}

func TestFailedSyncIsNeverForgotten(t *testing.T) {
	var fail error
	o := logOptions{hook: func(step string) error {
		if step == "sync" {
			return fail
		}
		return nil
	}}
	l := mustOpenLog(t, t.TempDir(), o)
	mustAppend(t, l, 10)
	if err := l.sync(); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, l, 10)
	fail = errInjected
	if err := l.sync(); !errors.Is(err, errInjected) || !errors.Is(err, ErrLost) {
		t.Errorf("sync = %v, want %v and %v", err, ErrLost, errInjected)
	}
	fail = nil
	mustAppend(t, l, 10)
	for range 2 {
		if err := l.sync(); !errors.Is(err, errInjected) {
			t.Errorf("sync after a failed one = %v, want %v", err, errInjected)
		}
	}
}

func TestSyncCoversEverySegmentSinceTheLast(t *testing.T) {
	syncs := 0
	o := logOptions{SegmentSize: 100, hook: func(step string) error {
		if step == "sync" {
			syncs++
		}
		return nil
	}}
	l := mustOpenLog(t, t.TempDir(), o)
	for _, tt := range []struct{ add, want int }{{0, 0}, {50, 1}, {0, 0}, {50, 1}, {1, 1}, {250, 3}} {
		syncs = 0
		mustAppend(t, l, tt.add)
		if err := l.sync(); err != nil {
			t.Fatal(err)
		}
		if syncs != tt.want {
			_, end := l.bounds()
			t.Errorf("%d files synced after %d bytes up to %d, want %d", syncs, tt.add, end, tt.want)
		}
	}
}
