package store

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Whoever removes or cuts files of a log takes bytes away, never offsets.
func TestOffsetsAreNotUsedAgainWhenFilesAreGone(t *testing.T) {
	for name, damage := range map[string]func(segment string) error{
		"removed": os.Remove,
		"cut":     func(segment string) error { return os.Truncate(segment, 3) },
	} {
		t.Run(name, func(t *testing.T) {
			s := openTestStore(t, filepath.Join(t.TempDir(), "store"), Options{})
			w := mustCreate(t, s, newRow())
			id := w.Row().ID
			if err := w.Append([]byte("0123456789")); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Update(true, func(*Row) error { return nil }); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if err := damage(segmentPath(filepath.Join(s.folder(id), outputDir), 0)); err != nil {
				t.Fatal(err)
			}
			w, err := s.OpenWriter(id)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			if _, end := w.Bounds(); end != 10 {
				t.Errorf("end = %d, want 10", end)
			}
			if err := w.Append([]byte("new")); err != nil {
				t.Fatal(err)
			}
			f, err := s.Follow(id)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			buf := make([]byte, 10)
			if n, err := f.ReadAt(buf, 10); string(buf[:n]) != "new" {
				t.Errorf("at 10: %q, %v; want new", buf[:n], err)
			}
		})
	}
}

// While nothing changes, callers may compare rows by their pointer.
func TestARowThatSaysTheSameIsTheSame(t *testing.T) {
	s := openTestStore(t, filepath.Join(t.TempDir(), "store"), Options{})
	w := mustCreate(t, s, newRow())
	id := w.Row().ID
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	other, err := Open(s.Dir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	first, err := other.Row(id) // the file is so new that its stamp says nothing
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if row, err := other.Row(id); row != first {
			t.Fatalf("Row = %p, %v; want %p again", row, err, first)
		}
	}
}

func TestSpecialFilesAreRefused(t *testing.T) {
	s := openTestStore(t, filepath.Join(t.TempDir(), "store"), Options{})
	w := mustCreate(t, s, newRow())
	id := w.Row().ID
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	journal := filepath.Join(s.folder(id), journalFile)
	if err := os.Remove(journal); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mkfifo", "-m", "600", journal).CombinedOutput(); err != nil {
		t.Fatalf("mkfifo: %v, %s", err, out)
	}
	f, err := s.Follow(id)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, _, err1 := f.Entries(0)
	_, err2 := s.OpenWriter(id)
	_, err3 := ReadFile(journal)
	for i, err := range []error{err1, err2, err3} {
		if err == nil || !strings.Contains(err.Error(), "special file") {
			t.Errorf("%d: %v, want a refusal of a special file", i, err)
		}
	}
}

func TestAStoreThatOthersCanChangeIsRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	openTestStore(t, dir, Options{})
	if err := os.Chmod(dir, 0o720); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, Options{}); err == nil || !strings.Contains(err.Error(), "other users can change its folder") {
		t.Errorf("Open = %v, want a refusal", err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
}
