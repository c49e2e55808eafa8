package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"holdfast/store"
)

func TestForkCopiesTheLogUpToItsPoint(t *testing.T) {
	c := open(t, t.TempDir())
	v := newSession(t, c, "sh", "-c", "printf 0123456789")
	waitOver(t, c, v.ID)
	for _, tt := range []struct {
		f    ForkSpec
		want string
	}{
		{ForkSpec{Argv: []string{"true"}}, "0123456789"},
		{ForkSpec{Argv: []string{"true"}, At: new(int64(4))}, "0123"},
		{ForkSpec{Argv: []string{"true"}, At: new(int64(0))}, ""},
		{ForkSpec{}, "01234567890123456789"},
	} {
		f, err := c.Fork(v.ID, tt.f, false)
		if err != nil || f.Parent != v.ID || f.ForkedAt == nil {
			t.Errorf("Fork(%+v) = %+v, %v", tt.f, f, err)
			continue
		}
		waitOver(t, c, f.ID)
		if got := output(t, c, f.ID); got != tt.want {
			t.Errorf("Fork(%+v): output %q, want %q", tt.f, got, tt.want)
		}
	}
	if got := output(t, c, v.ID); got != "0123456789" {
		t.Errorf("the parent's output is %q now", got)
	}
	for _, f := range []ForkSpec{{At: new(int64(11))}, {At: new(int64(-1))}, {Turn: new(1)}, {At: new(int64(1)), Turn: new(1)}} {
		_, err := c.Fork(v.ID, f, true)
		if _, ok := errors.AsType[*SpecError](err); !ok {
			t.Errorf("Fork(%+v): %v, want a *SpecError", f, err)
		}
	}
	if _, err := c.Fork(store.NewID(), ForkSpec{}, true); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Fork of an unknown session: %v, want ErrNotFound", err)
	}
}

// A fork of a live session costs nothing that depends on the length of its log.
func TestForkOfALiveSessionCopiesNoOutput(t *testing.T) {
	c := open(t, t.TempDir())
	v := newSession(t, c, "sh", "-c", "stty -echo; printf before; read x; printf after; read x")
	waitOutput(t, c, v.ID, "before")
	f, err := c.Fork(v.ID, ForkSpec{Argv: []string{"printf", " and fork"}}, false)
	if err != nil {
		t.Fatal(err)
	}
	first := func(id string) os.FileInfo {
		info, err := os.Stat(filepath.Join(c.store.Dir(), "sessions", id, "output", fmt.Sprintf("%020d", 0)))
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	if !os.SameFile(first(v.ID), first(f.ID)) {
		t.Error("the fork has a copy of the parent's output")
	}
	typeIn(t, c, v.ID, "x\r")
	waitOutput(t, c, v.ID, "after")
	waitOver(t, c, f.ID)
	if got, want := output(t, c, f.ID), "before and fork"; got != want {
		t.Errorf("output of the fork = %q, want %q", got, want)
	}
	if got, want := output(t, c, v.ID), "beforeafter"; got != want {
		t.Errorf("output of the parent = %q, want %q", got, want)
	}
}

// A fork's run is told where it begins: what the parent's program set in the
// terminal is not its own.
func TestTheRunOfAForkIsTold(t *testing.T) {
	c := open(t, t.TempDir())
	v := newSession(t, c, "sh", "-c", "stty raw; printf abc")
	waitOver(t, c, v.ID)
	f, err := c.Fork(v.ID, ForkSpec{}, false)
	if err != nil {
		t.Fatal(err)
	}
	waitOver(t, c, f.ID)
	all, _ := events(t, openStream(t, c, StreamOptions{ID: f.ID, From: FromOffset(0)}), KindLive)
	if got, want := kinds(all), "session resize output run output live"; got != want {
		t.Errorf("events of a fork = %q, want %q", got, want)
	}
}

func TestForkAtATurn(t *testing.T) {
	c := open(t, t.TempDir())
	v := newSession(t, c, "cat")
	typeIn(t, c, v.ID, "one\r")
	waitOutput(t, c, v.ID, "one\r\none\r\n")
	typeIn(t, c, v.ID, "two\r")
	waitOutput(t, c, v.ID, "two\r\ntwo\r\n")
	f, err := c.Fork(v.ID, ForkSpec{Turn: new(2)}, false)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := output(t, c, f.ID), "one\r\none\r\n"; got != want {
		t.Errorf("fork at turn 2 has %q, want %q", got, want)
	}
	if got, err := c.Get(v.ID); err != nil || got.Turns != 2 {
		t.Errorf("turns = %d, %v; want 2", got.Turns, err)
	}
}
