package session

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseProfilesSaysWhatIsWrongAndWhere(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", ", line 1: unexpected end of JSON input"},
		{"[]", ", line 1: is no object"},
		{"null", ", line 1: is no object"},
		{"{\n\"x\": {}}", `, line 2: profile "x": has no "start"`},
		{"{\n\"y\": {\"start\": [\"a\"]},\n\n\"x\": {\"start\": []}}", `, line 4: profile "x": has no "start"`},
		{"{\n\"x\": {\"start\": [\"a\"],\n\"fork\": \"sh\"}}", `, line 3: profile "x": string where a list of texts must be`},
		{"{\n\"x\": {\"start\": [\"a\", 1]}}", `, line 2: profile "x": number where a list of texts must be`},
		{"{\n\"x\": {\"strat\": [\"a\"]}}", `, line 2: profile "x": has "strat", which is none of "start", "resume" and "fork"`},
		{"{\n\"x\": {\"start\": [\"a\"], \"note\": 1}}", `, line 2: profile "x": has "note", which is none of "start", "resume" and "fork"`},
		{"{\n\"x\": 3}", `, line 2: profile "x": number where an object must be`},
		{"{\n\"x\": {\"start\": [\"a\",\n]}}", `, line 3: profile "x": invalid character ']' looking for beginning of value`},
		{"{\n\"x\": {\"start\": [\"a\"]}\n\"y\": {}}", `, line 3: profile "x": invalid character '"' after object key:value pair`},
		{"{\n\"x\": {\"start\": [\"a\"]}\n", `, line 2: profile "x": unexpected end of JSON input`},
		{"{\n\"x\": {\"start\": [\"a\"]}}\n}", `, line 3: profile "x": invalid character '}' after top-level value`},
		{"{\n\"x\": {\"start\": [\"a\n\"]}}", `, line 2: profile "x": invalid character '\n' in string literal`},
		{"{\"x\\u001b\": {}}", `, line 1: profile "x\x1b": has no "start"`},
	} {
		own, err := parseProfiles([]byte(tt.text))
		const hint = `; a profile is like {"notes": {"start": ["vim", "notes.txt"]}}`
		if want := "profiles.json" + tt.want + hint; own != nil || err == nil || err.Error() != want {
			t.Errorf("parseProfiles(%q) = %v, %v; want %s", tt.text, own, err, want)
		}
	}
}

// A server runs for months. What its user writes into profiles.json counts from
// the next request on, and a mistake in it is seen where a profile is used, and
// nowhere else.
func TestProfilesAreReadWhenTheyAreUsed(t *testing.T) {
	t.Setenv("SHELL", "/bin/sh")
	dir := t.TempDir()
	c := open(t, dir)
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "profiles.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, err := c.Profiles()
	if err != nil || len(all["shell"].Start) != 1 || len(all["claude"].Resume) == 0 {
		t.Errorf("without a file: %v, %v; want the built-in profiles", all, err)
	}
	_, err = c.Create(Spec{Profile: "own"})
	if want := `profile "own": no such profile; there are claude, codex, gemini, opencode, shell, and profiles.json in the store adds more`; err == nil || err.Error() != want {
		t.Errorf("Create = %v, want %s", err, want)
	}

	write(`{"claude":{"start":["cat"]},"own":{"start":["echo","first"],"resume":["echo","resumed {id}"],"fork":["echo","{id} of {parent} in {cwd}"]}}`)
	v, err := c.Create(Spec{Profile: "own", Cwd: dir})
	if err != nil || !v.AutoResume {
		t.Fatalf("Create = %+v, %v; want it, to be resumed with the server", v, err)
	}
	waitOver(t, c, v.ID)
	if all, err = c.Profiles(); err != nil || all["claude"].Start[0] != "cat" || all["codex"].Start == nil {
		t.Errorf("with a file: %v, %v; want its profiles over the built-in ones", all, err)
	}
	if _, err = c.Start(v.ID); err != nil {
		t.Fatal(err)
	}
	waitOver(t, c, v.ID)
	if got := output(t, c, v.ID); got != "first\r\nresumed "+v.ID+"\r\n" {
		t.Errorf("output = %q, want the resume template run", got)
	}
	fork, err := c.Fork(v.ID, ForkSpec{}, false)
	if err != nil {
		t.Fatal(err)
	}
	waitOver(t, c, fork.ID)
	if got, want := output(t, c, fork.ID), fork.ID+" of "+v.ID+" in "+v.Cwd+"\r\n"; !strings.HasSuffix(got, want) {
		t.Errorf("output of the fork = %q, want %q at its end", got, want)
	}
	testWithBrokenProfiles(t, c, v, write)

	write(`{"own":{"start":["echo","second"]}}` + strings.Repeat(" ", 1<<20))
	if _, err = c.Profiles(); err == nil || err.Error() != "profiles.json: is over 1 MiB; no more is read" {
		t.Errorf("Profiles of a file of over 1 MiB: %v", err)
	}

	write(`{"own":{"start":["echo","second"]}}`)
	if v, err = c.Create(Spec{Profile: "own"}); err != nil || v.Argv[1] != "second" {
		t.Errorf("Create after the file was mended = %q, %v; want what it says now", v.Argv, err)
	}
	waitOver(t, c, v.ID)
}

func testWithBrokenProfiles(t *testing.T, c *Controller, over View, write func(string)) {
	t.Helper()
	live := newSession(t, c, "cat")
	write("{\n")
	row := waitOver(t, c, over.ID)
	for name, request := range map[string]func() error{
		"Profiles": func() error { _, err := c.Profiles(); return err },
		"Create":   func() error { _, err := c.Create(Spec{Profile: "shell"}); return err },
		"Start":    func() error { _, err := c.Start(over.ID); return err },
		"Fork":     func() error { _, err := c.Fork(over.ID, ForkSpec{}, false); return err },
		"Switch":   func() error { _, err := c.Switch(live.ID, SwitchSpec{Profile: "own"}, false); return err },
		"Replace":  func() error { _, err := c.Replace(live.ID, SwitchSpec{Profile: "own"}); return err },
	} {
		err := request()
		if _, ok := errors.AsType[*ProfilesError](err); !ok {
			t.Errorf("%s with a broken file: %v, want a ProfilesError", name, err)
		}
	}
	if after := waitOver(t, c, over.ID); after.State != row.State || after.Runs != row.Runs {
		t.Errorf("after a start that was refused: %+v, want %+v", after, row)
	}
	checkLeases(t, c)
	if v, err := c.Get(live.ID); err != nil || v.PID != live.PID {
		t.Errorf("the live session is %+v, %v; want it as it was", v, err)
	}
	other := newSession(t, c, "true") // has no profile
	waitOver(t, c, other.ID)
	if _, err := c.Start(other.ID); err != nil {
		t.Errorf("Start of a session without a profile: %v", err)
	}
	waitOver(t, c, other.ID)
}
