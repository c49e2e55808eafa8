package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdfast/state"
)

// openTestStore opens the store in a new folder, or in dir. When the test is
// over, all its writers and followers must be closed and its folder in order.
func openTestStore(t testing.TB, dir string, o Options) *Store {
	t.Helper()
	if dir == "" {
		dir = filepath.Join(t.TempDir(), "store")
	}
	s, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.mu.Lock()
		for id, h := range s.hubs {
			t.Errorf("session %s is still in use: claimed %v, %d followers", id, h.claimed, h.followers)
		}
		s.mu.Unlock()
		checkFolder(t, dir)
	})
	return s
}

// checkFolder checks a store's invariants: no temp files, no stray names,
// nothing that others may read.
func checkFolder(t testing.TB, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		info, err := d.Info()
		if err != nil {
			return err
		}
		if got, want := info.Mode().IsDir(), belongs(strings.Split(rel, "/")); want == "" || got != (want == "folder") {
			t.Errorf("store has %s %s; want %q", fileKind(info.Mode()), rel, want)
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", rel, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// belongs says what a store has at a path: "folder", "file" or nothing, "".
func belongs(path []string) string {
	switch {
	case len(path) == 1 && slices.Contains([]string{".", "sessions", "locks", "trash"}, path[0]):
		return "folder"
	case path[0] == "sessions" && len(path) == 2 && ValidID(path[1]):
		return "folder"
	case path[0] == "sessions" && len(path) == 3 && path[2] == outputDir:
		return "folder"
	case path[0] == "sessions" && len(path) == 3 && (path[2] == sessionFile || path[2] == journalFile):
		return "file"
	case path[0] == "sessions" && len(path) == 4 && path[2] == outputDir:
		if _, ok := parseSegment(path[3]); ok {
			return "file"
		}
	}
	return ""
}

// newRow returns a row with the fields that a running shell has.
func newRow() *Row {
	return &Row{
		ID:        NewID(),
		Name:      "build",
		Argv:      []string{"bash", "-l"},
		Cwd:       "/home/user/project",
		State:     state.Running,
		CreatedAt: time.Date(2026, 11, 30, 14, 5, 9, 0, time.UTC),
		Cols:      80,
		Rows:      24,
	}
}

// mustCreate creates a session that is closed with the test.
func mustCreate(t testing.TB, s *Store, row *Row) *Writer {
	t.Helper()
	w, err := s.Create(row, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mustClose(t, w) })
	return w
}

func mustClose(t testing.TB, w *Writer) {
	t.Helper()
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

// mustHave creates a session and closes it.
func mustHave(t testing.TB, s *Store) *Row {
	t.Helper()
	w := mustCreate(t, s, newRow())
	mustClose(t, w)
	return w.Row()
}

func mustRow(t testing.TB, s *Store, id string) *Row {
	t.Helper()
	row, err := s.Row(id)
	if err != nil {
		t.Fatal(err)
	}
	return row
}

// rowDiff compares rows, unknown members included.
func rowDiff(want, got *Row) string { return cmp.Diff(want, got, cmp.AllowUnexported(Row{})) }

func sessionPath(s *Store, id string) string { return filepath.Join(s.folder(id), sessionFile) }

func TestOpenMakesPrivateFoldersAndKeepsWhatIsThere(t *testing.T) {
	s := openTestStore(t, "", Options{})
	row := mustHave(t, s)
	again := openTestStore(t, s.Dir(), Options{})
	if diff := rowDiff(row, mustRow(t, again, row.ID)); diff != "" {
		t.Errorf("row after a second Open (-want +got):\n%s", diff)
	}
}

func TestOpenSaysWhyItCannot(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(file, Options{}); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("Open(a file) = %v, want not a directory", err)
	}
}

func TestIDsIgnoresForeignNames(t *testing.T) {
	s := openTestStore(t, "", Options{})
	want := []string{mustHave(t, s).ID, mustHave(t, s).ID}
	slices.Sort(want)
	sessions := filepath.Join(s.Dir(), "sessions")
	foreign := []string{"lost+found", ".new-" + NewID(), strings.ToUpper(NewID()), ".DS_Store"}
	for _, name := range foreign {
		if err := os.Mkdir(filepath.Join(sessions, name), 0o700); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Remove(filepath.Join(sessions, name)) })
	}
	link, file := filepath.Join(sessions, NewID()), filepath.Join(sessions, NewID())
	if err := errors.Join(os.Symlink(s.folder(want[0]), link), os.WriteFile(file, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(link); os.Remove(file) })
	got, err := s.IDs()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("IDs (-want +got):\n%s", diff)
	}
	for _, path := range []string{link, file} {
		if _, err := s.Row(filepath.Base(path)); !errors.Is(err, ErrNotFound) {
			t.Errorf("Row of what is no folder: %v, want ErrNotFound", err)
		}
	}
}

func TestIDsSeesEveryChangeOfAnotherProcess(t *testing.T) {
	ours := openTestStore(t, "", Options{})
	theirs := openTestStore(t, ours.Dir(), Options{})
	var want []string
	for i := range 20 {
		if i%3 == 2 {
			if err := theirs.Remove(want[0]); err != nil {
				t.Fatal(err)
			}
			want = want[1:]
		} else {
			want = append(want, mustHave(t, theirs).ID)
		}
		got, err := ours.IDs()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(slices.Sorted(slices.Values(want)), got); diff != "" {
			t.Fatalf("IDs after change %d (-want +got):\n%s", i, diff)
		}
	}
}

// With equal stamps only the folder's recent time says that it may have
// changed.
func TestIDsSeesAChangeWithinOneTick(t *testing.T) {
	s := openTestStore(t, "", Options{})
	sessions, tick := filepath.Join(s.Dir(), "sessions"), time.Now().Add(time.Minute)
	for want := range 3 {
		if err := os.Chtimes(sessions, tick, tick); err != nil {
			t.Fatal(err)
		}
		if got, err := s.IDs(); len(got) != want || err != nil {
			t.Errorf("IDs = %v, %v; want %d", got, err, want)
		}
		mustHave(t, s)
	}
}

func TestIDsForgetsRowsThatAreGone(t *testing.T) {
	ours := openTestStore(t, "", Options{})
	theirs := openTestStore(t, ours.Dir(), Options{})
	id := mustHave(t, theirs).ID
	mustRow(t, ours, id)
	if err := theirs.Remove(id); err != nil {
		t.Fatal(err)
	}
	if _, err := ours.IDs(); err != nil {
		t.Fatal(err)
	}
	if len(ours.rows) != 0 {
		t.Errorf("%d rows are still cached, want none", len(ours.rows))
	}
}

func TestLockPathIsOfAValidIDOnly(t *testing.T) {
	s := openTestStore(t, "", Options{})
	id := NewID()
	if got, want := s.LockPath(id), filepath.Join(s.Dir(), "locks", id+".lock"); got != want {
		t.Errorf("LockPath = %q, want %q", got, want)
	}
	defer func() {
		if recover() == nil {
			t.Error("LockPath of ../../x did not panic")
		}
	}()
	s.LockPath("../../x")
}

func TestInvalidIDsAreNotFoundAnywhere(t *testing.T) {
	s := openTestStore(t, "", Options{})
	mustHave(t, s)
	for _, id := range []string{"", ".", "..", "../sessions", "a/b", strings.Repeat("a", 300), strings.ToUpper(NewID()), NewID() + "/", NewID()} {
		_, rowErr := s.Row(id)
		_, openErr := s.OpenWriter(id)
		_, followErr := s.Follow(id)
		for call, err := range map[string]error{
			"Row": rowErr, "OpenWriter": openErr, "Follow": followErr, "Remove": s.Remove(id),
		} {
			if !errors.Is(err, ErrNotFound) {
				t.Errorf("%s(%.40q) = %v, want ErrNotFound", call, id, err)
			}
		}
	}
}

func TestNewIDIsAValidRandomUUID(t *testing.T) {
	a, b := NewID(), NewID()
	if !ValidID(a) || a == b || a[14] != '4' || !strings.ContainsRune("89ab", rune(a[19])) {
		t.Errorf("NewID = %s, then %s", a, b)
	}
}
