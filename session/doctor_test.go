package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"holdfast/session/process"
	"holdfast/store"
)

// A ward is a store with all damage that a doctor knows, and sessions without
// any.
type ward struct {
	t   *testing.T
	dir string

	good, held, empty, newer, holed, torn, crashed, cut, half, lockless, restarted string // ids
}

// in is the path of a file of a session.
func (w *ward) in(id string, names ...string) string {
	return filepath.Join(append([]string{w.dir, "sessions", id}, names...)...)
}

func (w *ward) write(path, text string) {
	w.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *ward) change(path, old, new string) {
	w.t.Helper()
	b, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(b), old) {
		w.t.Fatalf("%s has no %q: %v", path, old, err)
	}
	w.write(path, strings.Replace(string(b), old, new, 1))
}

func newWard(t *testing.T) *ward {
	w := &ward{t: t, dir: t.TempDir(), half: store.NewID(), lockless: store.NewID()}
	st, err := store.Open(w.dir, store.Options{Boot: process.BootID(), SegmentSize: 1000})
	if err != nil {
		t.Fatal(err)
	}
	first := open(t, w.dir, func(cfg *Config) { cfg.Store = st })
	over := func(argv ...string) string {
		id := newSession(t, first, argv...).ID
		waitOver(t, first, id)
		return id
	}
	for _, id := range []*string{&w.good, &w.empty, &w.newer, &w.torn, &w.crashed, &w.cut} {
		*id = over("true")
	}
	w.holed = over("sh", "-c", "stty raw; head -c 5000 /dev/zero")
	w.write(w.in(w.empty, "session.json"), "")
	w.change(w.in(w.newer, "session.json"), `"version":1`, `"version":2`)
	if err := os.Remove(w.in(w.holed, "output", "00000000000000001000")); err != nil {
		t.Fatal(err)
	}
	w.change(w.in(w.torn, "journal.jsonl"), `{"kind":"exit"`, "damaged\n"+`{"kind":"exit"`)
	journal, _ := os.ReadFile(w.in(w.torn, "journal.jsonl"))
	w.write(w.in(w.torn, "journal.jsonl"), string(journal)+`{"kind":"tu`)
	w.change(w.in(w.crashed, "session.json"), `"state":"ended"`, `"state":"running"`)
	w.write(w.in(w.cut, ".session.json.tmp-123"), "{")
	if err := os.Mkdir(w.in(".new-"+w.half), 0o700); err != nil {
		t.Fatal(err)
	}
	w.write(filepath.Join(w.dir, "locks", w.lockless+".lock"), "")
	w.write(filepath.Join(w.dir, "locks", "probe-123.lock"), "")
	w.restarted = over("echo", "hello")
	w.change(w.in(w.restarted, "session.json"), `"state":"ended"`, `"state":"running"`)
	w.change(w.in(w.restarted, "session.json"), process.BootID(), "another boot")
	if _, err := first.Resume(w.restarted); err != nil {
		t.Fatal(err)
	}
	waitOver(t, first, w.restarted)
	w.write(w.in("notes.txt"), "mine")
	w.write(filepath.Join(w.dir, "README"), "mine")
	w.write(filepath.Join(w.dir, "profiles.json"), `{"x":{}}`)
	return w
}

func TestDoctorFindsAllDamageAndRepairsWhatIsSafe(t *testing.T) {
	w := newWard(t)
	var end func(bool)
	w.held, end = startHolder(t, w.dir, "")
	c := open(t, w.dir)
	found, err := c.Doctor()
	if err != nil {
		t.Fatal(err)
	}
	want := []Finding{
		{w.empty, "unreadable", false, false},
		{w.newer, "written by a newer", false, false},
		{w.holed, "output from 1000 to 2000 is missing", false, false},
		{w.torn, "1 damaged lines", false, false},
		{w.torn, "unfinished line", true, false},
		{w.crashed, "claimed to be running", true, false},
		{w.cut, "half written", true, false},
		{w.half, "half made", true, false},
		{w.lockless, "lock file without a session", true, false},
		{"", `"sessions/notes.txt"`, false, false},
		{"", `"README"`, false, false},
		{"", `profiles.json, line 1: profile "x": has no "start"`, false, false},
		{w.restarted, "the log goes on there since the machine restarted", false, true},
	}
	for _, want := range want {
		n := 0
		for _, f := range found {
			if f.Session == want.Session && strings.Contains(f.Problem, want.Problem) && f.Repaired == want.Repaired && f.Known == want.Known {
				n++
			}
		}
		if n != 1 {
			t.Errorf("found %d times %+v, want once", n, want)
		}
	}
	if len(found) != len(want) { // the sound sessions have no problem
		t.Errorf("found %d problems, want %d:\n%+v", len(found), len(want), found)
	}
	for path, stays := range map[string]bool{
		w.in(w.empty, "session.json"): true, filepath.Join(w.dir, "README"): true, w.in(w.holed, "output", "00000000000000002000"): true,
		w.in(w.cut, ".session.json.tmp-123"): false, filepath.Join(w.dir, "locks", "probe-123.lock"): false,
	} {
		if _, err := os.Stat(path); (err == nil) != stays {
			t.Errorf("after the doctor %s is there: %v, want %v", path, err == nil, stays)
		}
	}
	again, err := c.Doctor()
	if err != nil || len(again) != 8 {
		t.Errorf("the second time = %+v, %v; want only the 8 that are not repaired", again, err)
	}
	end(false)
	checkLeases(t, c)
}
