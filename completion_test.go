//go:build unix

package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/session"
	"holdfast/store"
)

// hostile are names that mean something to shells. Each begins with a letter of
// its own, and no id with any of them.
var hostile = []string{
	"g$(touch pwned)", "h`touch pwned`", `i'quo"tes \ back`, "j two  words (copy)", "k日本", "l;touch pwned #", "m*", "n&|<touch>pwned", "o!x!!",
	"p~/x", "q=x:y@z", "r{a,b}", "s%s%n", "t[ab]?", "u$HOME", `v\`, "w^x", "x -- -y", "y,", "z--",
}

// openController opens a store in the test's process. The caller must Close it.
func openController(t *testing.T, dir string) *session.Controller {
	t.Helper()
	st, err := store.Open(dir, store.Options{Boot: "test"})
	if err != nil {
		t.Fatal(err)
	}
	ctl, err := session.Open(session.Config{Store: st, Front: "test", ShutdownGrace: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return ctl
}

// namedSessions makes a store with a session for each name, and returns their
// ids.
func namedSessions(t *testing.T, names ...string) (dir string, ids map[string]string) {
	t.Helper()
	dir = t.TempDir()
	ctl := openController(t, dir)
	defer ctl.Close()
	ids = make(map[string]string)
	for _, name := range names {
		v, err := ctl.Create(session.Spec{Name: name, Argv: []string{"true"}})
		if err != nil {
			t.Fatal(err)
		}
		ids[name] = v.ID
	}
	return dir, ids
}

// keepOne keeps a session live until the test ends.
func keepOne(t *testing.T, dir, name string) (id string) {
	t.Helper()
	ctl := openController(t, dir)
	t.Cleanup(func() { ctl.Close() })
	v, err := ctl.Create(session.Spec{Name: name, Argv: []string{"cat"}})
	if err != nil {
		t.Fatal(err)
	}
	return v.ID
}

func words(t *testing.T, typed ...string) (kind string, list []string) {
	t.Helper()
	var out bytes.Buffer
	if err := run(t.Context(), append([]string{"completion", "words"}, typed...), &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	kind, rest, _ := strings.Cut(out.String(), "\n")
	for line := range strings.Lines(rest) {
		word, _, _ := strings.Cut(line, "\t")
		list = append(list, word)
	}
	return kind, list
}

// A completion is what may come next after words, with | between them.
type completion struct{ typed, want string }

// completions are those in a store with sessions of these names.
func completions(dir string, ids map[string]string) []completion {
	return []completion{
		{"s", "serve start show send stop"},
		{"sh", "show"},
		{"start|m", "make"},
		{"attach|", "on"},
		{"send|o", "on"},
		{"wait|o", "on"},
		{"stop|", "on"},
		{"stop|m", ""},
		{"start|o", ""},
		{"show|o", "on"},
		{"run|--resume|o", ""},
		{"rm|o", "on"},
		{"ls|--state|l", "live"},
		{"fork|m", "make"},
		{"fork|make|--", "--json --name --store --turn"},
		{"new|m", ""},
		{"new|--|", "commands"},
		{"run|--name|x|--|ba", "commands"},
		{"run|--|bash|", "files"},
		{"send|on|--|", "files"},
		{"new|--cwd|", "files"},
		{"new|--profile|", "claude codex gemini opencode shell"},
		{"new|--profile|cl", "claude"},
		{"x|", ""},
		{"show|--", "--json --store --turns"},
		{"show|-", "--json --store --turns"},
		{"show|--j", "--json"},
		{"export|x|-", "--cast --json -o --raw --store --text"},
		{"show|m", "make"},
		{"rename|m", "make"},
		{"rename|make|", ""},
		{`show|"two wo`, "two words"},
		{`show|two\ wo`, "two words"},
		{"show|'two'\\ ", "two words"},
		{"show|" + ids["make"][:8], ids["make"]},
		{"show|" + ids["-x"][:8], ids["-x"]},
		{"show|-x", ""},
		{"show|make|", ""},
		{"show|--json|m", "make"},
		{"show|--store|/nonexistent/store|m", ""},
		{"show|--store|" + dir + "|m", "make"},
		{"show|--store=/nonexistent/store|m", ""},
		{"rm|make|ship|m", "make"},
		{"send|make|m", ""},
		{"send|--enter|o", "on"},
		{"serve|--log-level|", "debug info warn error"},
		{"serve|--resume|m", "make"},
		{"serve|--store|", "files"},
		{"serve|--|", "commands"},
		{"export|make|-o|x", "files"},
		{"wait|make|--for|", "exit idle quiet match"},
		{"wait|make|--for|exit,i", "exit,idle"},
		{"wait|make|--timeout|", ""},
		{"completion|", "bash fish zsh"},
		{"completion|bash|", ""},
		{"version|", ""},
	}
}

func TestWhatMayComeNext(t *testing.T) {
	dir, ids := namedSessions(t, "make", "ship", "twin", "twin", "-x", "two words", "")
	t.Setenv("HOLDFAST_STORE", dir)
	keepOne(t, dir, "on")
	all := []string{"make", "on", "ship", "two words"}
	for _, tt := range completions(dir, ids) {
		kind, got := words(t, strings.Split(tt.typed, "|")...)
		want := strings.Fields(tt.want)
		switch {
		case tt.want == "two words":
			want = []string{tt.want}
		case tt.want == "files" || tt.want == "commands":
			if kind != tt.want || got != nil {
				t.Errorf("after %q: %s %q, want %s", tt.typed, kind, got, tt.want)
			}
			continue
		}
		if kind != "words" || !slices.Equal(got, want) {
			t.Errorf("after %q: %s %q, want %q", tt.typed, kind, got, want)
		}
	}
	_, got := words(t, "show", "")
	for _, name := range all {
		if !slices.Contains(got, name) {
			t.Errorf("sessions to choose from: %q, want %q among them", got, name)
		}
	}
	if len(got) != len(all)+4 || slices.Contains(got, "twin") || slices.Contains(got, "-x") || !slices.Contains(got, ids["-x"]) {
		t.Errorf("sessions to choose from: %q, want ids of those whose names are not to be typed", got)
	}
}

// Every flag of every command can be completed: both come from one table.
func TestEveryFlagOfTheHelpIsOffered(t *testing.T) {
	for _, c := range commands() {
		var help bytes.Buffer
		if err := run(t.Context(), []string{c.name, "--help"}, &help, io.Discard); err != nil {
			t.Errorf("%s --help: %v", c.name, err)
		}
		_, offered := words(t, c.name, "-")
		n := 0
		for line := range strings.Lines(help.String()) {
			if flag, ok := strings.CutPrefix(line, "  -"); ok {
				n++
				if flag, _, _ = strings.Cut(strings.TrimSpace("-"+flag), " "); !slices.Contains(offered, flag) {
					t.Errorf("%s is not offered after %s", flag, c.name)
				}
			}
		}
		if n != len(offered) {
			t.Errorf("%d flags are offered after %s, which has %d", len(offered), c.name, n)
		}
	}
}

// The shells are asked by somebody who types the beginning of a word, Tab and
// Enter: what was completed is run.
func TestShellsComplete(t *testing.T) {
	dir, ids := namedSessions(t, append(hostile, "--dash")...)
	said, err := exec.Command(buildHoldfast(t), "version").Output()
	if err != nil {
		t.Fatal(err)
	}
	for shell, args := range map[string][]string{
		"bash": {"--norc", "--noprofile", "-i"},
		"zsh":  {"-f", "-i"},
		"fish": {"--no-config", "-i"},
	} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			if err := os.WriteFile(filepath.Join(home, "nightjar"), []byte("#!/bin/sh\necho flown away\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), shell, args...)
			cmd.Dir = home
			cmd.Env = []string{
				"HOME=" + home, "PATH=" + filepath.Dir(buildHoldfast(t)) + ":" + home + ":" + os.Getenv("PATH"), "HOLDFAST_STORE=" + dir,
				"TERM=xterm", "LANG=C.UTF-8", "PS1=ready> ",
			}
			tm := onTerminal(t, cmd)
			for _, line := range map[string][]string{
				"bash": {"source <(holdfast completion bash)"},
				"zsh":  {"autoload -Uz compinit && compinit -D -u", "source <(holdfast completion zsh)"},
				"fish": {"holdfast completion fish | source"},
			}[shell] {
				tm.press(line + "; echo so'me'thing\r")
				tm.see("something")
			}
			for _, name := range hostile {
				tm.press("holdfast show " + name[:1] + "\t\r")
				tm.see(ids[name])
			}
			for _, quoted := range []string{`"j tw`, "'j tw", `j\ tw`} {
				tm.press("holdfast show " + quoted + "\t\r")
				tm.see(ids["j two  words (copy)"])
			}
			id := ids["--dash"]
			tm.press("holdfast show " + id[:8] + "\t --json\r")
			tm.see(`{"id":"` + id + `","name":"--dash"`)
			tm.press("holdfast vers\t\r")
			tm.see(strings.TrimSpace(string(said)))
			tm.press("holdfast doc\t --js\t\r")
			tm.see(`{"problems":[],"notes":[]}`)
			if err := os.Mkdir(filepath.Join(home, "folder"), 0o700); err != nil {
				t.Fatal(err)
			}
			tm.press("holdfast ls --store fol\t\r")
			tm.see("NAME")
			tm.press("holdfast run -- nightj\t\r")
			tm.see("flown away")
			if _, err := os.Stat(filepath.Join(home, "pwned")); err == nil {
				t.Error("a name was run")
			}
		})
	}
}
