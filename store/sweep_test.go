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
