package store

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// failAt returns a hook that fails the named step, every time, with
// errInjected.
func failAt(step string) hook {
	return func(at string) error {
		if at == step {
			return errInjected
		}
		return nil
	}
}

// stepsOf returns the steps that run passes to the hook, in order.
func stepsOf(run func(h hook)) []string {
	var steps []string
	run(func(step string) error {
		steps = append(steps, step)
		return nil
	})
	return steps
}

// folderNames returns the names in dir.
func folderNames(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestReplaceFileWritesWholeFilesPrivately(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bound.json")
	for _, data := range []string{"first", "", strings.Repeat("long ", 100_000), "last"} {
		for _, durable := range []bool{true, false} {
			if err := ReplaceFile(path, []byte(data), durable); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(path)
			if err != nil || string(got) != data {
				t.Fatalf("read %d bytes, %v; want %d", len(got), err, len(data))
			}
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("mode = %v, %v; want 0600", info.Mode(), err)
	}
	if diff := cmp.Diff([]string{"bound.json"}, folderNames(t, filepath.Dir(path))); diff != "" {
		t.Errorf("folder (-want +got):\n%s", diff)
	}
}

func TestReplaceFileWorksInTheCurrentFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := ReplaceFile("bound.json", []byte("x"), true); err != nil {
		t.Fatal(err)
	}
}

func TestReplaceFileStepsAreInOrder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	want := []string{"create", "write", "fsync", "close", "rename", "fsync folder"}
	for durable, want := range map[bool][]string{true: want, false: want[:5]} {
		got := stepsOf(func(h hook) { replaceFile(path, nil, durable, h) })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("steps with durable=%v (-want +got):\n%s", durable, diff)
		}
	}
}

func TestReplaceFileFailureAtAnyStepLeavesTheOldFileAlone(t *testing.T) {
	for _, step := range []string{"create", "write", "fsync", "close", "rename", "fsync folder"} {
		for _, old := range []string{"old content", ""} {
			t.Run(step+"/"+strconv.Quote(old), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "f")
				var names []string
				if old != "" {
					names = []string{"f"}
					if err := os.WriteFile(path, []byte(old), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				if _, err := replaceFile(path, []byte("new"), true, failAt(step)); !errors.Is(err, errInjected) {
					t.Fatalf("error = %v, want the injected one", err)
				}
				if got, _ := os.ReadFile(path); string(got) != old {
					t.Errorf("content = %q, want %q", got, old)
				}
				if diff := cmp.Diff(names, folderNames(t, filepath.Dir(path))); diff != "" {
					t.Errorf("folder (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestReplaceFilePutsTheOldFileBackOnADiskThatFailsNowAndThen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("old content"), 0o600); err != nil {
		t.Fatal(err)
	}
	left := 2
	now := func(step string) error {
		if step == "put back: fsync" {
			left--
		}
		if step == "fsync folder" || step == "put back: fsync" && left >= 0 {
			return errInjected
		}
		return nil
	}
	if _, err := replaceFile(path, []byte("new"), true, now); !errors.Is(err, errInjected) || left != -1 {
		t.Errorf("error = %v after %d tries to put back", err, 2-left)
	}
	if got, _ := os.ReadFile(path); string(got) != "old content" {
		t.Errorf("content = %q, want the old", got)
	}
	if diff := cmp.Diff([]string{"f"}, folderNames(t, filepath.Dir(path))); diff != "" {
		t.Errorf("folder (-want +got):\n%s", diff)
	}
}

func TestReplaceFileRefusesWhatIsNoRegularFile(t *testing.T) {
	dir := t.TempDir()
	target, link, folder := filepath.Join(dir, "target"), filepath.Join(dir, "link"), filepath.Join(dir, "folder")
	if err := errors.Join(os.WriteFile(target, []byte("old"), 0o600), os.Symlink("target", link), os.Mkdir(folder, 0o700)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		link:   "replace link: not a regular file: a symbolic link",
		folder: "replace folder: not a regular file: a folder",
	} {
		if err := ReplaceFile(path, []byte("new"), true); err == nil || err.Error() != want {
			t.Errorf("ReplaceFile(%s) = %v, want %q", filepath.Base(path), err, want)
		}
	}
	if got, err := os.ReadFile(target); string(got) != "old" {
		t.Errorf("target of the link = %q, %v; want it unchanged", got, err)
	}
	if diff := cmp.Diff([]string{"folder", "link", "target"}, folderNames(t, dir)); diff != "" {
		t.Errorf("folder (-want +got):\n%s", diff)
	}
}

// A limit on the size of files gives what a full disk gives: a short write,
// and then an error.
func TestReplaceFileShortWriteLeavesTheOldFileAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	child := startRole(t, "limit")
	limited := exec.CommandContext(t.Context(), "sh", "-c", `ulimit -f 8 && exec "$0" "$1"`, child.Path, path)
	limited.Env, limited.Stderr = child.Env, child.Stderr
	if err := limited.Run(); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); string(got) != "old" {
		t.Errorf("content = %q, %v; want it unchanged", got, err)
	}
	if diff := cmp.Diff([]string{"f"}, folderNames(t, filepath.Dir(path))); diff != "" {
		t.Errorf("folder (-want +got):\n%s", diff)
	}
}

// limitRole replaces a file by one that is bigger than the process may write.
func limitRole(args []string) error {
	if err := ReplaceFile(args[0], make([]byte, 100_000), true); !errors.Is(err, syscall.EFBIG) {
		return errors.New("replacing beyond the limit did not report EFBIG")
	}
	return nil
}
