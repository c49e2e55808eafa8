package session

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPlainShell(t *testing.T) {
	for _, tt := range []struct {
		argv []string
		want bool
	}{
		{[]string{"bash"}, true},
		{[]string{"/bin/bash", "-l"}, true},
		{[]string{"zsh", "-i", "--no-rcs"}, true},
		{[]string{"fish", "--private"}, true},
		{[]string{"bash", "-c", "make deploy"}, false},
		{[]string{"bash", "-lc", "make deploy"}, false},
		{[]string{"bash", "deploy.sh"}, false},
		{[]string{"fish", "--command=make"}, false},
		{[]string{"python3"}, false},
	} {
		if got := plainShell(tt.argv); got != tt.want {
			t.Errorf("plainShell(%q) = %v, want %v", tt.argv, got, tt.want)
		}
	}
}

func TestExpandFillsPlaceholders(t *testing.T) {
	got := expand(builtin["claude"].Fork, "new-id", "old-id", "/src")
	want := []string{"claude", "--resume", "old-id", "--fork-session", "--session-id", "new-id"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("expand (-want +got):\n%s", diff)
	}
	got = expand([]string{"sh", "-c", "cd {cwd}"}, "", "", "/src")
	if diff := cmp.Diff([]string{"sh", "-c", "cd /src"}, got); diff != "" {
		t.Errorf("expand (-want +got):\n%s", diff)
	}
}

func TestCheckProgram(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"good": 0o755, "plain": 0o644} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	inPath := map[string]string{"PATH": "relative:" + dir}
	for _, tt := range []struct {
		argv []string
		env  map[string]string
		want string // the end of the path, or of the error
	}{
		{[]string{"sh"}, nil, "/sh"},
		{[]string{"./good"}, nil, "/good"},
		{[]string{"good"}, inPath, "/good"},
		{[]string{"sh"}, inPath, `argv "sh": no such program`},
		{[]string{"good"}, nil, `argv "good": no such program`},
		{[]string{"./plain"}, nil, `argv "./plain": not executable`},
		{[]string{"plain"}, inPath, `argv "plain": not executable`},
		{[]string{"/no/such/program"}, nil, `argv "/no/such/program": no such program`},
		{[]string{"a\x00b"}, nil, `argv "a\x00b": has a NUL character`},
		{[]string{""}, nil, `argv "": names no program`},
		{nil, nil, `argv "": names no program`},
	} {
		path, err := checkProgram(tt.argv, dir, tt.env)
		got := path
		if err != nil {
			got = err.Error()
			if _, ok := errors.AsType[*SpecError](err); !ok {
				t.Errorf("checkProgram(%q): error %T, want *SpecError", tt.argv, err)
			}
		} else {
			got = "/" + filepath.Base(path)
		}
		if got != tt.want {
			t.Errorf("checkProgram(%q, PATH=%q) = %q, want %q", tt.argv, tt.env["PATH"], got, tt.want)
		}
	}
}
