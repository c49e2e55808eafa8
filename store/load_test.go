package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// age makes a file's time old enough for its stamp to be believed.
func age(t testing.TB, path string) {
	t.Helper()
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
}

func TestDamagedFileIsReportedAndNeverOverwritten(t *testing.T) {
	s := openTestStore(t, "", Options{})
	healthy := mustHave(t, s)
	for content, want := range badRows() {
		row := mustHave(t, s)
		path := sessionPath(s, row.ID)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, settled := range []bool{false, true, true} {
			if settled {
				age(t, path)
			}
			_, err := s.Row(row.ID)
			damage, ok := errors.AsType[*DamagedError](err)
			if !ok || !errors.Is(err, ErrDamaged) || damage.ID != row.ID || !strings.HasPrefix(damage.Reason, want) {
				t.Errorf("Row with %.40q: %v; want the reason %q", content, err, want)
			}
		}
		if w, err := s.OpenWriter(row.ID); !errors.Is(err, ErrDamaged) {
			t.Errorf("OpenWriter with %.40q = %v, %v; want ErrDamaged", content, w, err)
		}
		if got, err := os.ReadFile(path); string(got) != content {
			t.Errorf("file with %.40q is now %.40q, %v; want it unchanged", content, got, err)
		}
	}
	mustRow(t, s, healthy.ID)
}

func TestRowOfAnotherSessionIsDamage(t *testing.T) {
	s := openTestStore(t, "", Options{})
	a, b := mustHave(t, s), mustHave(t, s)
	if err := ReplaceFile(sessionPath(s, a.ID), mustEncode(t, b), false); err != nil {
		t.Fatal(err)
	}
	want := "session " + a.ID + " is damaged: session.json is of session " + b.ID
	if _, err := s.Row(a.ID); err == nil || err.Error() != want {
		t.Errorf("Row = %v, want %q", err, want)
	}
}

func TestSessionFileThatIsNoFileIsDamageAndNotFollowed(t *testing.T) {
	for want, put := range map[string]func(path, target string) error{
		"session.json is a symbolic link": func(path, target string) error { return os.Symlink(target, path) },
		"session.json is a folder":        func(path, _ string) error { return os.Mkdir(path, 0o700) },
		"session.json is missing":         func(string, string) error { return nil },
	} {
		s := openTestStore(t, "", Options{})
		row := mustHave(t, s)
		path, target := sessionPath(s, row.ID), filepath.Join(t.TempDir(), "good.json")
		if err := errors.Join(os.Rename(path, target), put(path, target)); err != nil {
			t.Fatal(err)
		}
		age(t, target)
		_, rowErr := s.Row(row.ID)
		_, openErr := s.OpenWriter(row.ID)
		for call, err := range map[string]error{"Row": rowErr, "OpenWriter": openErr} {
			if damage, ok := errors.AsType[*DamagedError](err); !ok || damage.Reason != want {
				t.Errorf("%s = %v, want the reason %q", call, err, want)
			}
		}
		if got, err := os.ReadFile(target); string(got) != string(mustEncode(t, row)) {
			t.Errorf("target is now %q, %v; want it unchanged", got, err)
		}
		if err := s.Remove(row.ID); err != nil {
			t.Errorf("Remove with %s: %v", want, err)
		}
	}
}

func TestDamageThatWasRepairedByHandIsGone(t *testing.T) {
	s := openTestStore(t, "", Options{})
	row := mustHave(t, s)
	path := sessionPath(s, row.ID)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Row(row.ID); !errors.Is(err, ErrDamaged) {
		t.Fatalf("Row = %v, want ErrDamaged", err)
	}
	if err := os.WriteFile(path, mustEncode(t, row), 0o600); err != nil {
		t.Fatal(err)
	}
	if diff := rowDiff(row, mustRow(t, s, row.ID)); diff != "" {
		t.Errorf("row (-want +got):\n%s", diff)
	}
}

func TestRowOfAnotherProcessIsNeverStale(t *testing.T) {
	ours := openTestStore(t, "", Options{})
	theirs := openTestStore(t, ours.Dir(), Options{})
	w := mustCreate(t, theirs, newRow())
	// Sizes repeat, and with them inodes: only the times differ, if at all.
	for i := range 200 {
		want, err := w.Update(false, func(r *Row) error { r.Turns = 10 + i%2; return nil })
		if err != nil {
			t.Fatal(err)
		}
		if diff := rowDiff(want, mustRow(t, ours, want.ID)); diff != "" {
			t.Fatalf("row after change %d (-want +got):\n%s", i, diff)
		}
	}
}

// putInTick changes a session's file in place and sets its time: with rows of
// one size and the same time its stamp stays what it was.
func putInTick(t *testing.T, s *Store, row *Row, tick time.Time) {
	t.Helper()
	path := sessionPath(s, row.ID)
	if err := errors.Join(os.WriteFile(path, mustEncode(t, row), 0o600), os.Chtimes(path, tick, tick)); err != nil {
		t.Fatal(err)
	}
}

func TestRowChangedWithinOneTickIsNotStale(t *testing.T) {
	s := openTestStore(t, "", Options{})
	want := mustHave(t, s).Clone()
	tick := time.Now().Add(time.Minute)
	for _, want.Name = range []string{"one", "two"} {
		putInTick(t, s, want, tick)
		if diff := rowDiff(want, mustRow(t, s, want.ID)); diff != "" {
			t.Errorf("row (-want +got):\n%s", diff)
		}
	}
}

func TestRowThatDoesNotChangeIsReadOnce(t *testing.T) {
	ours := openTestStore(t, "", Options{})
	theirs := openTestStore(t, ours.Dir(), Options{})
	id := mustHave(t, theirs).ID
	age(t, sessionPath(ours, id))
	if first, second := mustRow(t, ours, id), mustRow(t, ours, id); first != second {
		t.Error("the row was read a second time")
	}
}

func TestRowWithAWriterHereCostsNoIO(t *testing.T) {
	s := openTestStore(t, "", Options{})
	w := mustCreate(t, s, newRow())
	want, err := w.Update(false, func(r *Row) error { r.Name = "renamed"; return nil })
	if err != nil {
		t.Fatal(err)
	}
	away := filepath.Join(t.TempDir(), "away")
	if err := os.Rename(s.folder(want.ID), away); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Row(want.ID); got != want || err != nil {
		t.Errorf("Row without its folder = %p, %v; want %p from memory", got, err, want)
	}
	if err := os.Rename(away, s.folder(want.ID)); err != nil {
		t.Fatal(err)
	}
}
