//go:build unix

package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A symbolic link in a store, as a copied one may have it, leads nowhere:
// nothing outside is read, written or removed.
func TestSymbolicLinksAreNotFollowedOutOfTheStore(t *testing.T) {
	for name, test := range map[string]struct {
		path   string
		secret string // what the link leads to; the rest may be read
	}{
		"the session's folder": {".", "secret"},
		"session.json":         {sessionFile, "secret name"},
		"the journal":          {journalFile, "secret turn"},
		"the output folder":    {outputDir, "secret output"},
		"a segment":            {outputDir + "/00000000000000000000", "secret output"},
	} {
		t.Run(name, func(t *testing.T) {
			s := openTestStore(t, "", Options{})
			id := secretSession(t, s)
			path, outside := filepath.Join(s.folder(id), test.path), filepath.Join(t.TempDir(), "outside")
			if err := errors.Join(os.Rename(path, outside), os.Symlink(outside, path)); err != nil {
				t.Fatal(err)
			}
			before := contentOf(t, outside)
			if read := useAll(s, id); strings.Contains(read, test.secret) {
				t.Errorf("what is outside was read: %q", read)
			}
			if diff := cmp.Diff(before, contentOf(t, outside)); diff != "" {
				t.Errorf("what is outside has changed (-before +after):\n%s", diff)
			}
			if _, err := os.Lstat(s.folder(id)); err == nil {
				t.Error("the session could not be removed")
			}
		})
	}
	file, path := filepath.Join(t.TempDir(), "file"), filepath.Join(t.TempDir(), "token")
	if err := errors.Join(os.WriteFile(file, []byte("secret"), 0o600), os.Symlink(file, path)); err != nil {
		t.Fatal(err)
	}
	if b, err := ReadFile(path); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("ReadFile of a link = %q, %v; want it refused", b, err)
	}
}

// secretSession makes a session each of whose files has something secret.
func secretSession(t *testing.T, s *Store) string {
	t.Helper()
	row := newRow()
	row.Name = "secret name"
	w := mustCreate(t, s, row)
	if err := w.Append([]byte("secret output")); err != nil {
		t.Fatal(err)
	}
	if err := w.Record(Entry{Kind: "turn", Preview: "secret turn"}); err != nil {
		t.Fatal(err)
	}
	mustClose(t, w)
	return row.ID
}

// useAll does to a session all that can be done, and returns what was read of
// it. Whether it works does not matter.
func useAll(s *Store, id string) (read string) {
	other, _ := Open(s.Dir(), Options{}) // which has nothing in memory
	if row, err := other.Row(id); err == nil {
		read += row.Name
	}
	if f, err := other.Follow(id); err == nil {
		buf := make([]byte, 100)
		n, _ := f.ReadAt(buf, 0)
		read += string(buf[:n])
		entries, _, _ := f.Entries(0)
		for _, e := range entries {
			read += e.Preview
		}
		f.Close()
	}
	fork := newRow()
	if w, err := other.Create(fork, &Source{ID: id, At: 6}); err == nil {
		w.Close()
		if f, err := other.Follow(fork.ID); err == nil {
			buf := make([]byte, 100)
			n, _ := f.ReadAt(buf, 0)
			read += string(buf[:n])
			f.Close()
		}
	}
	if w, err := other.OpenWriter(id); err == nil {
		w.Append([]byte("more"))
		w.Record(Entry{Kind: "turn"})
		w.Update(true, func(r *Row) error { r.Name = "changed"; return nil })
		w.Close()
	}
	other.Remove(id)
	return read
}

// contentOf returns what is in a file, or in the files of a folder by name.
func contentOf(t *testing.T, path string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(path, func(name string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		rel, _ := filepath.Rel(path, name)
		all[rel] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
