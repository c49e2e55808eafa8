package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCreateMakesADurableSessionOfEpochOne(t *testing.T) {
	s := openTestStore(t, "", Options{Boot: "b1"})
	given := newRow()
	given.Epoch, given.Boot, given.Cursor = 9, "other", 7
	kept := given.Clone()
	w := mustCreate(t, s, given)
	want := given.Clone()
	want.Epoch, want.Boot, want.Cursor = 1, "b1", 0
	if diff := rowDiff(want, w.Row()); diff != "" {
		t.Errorf("created row (-want +got):\n%s", diff)
	}
	if diff := rowDiff(kept, given); diff != "" {
		t.Errorf("the caller's row (-want +got):\n%s", diff)
	}
	other := openTestStore(t, s.Dir(), Options{})
	if diff := rowDiff(want, mustRow(t, other, want.ID)); diff != "" {
		t.Errorf("row on disk (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{journalFile, outputDir, sessionFile}, folderNames(t, s.folder(want.ID))); diff != "" {
		t.Errorf("folder (-want +got):\n%s", diff)
	}
}

func TestCreateRefusesATakenOrInvalidID(t *testing.T) {
	s := openTestStore(t, "", Options{})
	row := mustHave(t, s)
	if _, err := s.Create(row, nil); !errors.Is(err, ErrExists) {
		t.Errorf("Create of a taken id = %v, want ErrExists", err)
	}
	for _, id := range []string{"", "../x", "X"} {
		bad := newRow()
		bad.ID = id
		if _, err := s.Create(bad, nil); err == nil {
			t.Errorf("Create of id %q succeeded", id)
		}
	}
	bad := newRow()
	bad.State = "asleep"
	if _, err := s.Create(bad, nil); err == nil {
		t.Error("Create in a bad state succeeded")
	}
}

func TestCreateFailureAtAnyStepLeavesNothing(t *testing.T) {
	s := openTestStore(t, "", Options{})
	create := func(h hook) {
		row := newRow()
		s.hook = h
		w, err := s.Create(row, nil)
		s.hook = nil
		if err == nil {
			mustClose(t, w)
			err = s.Remove(row.ID)
		}
		if err != nil && !errors.Is(err, errInjected) {
			t.Error(err)
		}
		if _, err := s.Row(row.ID); !errors.Is(err, ErrNotFound) {
			t.Errorf("Row afterwards = %v, want ErrNotFound", err)
		}
		checkFolder(t, s.Dir())
	}
	for _, step := range stepsOf(create) {
		create(failAt(step))
	}
}

func TestForkBeginsWithItsParentsPast(t *testing.T) {
	s := openTestStore(t, "", Options{SegmentSize: 100})
	parent := mustCreate(t, s, newRow())
	at := func(off int64) Entry { return Entry{Kind: "turn", At: off, Time: time.Unix(1, 0).UTC(), Turn: 1} }
	err := errors.Join(
		parent.Record(at(0)), parent.Append(outputFrom(0, 250)), parent.Record(at(250)),
		parent.Append(outputFrom(250, 200)), parent.Record(at(450)))
	if err != nil {
		t.Fatal(err)
	}
	row := newRow()
	w, err := s.Create(row, &Source{ID: parent.id, At: 330})
	if err != nil {
		t.Fatal(err)
	}
	defer mustClose(t, w)
	if got := w.Row(); got.Cursor != 330 || got.Oldest != 0 {
		t.Errorf("row has a log from %d to %d, want 0 to 330", got.Oldest, got.Cursor)
	}
	if err := w.Append(outputFrom(330, 100)); err != nil {
		t.Fatal(err)
	}
	wantSpans(t, filepath.Join(s.folder(row.ID), outputDir), span{0, 430})
	wantSpans(t, filepath.Join(s.folder(parent.id), outputDir), span{0, 450})
	es, _, _, err := readJournal(filepath.Join(s.folder(row.ID), journalFile), 0)
	if diff := cmp.Diff([]Entry{at(0), at(250)}, es); diff != "" || err != nil {
		t.Errorf("journal of the fork: %v (-want +got):\n%s", err, diff)
	}
}

func TestForkOfNothingLeavesNothing(t *testing.T) {
	s := openTestStore(t, "", Options{})
	parent := mustHave(t, s)
	for _, from := range []Source{{ID: NewID()}, {ID: "../x"}, {ID: parent.ID, At: 1}, {ID: parent.ID, At: -1}} {
		row := newRow()
		if _, err := s.Create(row, &from); err == nil || from.ID != parent.ID != errors.Is(err, ErrNotFound) {
			t.Errorf("Create from %v = %v", from, err)
		}
		checkFolder(t, s.Dir())
	}
}

func TestCreateFailureWhereNothingCanBeMade(t *testing.T) {
	s := openTestStore(t, "", Options{})
	sessions := filepath.Join(s.Dir(), "sessions")
	if err := errors.Join(os.Remove(sessions), os.WriteFile(sessions, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Create(newRow(), nil); err == nil {
		t.Error("Create without a folder succeeded")
	}
	if err := errors.Join(os.Remove(sessions), os.Mkdir(sessions, 0o700)); err != nil {
		t.Fatal(err)
	}
}
