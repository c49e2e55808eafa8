package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestExportReplacesItsFileWhenItIsWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	failed := errors.New("failed")
	err := writeTo(path, nil, func(w io.Writer) error {
		io.WriteString(w, "half")
		return failed
	})
	if !errors.Is(err, failed) {
		t.Errorf("error = %v, want %v", err, failed)
	}
	wantFiles(t, dir, "old")
	if err := writeTo(path, nil, func(w io.Writer) error {
		_, err := io.WriteString(w, "new")
		return err
	}); err != nil {
		t.Error(err)
	}
	wantFiles(t, dir, "new")
}

// wantFiles checks that a folder has one file, with a text.
func wantFiles(t *testing.T, dir, text string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	hidden, _ := filepath.Glob(filepath.Join(dir, ".h*"))
	if err != nil || len(files)+len(hidden) != 1 {
		t.Fatalf("files = %q, %q, %v", files, hidden, err)
	}
	if b, err := os.ReadFile(files[0]); err != nil || string(b) != text {
		t.Errorf("file has %q, %v; want %q", b, err, text)
	}
}

func TestExportWritesDevicesAndStandardOutputAsTheyAre(t *testing.T) {
	write := func(w io.Writer) error {
		_, err := io.WriteString(w, "text")
		return err
	}
	if err := writeTo(os.DevNull, nil, write); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%s was replaced: %v", os.DevNull, err)
	}
	var b bytes.Buffer
	if err := writeTo("", &b, write); err != nil || b.String() != "text" {
		t.Errorf("standard output = %q, %v", &b, err)
	}
}
