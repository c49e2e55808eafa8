package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"holdfast/state"
)

func TestUpdateIsOnDiskAndInMemory(t *testing.T) {
	s := openTestStore(t, "", Options{Boot: "b1"})
	w := mustCreate(t, s, newRow())
	if err := w.Append([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	for _, durable := range []bool{true, false} {
		before := w.Row()
		want := before.Clone()
		want.Name, want.State, want.Turns, want.Cursor = "renamed", state.Idle, before.Turns+1, 5
		got, err := w.Update(durable, func(r *Row) error {
			r.Name, r.State, r.Turns = want.Name, want.State, want.Turns
			r.ID, r.Epoch, r.Boot, r.Cursor, r.Oldest = NewID(), 77, "b2", 77, 7 // not the caller's
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := rowDiff(want, got); diff != "" {
			t.Errorf("updated row (-want +got):\n%s", diff)
		}
		if got != w.Row() || before == got {
			t.Error("the updated row is not a new one that the writer has")
		}
		other := openTestStore(t, s.Dir(), Options{})
		if diff := rowDiff(want, mustRow(t, other, want.ID)); diff != "" {
			t.Errorf("row on disk (-want +got):\n%s", diff)
		}
	}
}

func TestUpdateFailureAtAnyStepChangesNothing(t *testing.T) {
	s := openTestStore(t, "", Options{})
	w := mustCreate(t, s, newRow())
	before := w.Row()
	on := mustEncode(t, before)
	rename := func(r *Row) error { r.Name = "renamed"; return nil }
	for _, step := range []string{"create", "write", "fsync", "close", "rename", "fsync folder"} {
		s.hook = failAt(step)
		if _, err := w.Update(true, rename); !errors.Is(err, errInjected) {
			t.Errorf("Update failing at %q: %v", step, err)
		}
		s.hook = nil
		if got, err := os.ReadFile(sessionPath(s, before.ID)); string(got) != string(on) {
			t.Errorf("failing at %q leaves %s, %v; want it unchanged", step, got, err)
		}
		if w.Row() != before {
			t.Errorf("failing at %q changed the row in memory", step)
		}
		checkFolder(t, s.Dir())
	}
	if _, err := w.Update(true, func(*Row) error { return errInjected }); err != errInjected {
		t.Errorf("Update with a failing function = %v, want its error", err)
	}
	if _, err := w.Update(true, func(r *Row) error { r.State = "asleep"; return nil }); err == nil || w.Row() != before {
		t.Errorf("Update to a bad state = %v; want an error and no change", err)
	}
	if got, err := w.Update(true, rename); err != nil || got.Name != "renamed" {
		t.Errorf("Update after the failures = %v, %v", got, err)
	}
}

// A row that survives a power cut must not tell of output that did not.
func TestDurableUpdateSyncsTheOutputFirst(t *testing.T) {
	s := openTestStore(t, "", Options{})
	w := mustCreate(t, s, newRow())
	if err := w.Append([]byte("x")); err != nil {
		t.Fatal(err)
	}
	before := w.Row()
	w.log.opts.hook = failAt("sync")
	if _, err := w.Update(true, func(*Row) error { return nil }); !errors.Is(err, errInjected) || w.Row() != before {
		t.Errorf("durable Update without a sync = %v; want it to fail and change nothing", err)
	}
	w.log.opts.hook, w.log.lost = nil, nil
}

func TestUnknownMembersSurviveAWriter(t *testing.T) {
	s := openTestStore(t, "", Options{})
	row := mustHave(t, s)
	path := sessionPath(s, row.ID)
	later := `"later":{"a":[1,{"b":null}]}`
	on := strings.Replace(string(mustEncode(t, row)), `"version":1`, `"version":1,`+later, 1)
	if err := os.WriteFile(path, []byte(on), 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := s.OpenWriter(row.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer mustClose(t, w)
	if _, err := w.Update(true, func(r *Row) error { r.Name = "renamed"; return nil }); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); !strings.Contains(string(got), later) || !strings.Contains(string(got), "renamed") {
		t.Errorf("file after two rewrites = %s, %v; want %s in it", got, err, later)
	}
}

func TestUpdatesAreMadeOneAfterTheOther(t *testing.T) {
	s := openTestStore(t, "", Options{})
	w := mustCreate(t, s, newRow())
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if _, err := w.Update(false, func(r *Row) error { r.Turns++; return nil }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	mustClose(t, w)
	if got := mustRow(t, s, w.id).Turns; got != 160 {
		t.Errorf("turns = %d, want 160", got)
	}
}

// raiseRole opens and closes a writer, as another process does that has taken
// the session over.
func raiseRole(args []string) error {
	s, err := Open(args[0], Options{})
	if err != nil {
		return err
	}
	w, err := s.OpenWriter(args[1])
	if err != nil {
		return err
	}
	return w.Close()
}

func TestWriterThatWasTakenOverWritesNothingMore(t *testing.T) {
	s := openTestStore(t, "", Options{})
	w := mustCreate(t, s, newRow())
	if err := w.Append([]byte("mine")); err != nil {
		t.Fatal(err)
	}
	if err := startRole(t, "raise", s.Dir(), w.id).Run(); err != nil {
		t.Fatal(err)
	}
	theirs, err := os.ReadFile(sessionPath(s, w.id))
	if err != nil || !strings.Contains(string(theirs), `"epoch":2`) {
		t.Fatalf("file after the takeover = %s, %v; want epoch 2", theirs, err)
	}
	_, updateErr := w.Update(false, func(r *Row) error { r.Name = "mine"; return nil })
	_, againErr := w.Update(true, func(r *Row) error { r.Name = "mine"; return nil })
	for _, tc := range []struct {
		call string
		err  error
	}{
		{"Update", updateErr}, {"second Update", againErr}, {"Sync", w.Sync()},
		{"Append", w.Append([]byte("more"))}, {"Record", w.Record(Entry{Kind: "size"})},
	} {
		if !errors.Is(tc.err, ErrFenced) {
			t.Errorf("%s = %v, want ErrFenced", tc.call, tc.err)
		}
	}
	mustClose(t, w)
	if got, err := os.ReadFile(sessionPath(s, w.id)); string(got) != string(theirs) {
		t.Errorf("file = %s, %v; want theirs: %s", got, err, theirs)
	}
	if _, end, err := folderBounds(filepath.Join(s.folder(w.id), outputDir)); end != 4 || err != nil {
		t.Errorf("log ends at %d, %v; want 4", end, err)
	}
	if got := mustRow(t, s, w.id).Epoch; got != 2 {
		t.Errorf("epoch after Close = %d, want 2", got)
	}
}

// Who was away for a while looks before going on.
func TestAppendAfterAQuietTimeFindsATakeover(t *testing.T) {
	for call, write := range map[string]func(w *Writer) error{
		"Append": func(w *Writer) error { return w.Append([]byte("more")) },
		"Record": func(w *Writer) error { return w.Record(Entry{Kind: "size"}) },
		"Check":  (*Writer).Check,
	} {
		s := openTestStore(t, "", Options{})
		w := mustCreate(t, s, newRow())
		if err := errors.Join(write(w), startRole(t, "raise", s.Dir(), w.id).Run()); err != nil {
			t.Fatal(err)
		}
		_, before := w.Bounds()
		w.looked.Add(-int64(fenceEvery))
		if err := write(w); !errors.Is(err, ErrFenced) {
			t.Errorf("%s after a takeover = %v, want ErrFenced", call, err)
		}
		if _, end, err := folderBounds(filepath.Join(s.folder(w.id), outputDir)); end != before || err != nil {
			t.Errorf("log ends at %d, %v; want %d", end, err, before)
		}
	}
}

func TestSyncFindsATakeover(t *testing.T) {
	s := openTestStore(t, "", Options{})
	w := mustCreate(t, s, newRow())
	if err := errors.Join(w.Append([]byte("x")), w.Record(Entry{Kind: "size"}), w.Sync(), w.Sync()); err != nil {
		t.Fatal(err)
	}
	if err := startRole(t, "raise", s.Dir(), w.id).Run(); err != nil {
		t.Fatal(err)
	}
	if err := w.Sync(); !errors.Is(err, ErrFenced) {
		t.Errorf("Sync = %v, want ErrFenced", err)
	}
}

func TestWriterOfARemovedSessionIsFenced(t *testing.T) {
	ours := openTestStore(t, "", Options{})
	theirs := openTestStore(t, ours.Dir(), Options{})
	w := mustCreate(t, ours, newRow())
	if err := theirs.Remove(w.id); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Update(true, func(*Row) error { return nil }); !errors.Is(err, ErrFenced) {
		t.Errorf("Update = %v, want ErrFenced", err)
	}
}

func TestFileDamagedUnderAWriterIsNotOverwritten(t *testing.T) {
	s := openTestStore(t, "", Options{})
	w := mustCreate(t, s, newRow())
	path := sessionPath(s, w.id)
	if err := os.WriteFile(path, []byte("{oops"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Update(true, func(*Row) error { return nil }); !errors.Is(err, ErrDamaged) {
		t.Errorf("Update = %v, want ErrDamaged", err)
	}
	if got, err := os.ReadFile(path); string(got) != "{oops" {
		t.Errorf("file = %q, %v; want it unchanged", got, err)
	}
}

func TestFileTouchedUnderAWriterIsStillOurs(t *testing.T) {
	s := openTestStore(t, "", Options{})
	w := mustCreate(t, s, newRow())
	for range 3 {
		age(t, sessionPath(s, w.id))
		if _, err := w.Update(false, func(r *Row) error { r.Turns++; return nil }); err != nil {
			t.Fatal(err)
		}
	}
}
