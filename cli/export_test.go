package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"holdfast/session"
	"holdfast/store"
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

// What goes wrong with the file is told of by the name that was given.
func TestExportNamesTheFileThatWasGiven(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "out")
	err := writeTo(path, nil, func(io.Writer) error { return nil })
	if got, want := fmt.Sprint(err), path+": no such file or directory"; got != want {
		t.Errorf("error %q, want %q", got, want)
	}
	path = filepath.Join(t.TempDir(), "out")
	err = writeTo(path, nil, func(w io.Writer) error {
		w.(*os.File).Close() // as a full disk does, the write fails
		_, err := w.Write([]byte("x"))
		return err
	})
	if got, want := fmt.Sprint(err), path+": file already closed"; got != want {
		t.Errorf("error %q, want %q", got, want)
	}
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

// gappyStore has a session whose log lacks its beginning, which retention has
// removed, and a piece in the middle, which somebody else has.
func gappyStore(t *testing.T) (dir, id string, oldest, end int64, hole [2]int64) {
	t.Helper()
	dir = t.TempDir()
	st, err := store.Open(dir, store.Options{SegmentSize: 1000, Keep: 5000})
	if err != nil {
		t.Fatal(err)
	}
	ctl, err := session.Open(session.Config{Store: st, Front: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer ctl.Close()
	v, err := ctl.Create(session.Spec{Argv: []string{"sh", "-c", "stty raw; head -c 20000 /dev/zero | tr '\\0' x"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ctl.Wait(t.Context(), v.ID, session.WaitSpec{From: session.FromOffset(0), Exit: true}); err != nil {
		t.Fatal(err)
	}
	if v, err = ctl.Get(v.ID); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "sessions", v.ID, "output", "*"))
	if err != nil || len(files) < 4 {
		t.Fatalf("segments: %q, %v", files, err)
	}
	for i := range hole {
		if _, err := fmt.Sscanf(filepath.Base(files[1+i]), "%d", &hole[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(files[1]); err != nil {
		t.Fatal(err)
	}
	return dir, v.ID, v.Oldest, v.Cursor, hole
}

func TestExportTellsOfWhatIsGone(t *testing.T) {
	dir, id, oldest, end, hole := gappyStore(t)
	missing := oldest + hole[1] - hole[0]
	pieces := fmt.Sprintf("holdfast: the output from 0 to %d is gone\nholdfast: the output from %d to %d is gone\n", oldest, hole[0], hole[1])
	for format, want := range map[string]string{
		"raw":  pieces,
		"text": pieces,
		"cast": fmt.Sprintf("holdfast: %d bytes of output are gone\n", missing),
	} {
		file := filepath.Join(t.TempDir(), "out")
		var stdout, stderr bytes.Buffer
		if err := Export(t.Context(), []string{"--store", dir, id, "--" + format, "-o", file, "--json"}, &stdout, &stderr); err != nil {
			t.Errorf("%s: %v", format, err)
		}
		if stderr.String() != want {
			t.Errorf("%s: told %q, want %q", format, &stderr, want)
		}
		b, err := os.ReadFile(file)
		if got := int64(strings.Count(string(b), "x")); err != nil || got < end-missing || got > end-missing+10 {
			t.Errorf("%s: %d bytes of output, %v; want %d", format, got, err, end-missing)
		}
		var got struct {
			ID, Format, File string
			Bytes, Missing   int64
		}
		if err := json.Unmarshal(stdout.Bytes(), &got); err != nil || got.ID != id || got.Format != format || got.File != file || got.Bytes != int64(len(b)) || got.Missing != missing {
			t.Errorf("%s: JSON %s, %v; want id %s, %d bytes, %d missing", format, &stdout, err, id, len(b), missing)
		}
	}
}
