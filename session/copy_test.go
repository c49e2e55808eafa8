package session

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"holdfast/store"
)

// A copy has no run until somebody starts it, and runs then what a fork would
// have run; after that it is a session like any other.
func TestACopyBeginsWithItsFirstStart(t *testing.T) {
	dir := t.TempDir()
	const own = `{"it":{"start":["sh","-c","echo start {id}"],"resume":["sh","-c","echo resume {id}"],"fork":["sh","-c","echo fork {parent} {id}"]}}`
	if err := os.WriteFile(filepath.Join(dir, "profiles.json"), []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	c := open(t, dir)
	v, err := c.Create(Spec{Profile: "it"})
	if err != nil {
		t.Fatal(err)
	}
	waitOver(t, c, v.ID)
	cp, err := c.Copy(v.ID, ForkSpec{Name: "copy"})
	if err != nil {
		t.Fatal(err)
	}
	checkLeases(t, c)
	if cp.State != "stopped" || cp.Runs != 0 || cp.Name != "copy" || cp.Parent != v.ID || cp.Live || cp.Bound {
		t.Errorf("the copy is %+v", cp)
	}
	text := "start " + v.ID + "\r\n"
	if got := output(t, c, cp.ID); got != text {
		t.Errorf("the copy has %q, want %q", got, text)
	}
	s, err := c.Stream(StreamOptions{ID: cp.ID, From: FromOffset(0)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	events(t, s, KindEnd)
	if _, err := s.Next(t.Context()); err != io.EOF {
		t.Errorf("behind the end of a copy: %v, want io.EOF", err)
	}

	for _, line := range []string{"fork " + v.ID + " " + cp.ID, "resume " + cp.ID} {
		if _, err := c.Start(cp.ID); err != nil {
			t.Fatal(err)
		}
		waitOver(t, c, cp.ID)
		text += line + "\r\n"
		if got := output(t, c, cp.ID); got != text {
			t.Errorf("after a start the copy has %q, want %q", got, text)
		}
	}
	if _, err := c.Copy(store.NewID(), ForkSpec{}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Copy of no session: %v, want ErrNotFound", err)
	}
}
