package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"holdfast/session"
	"holdfast/session/process"
	"holdfast/state"
	"holdfast/store"
)

func TestDoctorCommand(t *testing.T) {
	dir := t.TempDir()
	call := func(args ...string) (out string, err error) {
		var b bytes.Buffer
		err = run(t.Context(), append([]string{"doctor", "--store", dir}, args...), &b, &b)
		return b.String(), err
	}
	if out, err := call(); err != nil || out != "no problems\n" {
		t.Errorf("doctor of a sound store = %q, %v", out, err)
	}
	id := store.NewID()
	if err := os.MkdirAll(filepath.Join(dir, "sessions", id), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "sessions", id, "session.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := call()
	if err == nil || !strings.Contains(err.Error(), "1 of 1 problems are left") || !strings.HasPrefix(out, "session "+id+": unreadable: ") {
		t.Errorf("doctor of a damaged session = %q, %v", out, err)
	}
	out, _ = call("--json")
	var found struct{ Problems []session.Finding }
	if err := json.Unmarshal([]byte(out), &found); err != nil || len(found.Problems) != 1 || found.Problems[0].Session != id {
		t.Errorf("doctor --json = %q, %v", out, err)
	}
	dir = storeWithAGap(t)
	out, err = call()
	if err != nil || !strings.Contains(out, ": output from 7 to 1073741831 is missing: the log goes on there since the machine restarted, or another one took over (a note)\nno problems\n") {
		t.Errorf("doctor of a log with the gap of a restart = %q, %v; want a note, and no failure", out, err)
	}
	if out, err := call("--json"); err != nil || !strings.HasPrefix(out, `{"problems":[],"notes":[{"session":"`) {
		t.Errorf("doctor --json of it = %q, %v", out, err)
	}
	dir = filepath.Join(dir, "none")
	if _, err := call(); err == nil || !strings.Contains(err.Error(), "there is no store in "+strconv.Quote(dir)) {
		t.Errorf("doctor without a store: %v", err)
	}
	if _, err := call("now"); err == nil || !strings.Contains(err.Error(), `no argument "now"`) {
		t.Errorf("doctor now: %v", err)
	}
}

// storeWithAGap has a session that went on after a restart of the machine.
func storeWithAGap(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	var id string
	for _, boot := range []string{"before", process.BootID()} {
		st, err := store.Open(dir, store.Options{Boot: boot})
		if err != nil {
			t.Fatal(err)
		}
		var w *store.Writer
		if id == "" {
			id = store.NewID()
			w, err = st.Create(&store.Row{ID: id, State: state.Running}, nil)
		} else {
			w, err = st.OpenWriter(id)
		}
		if err != nil {
			t.Fatal(err)
		}
		err = w.Append([]byte("hello\r\n"))
		if boot == process.BootID() && err == nil {
			_, err = w.Update(true, func(r *store.Row) error { r.State = state.Ended; return nil })
		}
		if err := cmp.Or(err, w.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
