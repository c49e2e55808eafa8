package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A change is something that a crash may cut short at any of its steps.
type change struct {
	name   string
	logged string // the step after which the log has its new end; empty: commit
	commit string // the step after which the new state is there
	run    func(s *Store, id string) error
}

var crashOptions = Options{SegmentSize: 4, Boot: "b1"}

func changes() []change {
	create := func(from *Source) func(s *Store, id string) error {
		return func(s *Store, id string) error {
			row := newRow()
			row.ID = id
			w, err := s.Create(row, from)
			if err != nil {
				return err
			}
			return w.Close()
		}
	}
	return []change{
		{"create", "", "publish", create(nil)},
		{"fork", "", "publish", func(s *Store, id string) error {
			ids, err := s.IDs()
			if err != nil {
				return err
			}
			return create(&Source{ID: ids[0], At: 7})(s, id)
		}},
		{"open", "", "rename", func(s *Store, id string) error {
			w, err := s.OpenWriter(id)
			if err != nil {
				return err
			}
			return w.Close()
		}},
		{"open after a reboot", "repair", "rename", func(s *Store, id string) error {
			after, err := Open(s.Dir(), Options{SegmentSize: 4, Boot: "b2"})
			if err != nil {
				return err
			}
			after.hook = s.hook
			w, err := after.OpenWriter(id)
			if err != nil {
				return err
			}
			return w.Close()
		}},
		{"update", "", "rename", func(s *Store, id string) (err error) {
			h := s.hook
			s.hook = nil
			w, err := s.OpenWriter(id)
			if err != nil {
				return err
			}
			s.hook = h
			_, err = w.Update(true, func(r *Row) error { r.Name = "renamed"; return nil })
			return errors.Join(err, w.Close())
		}},
		{"remove", "", "discard", (*Store).Remove},
	}
}

// crashRole makes a change and dies by SIGKILL at one of its steps.
func crashRole(args []string) error {
	dir, id, name, at := args[0], args[1], args[2], args[3]
	s, err := Open(dir, crashOptions)
	if err != nil {
		return err
	}
	s.hook = func(step string) error {
		if step == at {
			die()
		}
		return nil
	}
	for _, c := range changes() {
		if c.name == name {
			if err := c.run(s, id); err != nil {
				return err
			}
		}
	}
	return fmt.Errorf("%s has no step %q", name, at)
}

// die kills this process as kill -9 does.
func die() {
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		self.Kill()
	}
	select {}
}

// outcome is all that one can know of a session afterwards.
type outcome struct {
	There bool
	Name  string
	Epoch int64
	Log   span
}

func outcomeOf(t *testing.T, s *Store, id string) outcome {
	t.Helper()
	row, err := s.Row(id)
	if errors.Is(err, ErrNotFound) {
		return outcome{}
	}
	if err != nil {
		t.Fatal(err)
	}
	oldest, end, err := folderBounds(filepath.Join(s.folder(id), outputDir))
	if err != nil {
		t.Fatal(err)
	}
	return outcome{true, row.Name, row.Epoch, span{oldest, end}}
}

// prepare makes a store with a session of 10 bytes, and returns the id that c
// is to change: that session's, or a new one's.
func prepare(t *testing.T, c change) (s *Store, id string) {
	t.Helper()
	s = openTestStore(t, "", crashOptions)
	w := mustCreate(t, s, newRow())
	if err := w.Append(outputFrom(0, 10)); err != nil {
		t.Fatal(err)
	}
	mustClose(t, w)
	if c.name == "create" || c.name == "fork" {
		return s, NewID()
	}
	return s, w.id
}

func TestCrashAtAnyStepLeavesTheOldOrTheNewState(t *testing.T) {
	for _, c := range changes() {
		s, id := prepare(t, c)
		old := outcomeOf(t, s, id)
		steps := stepsOf(func(h hook) {
			s.hook = h
			if err := c.run(s, id); err != nil {
				t.Fatal(err)
			}
			s.hook = nil
		})
		changed := outcomeOf(t, s, id)
		commit := slices.Index(steps, c.commit)
		if old == changed || commit < 0 {
			t.Fatalf("%s: steps %q, from %+v to %+v", c.name, steps, old, changed)
		}
		for i, step := range steps {
			want := old
			switch {
			case i > commit:
				want = changed
			case c.logged != "" && i > slices.Index(steps, c.logged):
				want.Log = changed.Log
			}
			t.Run(c.name+"/"+step, func(t *testing.T) {
				t.Parallel()
				crashAt(t, c, step, want)
			})
		}
	}
}

// crashAt lets another process die in c at step. What it leaves must be want,
// and from there everything must work.
func crashAt(t *testing.T, c change, step string, want outcome) {
	s, id := prepare(t, c)
	err := startRole(t, "crash", s.Dir(), id, c.name, step).Run()
	if err == nil || err.Error() != "signal: killed" {
		t.Fatalf("the other process ended with %v, want it killed", err)
	}
	s = openTestStore(t, s.Dir(), crashOptions)
	got := outcomeOf(t, s, id)
	if c.name == "update" && want.There {
		want.Epoch = got.Epoch // raised by its OpenWriter, before the step
	}
	if got != want {
		t.Errorf("after the crash: %+v, want %+v", got, want)
	}
	left, err := s.Leftovers()
	if err != nil {
		t.Fatal(err)
	}
	if slices.Contains(left, id) && got.There {
		t.Errorf("the session is there and is left over too: %v", left)
	}
	for _, id := range left {
		if err := s.Remove(id); err != nil {
			t.Errorf("clear away: %v", err)
		}
	}
	if got.There {
		w, err := s.OpenWriter(id)
		if err != nil {
			t.Fatal(err)
		}
		mustClose(t, w)
		return
	}
	row := newRow()
	row.ID = id
	mustCreate(t, s, row)
}
