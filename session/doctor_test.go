package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"holdfast/session/process"
	"holdfast/store"
)

// The store has one of everything that can be wrong.
func TestDoctorFindsAllDamageAndRepairsWhatIsSafe(t *testing.T) {
	dir := t.TempDir()
	st, err := store.Open(dir, store.Options{Boot: process.BootID(), SegmentSize: 1000})
	if err != nil {
		t.Fatal(err)
	}
	first := open(t, dir, func(cfg *Config) { cfg.Store = st })
	over := func(argv ...string) string {
		id := newSession(t, first, argv...).ID
		waitOver(t, first, id)
		return id
	}
	in := func(id string, names ...string) string {
		return filepath.Join(append([]string{dir, "sessions", id}, names...)...)
	}
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	change := func(path, old, new string) {
		t.Helper()
		b, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(b), old) {
			t.Fatalf("%s has no %q: %v", path, old, err)
		}
		write(path, strings.Replace(string(b), old, new, 1))
	}
	good := over("true")
	empty, newer, holed, torn, crashed := over("true"), over("true"), over("sh", "-c", "stty raw; head -c 5000 /dev/zero"), over("true"), over("true")
	write(in(empty, "session.json"), "")
	change(in(newer, "session.json"), `"version":1`, `"version":2`)
	if err := os.Remove(in(holed, "output", "00000000000000001000")); err != nil {
		t.Fatal(err)
	}
	change(in(torn, "journal.jsonl"), `{"kind":"exit"`, "damaged\n"+`{"kind":"exit"`)
	journal, _ := os.ReadFile(in(torn, "journal.jsonl"))
	write(in(torn, "journal.jsonl"), string(journal)+`{"kind":"tu`)
	change(in(crashed, "session.json"), `"state":"ended"`, `"state":"running"`)
	cut := over("true")
	write(in(cut, ".session.json.tmp-123"), "{")
	half, lockless := store.NewID(), store.NewID()
	if err := os.Mkdir(filepath.Join(dir, "sessions", ".new-"+half), 0o700); err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(dir, "locks", lockless+".lock"), "")
	probe := filepath.Join(dir, "locks", "probe-123.lock")
	write(probe, "")
	write(filepath.Join(dir, "sessions", "notes.txt"), "mine")
	write(filepath.Join(dir, "README"), "mine")
	held, end := startHolder(t, dir, "")

	st2, err := store.Open(dir, store.Options{Boot: process.BootID()})
	if err != nil {
		t.Fatal(err)
	}
	c := open(t, dir, func(cfg *Config) { cfg.Store = st2 })
	found, err := c.Doctor()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []Finding{
		{empty, "unreadable", false},
		{newer, "written by a newer", false},
		{holed, "output from 1000 to 2000 is missing", false},
		{torn, "1 damaged lines", false},
		{torn, "unfinished line", true},
		{crashed, "claimed to be running", true},
		{cut, "half written", true},
		{half, "half made", true},
		{lockless, "lock file without a session", true},
		{"", `"sessions/notes.txt"`, false},
		{"", `"README"`, false},
	} {
		n := 0
		for _, f := range found {
			if f.Session == want.Session && strings.Contains(f.Problem, want.Problem) && f.Repaired == want.Repaired {
				n++
			}
		}
		if n != 1 {
			t.Errorf("found %d times %+v, want once", n, want)
		}
	}
	if len(found) != 11 {
		t.Errorf("found %d problems, want 11:\n%+v", len(found), found)
	}
	for _, f := range found {
		if f.Session == good || f.Session == held {
			t.Errorf("a sound session has a problem: %+v", f)
		}
	}
	for _, path := range []string{in(empty, "session.json"), filepath.Join(dir, "README"), in(holed, "output", "00000000000000002000")} {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("after the doctor: %v", err)
		}
	}
	for _, path := range []string{in(cut, ".session.json.tmp-123"), probe} {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("after the doctor %s is left", path)
		}
	}
	again, err := c.Doctor()
	if err != nil || len(again) != 6 {
		t.Errorf("the second time = %+v, %v; want only the 6 that are not repaired", again, err)
	}
	end(false)
	checkLeases(t, c)
}
