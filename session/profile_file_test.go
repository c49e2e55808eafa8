package session

import (
	"encoding/json"
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
		{"{\n\"x\": {\"start\": [\"a\", \"--id={idd}\"]}}", `, line 2: profile "x": has {idd}, which is none of {id}, {parent} and {cwd}; { idd } is no placeholder`},
		{"{\"x\": {\"start\": [\"a\"],\n\"resume\": [\"a\", \"{id}{dir}\"]}}", `, line 1: profile "x": has {dir}, which is none of {id}, {parent} and {cwd}; { dir } is no placeholder`},
		{"{\"x\": {\"start\": [\"a\"], \"fork\": [\"a\", \"to {id}\\n{to}\"]}}", `, line 1: profile "x": has {to}, which is none of {id}, {parent} and {cwd}; { to } is no placeholder`},
		{"{\"x\\u001b\": {}}", `, line 1: profile "x\x1b": has no "start"`},
	} {
		own, err := parseProfiles([]byte(tt.text))
		const hint = `; a profile is like {"notes": {"start": ["vim", "notes.txt"]}}`
		if want := "profiles.json" + tt.want + hint; own != nil || err == nil || err.Error() != want {
			t.Errorf("parseProfiles(%q) = %v, %v; want %s", tt.text, own, err, want)
		}
	}
}

// Braces mean something to many programs. Only what can be taken for a
// placeholder is refused.
func TestProfilesMayHaveBraces(t *testing.T) {
	for _, arg := range []string{
		"{}", `{"a":1}`, "{ print }", "{print $1}", "${HOME}", "${home}", "@{u}", "#{host}", "%{url}", "{{json}}", `\{x\}`, "{ID}", "{a,b}", "{a_b}", "{1}", "{id", "id}",
		"{id}", "{parent}{cwd}", "--id={id}", "${id}",
	} {
		text, err := json.Marshal(map[string]any{"x": Profile{Start: []string{"a", arg}}})
		if err != nil {
			t.Fatal(err)
		}
		if own, err := parseProfiles(text); err != nil || own["x"].Start[1] != arg {
			t.Errorf("parseProfiles(%s) = %v, %v", text, own, err)
		}
	}
}

// What started a session may do harm a second time. Without the profile that
// says how to go on, nothing is run and nothing is lost.
func TestASessionWhoseProfileIsGone(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "profiles.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const own = `{"own":{"start":["sh","-c","echo first; exec cat"],"resume":["sh","-c","echo again; exec cat"]}}`
	write(own)
	first := open(t, dir)
	v, err := first.Create(Spec{Profile: "own", Cwd: dir})
	if err != nil {
		t.Fatal(err)
	}
	waitOutput(t, first, v.ID, "first")
	first.Close()
	write(`{}`)
	c := open(t, dir)
	const want = `profile "own": not in profiles.json any more, and it says how to go on; put it back, or go on in a fork with another program or profile`
	<-c.AutoResume(t.Context(), 100)
	for name, err := range map[string]error{
		"Start":  func() error { _, err := c.Start(v.ID); return err }(),
		"Resume": func() error { _, err := c.Resume(v.ID); return err }(),
	} {
		if _, ok := errors.AsType[*SpecError](err); !ok || err.Error() != want {
			t.Errorf("%s = %v, want %s", name, err, want)
		}
	}
	got, err := c.Get(v.ID)
	if err != nil || got.State != "interrupted" || got.Cause != "gateway_shutdown" || got.Runs != 1 || !got.AutoResume || got.Problem != "not resumed: "+want {
		t.Errorf("afterwards = %+v, %v; want it as it was, with the problem", got, err)
	}
	checkLeases(t, c)
	fork, err := c.Fork(v.ID, ForkSpec{Argv: []string{"cat"}}, false)
	if err != nil || fork.Profile != "" {
		t.Errorf("Fork with a program = %+v, %v", fork, err)
	}
	write(own)
	if got, err = c.Start(v.ID); err != nil || got.Problem != "" {
		t.Errorf("Start with the profile = %+v, %v", got, err)
	}
	waitOutput(t, c, v.ID, "again")
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
