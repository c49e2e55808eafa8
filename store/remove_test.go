package store

import (
	"errors"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRemoveLeavesNothing(t *testing.T) {
	s := openTestStore(t, "", Options{})
	kept, row := mustHave(t, s), mustHave(t, s)
	mustRow(t, s, row.ID)
	if err := s.Remove(row.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Row(row.ID); !errors.Is(err, ErrNotFound) {
		t.Errorf("Row = %v, want ErrNotFound", err)
	}
	if err := s.Remove(row.ID); !errors.Is(err, ErrNotFound) {
		t.Errorf("second Remove = %v, want ErrNotFound", err)
	}
	ids, err := s.IDs()
	if diff := cmp.Diff([]string{kept.ID}, ids); diff != "" || err != nil {
		t.Errorf("IDs: %v (-want +got):\n%s", err, diff)
	}
}

func TestRemoveFailureIsMadeGoodByTheNext(t *testing.T) {
	s := openTestStore(t, "", Options{})
	steps := stepsOf(func(h hook) {
		id := mustHave(t, s).ID
		s.hook = h
		if err := s.Remove(id); err != nil {
			t.Error(err)
		}
		s.hook = nil
	})
	for _, step := range steps {
		row := mustHave(t, s)
		s.hook = failAt(step)
		if err := s.Remove(row.ID); !errors.Is(err, errInjected) || errors.Is(err, ErrLeft) != (step == "delete") {
			t.Errorf("Remove failing at %q = %v", step, err)
		}
		s.hook = nil
		left, err := s.Leftovers()
		if err != nil {
			t.Fatal(err)
		}
		if step == "delete" {
			if diff := cmp.Diff([]string{row.ID}, left); diff != "" {
				t.Errorf("Leftovers after a failure at %q (-want +got):\n%s", step, diff)
			}
		} else if diff := rowDiff(row, mustRow(t, s, row.ID)); diff != "" || len(left) != 0 {
			t.Errorf("failing at %q leaves over %v, row (-want +got):\n%s", step, left, diff)
		}
		if err := s.Remove(row.ID); err != nil {
			t.Errorf("Remove after a failure at %q: %v", step, err)
		}
		checkFolder(t, s.Dir())
	}
}

func TestUndoWorksOnADiskThatDoesNotSync(t *testing.T) {
	s := openTestStore(t, "", Options{})
	id := mustHave(t, s).ID
	s.hook = failAt("fsync sessions")
	if err := s.Undo(id); err != nil {
		t.Errorf("Undo = %v", err)
	}
	s.hook = nil
	if _, err := s.Row(id); !errors.Is(err, ErrNotFound) {
		t.Errorf("Row = %v, want ErrNotFound", err)
	}
	checkFolder(t, s.Dir())
}

func TestClearDeletesLeftovers(t *testing.T) {
	s := openTestStore(t, "", Options{})
	id := NewID()
	for _, dir := range []string{s.building(id), s.trash(id)} {
		if err := os.MkdirAll(dir+"/output", 0o700); err != nil {
			t.Fatal(err)
		}
	}
	left, err := s.Leftovers()
	if diff := cmp.Diff([]string{id}, left); diff != "" || err != nil {
		t.Errorf("Leftovers: %v (-want +got):\n%s", err, diff)
	}
	if cleared, err := s.Clear(id); !cleared || err != nil {
		t.Errorf("Clear = %v, %v", cleared, err)
	}
	if left, err := s.Leftovers(); len(left) != 0 || err != nil {
		t.Errorf("Leftovers after Clear = %v, %v; want none", left, err)
	}
	if cleared, err := s.Clear(id); cleared || err != nil {
		t.Errorf("Clear of nothing = %v, %v", cleared, err)
	}
}

func TestFollowersLearnOfARemoval(t *testing.T) {
	s := openTestStore(t, "", Options{})
	row := mustHave(t, s)
	f, err := s.Follow(row.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	changed := f.Changed()
	if err := s.Remove(row.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := f.ReadAt(make([]byte, 1), 0); !errors.Is(err, ErrNotFound) {
		t.Errorf("ReadAt after the removal: %v, want ErrNotFound", err)
	}
	if _, _, err := f.Bounds(); !errors.Is(err, ErrNotFound) {
		t.Errorf("Bounds after the removal: %v, want ErrNotFound", err)
	}
	select {
	case <-changed:
	default:
		t.Error("no wake-up at the removal")
	}
	if _, err := f.Row(); !errors.Is(err, ErrNotFound) {
		t.Errorf("Row = %v, want ErrNotFound", err)
	}
}
