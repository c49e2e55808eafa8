package store

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSweepRemovesTempFilesOnly(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".bound.json.tmp-123", ".token.tmp-9", "bound.json", "a.tmp-1", ".hidden"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := Sweep(dir); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if len(got) != 3 || got[0] != ".hidden" || got[1] != "a.tmp-1" || got[2] != "bound.json" {
		t.Errorf("left = %q, want .hidden, a.tmp-1 and bound.json", got)
	}
}

func TestTornNamesSessionsThatWereBeingWritten(t *testing.T) {
	s := openTestStore(t, "", Options{})
	mustHave(t, s)
	row := mustHave(t, s)
	if err := os.WriteFile(filepath.Join(s.folder(row.ID), ".session.json.tmp-1"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	torn, err := s.Torn()
	if err != nil || len(torn) != 1 || torn[0] != row.ID {
		t.Errorf("Torn = %v, %v; want %s", torn, err, row.ID)
	}
	w, err := s.OpenWriter(row.ID)
	if err != nil {
		t.Fatal(err)
	}
	mustClose(t, w)
	if torn, err := s.Torn(); err != nil || len(torn) > 0 {
		t.Errorf("Torn after OpenWriter = %v, %v; want none", torn, err)
	}
}
