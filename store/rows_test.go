package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// settledRows lists the sessions, with a folder old enough to be believed.
func settledRows(t *testing.T, s *Store) []Found {
	t.Helper()
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(s.sessions(), past, past); err != nil {
		t.Fatal(err)
	}
	rows, err := s.Rows()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestRowsAreWhatRowSays(t *testing.T) {
	s := openTestStore(t, "", Options{})
	for range 200 { // more than one goroutine reads
		mustHave(t, s)
	}
	broken := mustHave(t, s).ID
	if err := os.WriteFile(filepath.Join(s.folder(broken), sessionFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	rows, err := s.Rows()
	if err != nil || len(rows) != 201 {
		t.Fatalf("Rows = %d sessions, %v; want 201", len(rows), err)
	}
	for i, f := range rows {
		row, err := s.Row(f.ID)
		if f.Row != row || (f.Err == nil) != (err == nil) || i > 0 && f.ID <= rows[i-1].ID {
			t.Errorf("Rows has %+v, Row says %p, %v", f, row, err)
		}
		if f.ID == broken && !errors.Is(f.Err, ErrDamaged) {
			t.Errorf("a damaged row: %v, want ErrDamaged", f.Err)
		}
	}
}

// A change by another process is seen at once, although no row is looked at
// while there is none.
func TestRowsSeeEveryChange(t *testing.T) {
	s := openTestStore(t, "", Options{})
	other := openTestStore(t, s.dir, Options{})
	id := mustHave(t, other).ID
	first := settledRows(t, s)
	if again, _ := s.Rows(); len(first) != 1 || &again[0] != &first[0] {
		t.Fatalf("a second list without a change is not the first: %v, %v", first, again)
	}
	w, err := other.OpenWriter(id)
	if err != nil {
		t.Fatal(err)
	}
	rename := func(name string) {
		t.Helper()
		if _, err := w.Update(false, func(r *Row) error { r.Name = name; return nil }); err != nil {
			t.Fatal(err)
		}
		if rows, err := s.Rows(); err != nil || rows[0].Row.Name != name {
			t.Errorf("after a change to %q: %+v, %v", name, rows, err)
		}
	}
	rename("one")
	settledRows(t, s)
	rename("two")
	rename("three") // within the same tick
	mustClose(t, w)

	settledRows(t, s)
	second := mustHave(t, other).ID
	if rows, err := s.Rows(); err != nil || len(rows) != 2 {
		t.Errorf("after a creation: %v, %v; want 2 sessions", rows, err)
	}
	settledRows(t, s)
	if err := other.Remove(second); err != nil {
		t.Fatal(err)
	}
	if rows, err := s.Rows(); err != nil || len(rows) != 1 || rows[0].ID != id {
		t.Errorf("after a removal: %v, %v; want only %s", rows, err, id)
	}
}

// A change that left no trace in the folder is seen after a while.
func TestRowsAreNotBelievedForLong(t *testing.T) {
	s := openTestStore(t, "", Options{})
	row := mustHave(t, s)
	settledRows(t, s)
	next := row.Clone()
	next.Name = "by hand"
	b, err := next.encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.folder(row.ID), sessionFile), b, 0o600); err != nil {
		t.Fatal(err)
	}
	s.found.made = s.found.made.Add(-rowsTrust)
	if rows, err := s.Rows(); err != nil || rows[0].Row.Name != "by hand" {
		t.Errorf("Rows = %+v, %v; want the change by hand", rows[0].Row, err)
	}
}
