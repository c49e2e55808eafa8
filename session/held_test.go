package session

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"holdfast/leasefs"
	"holdfast/store"
)

// Held elsewhere: everything that writes is refused with who holds it, and
// everything that reads goes on.
func TestHeldByAnotherProcess(t *testing.T) {
	dir := t.TempDir()
	c := open(t, dir)
	id, end := startHolder(t, dir, "")
	v, err := c.Get(id)
	if err != nil || v.Holder == nil || v.Holder.PID == 0 || v.Live || v.State != "running" {
		t.Fatalf("Get = %+v, %v; want running, held, not live here", v, err)
	}
	_, err1 := c.Resume(id)
	_, err2 := c.Start(id)
	_, err3 := c.Stop(id)
	_, err4 := c.Patch(id, Patch{Name: new("x")})
	_, err5 := c.Input(t.Context(), id, Input{Data: []byte("x")})
	err6, err7, err8 := c.Delete(id), c.Resize(id, 10, 10), c.Signal(id, "INT")
	for i, err := range []error{err1, err2, err3, err4, err5, err6, err7, err8} {
		held, ok := errors.AsType[*leasefs.HeldError](err)
		if !ok || held.Holder == nil || held.Holder.PID != v.Holder.PID || held.Holder.Front != "run" {
			t.Errorf("request %d: %v, want a *HeldError naming pid %d", i+1, err, v.Holder.PID)
		}
	}
	if _, err := c.Bound(); !errors.Is(err, ErrNothingBound) {
		t.Errorf("Bound() after refusals: %v, want ErrNothingBound", err)
	}
	checkLeases(t, c)
	fork, err := c.Fork(id, ForkSpec{}, false)
	if err != nil || fork.Parent != id || !fork.Live {
		t.Errorf("Fork of a held session = %+v, %v; want a live fork", fork, err)
	}
	end(false)
	if v, err = c.Get(id); err != nil || v.State != "interrupted" || v.Cause != "gateway_shutdown" {
		t.Errorf("after its orderly end = %+v, %v; want interrupted by gateway_shutdown", v, err)
	}
	if v, err = c.Resume(id); err != nil || v.State != "running" {
		t.Errorf("Resume after its end = %+v, %v; want running", v, err)
	}
}

// A dead holder blocks nobody, and its row is made true.
func TestHolderKilled(t *testing.T) {
	dir := t.TempDir()
	c := open(t, dir)
	id, end := startHolder(t, dir, "")
	s, err := c.Stream(StreamOptions{ID: id})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	events(t, s, KindLive)
	end(true)
	v, err := c.Get(id)
	if err != nil || v.State != "interrupted" || v.Cause != "gateway_crash" || v.Holder != nil {
		t.Errorf("after kill -9 of the holder = %+v, %v; want interrupted by gateway_crash", v, err)
	}
	events(t, s, KindEnd)
	checkLeases(t, c)
	if v, err = c.Resume(id); err != nil || v.State != "running" || v.Cause != "" {
		t.Errorf("Resume = %+v, %v; want running", v, err)
	}
}

func TestWaitSeesTheDeathOfAHolder(t *testing.T) {
	dir := t.TempDir()
	c := open(t, dir)
	id, end := startHolder(t, dir, "")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	// So young a session.json is read again and again, which would do for it.
	waitFor(t, c, id, "an age", func(v View) bool { return time.Since(*v.StartedAt) > time.Second })
	waits, began := make(chan struct{}), sync.Once{}
	c.hook = func(step string) {
		if step == "wait" {
			began.Do(func() { close(waits) })
		}
	}
	waited := make(chan WaitResult, 1)
	go func() {
		r, err := c.Wait(ctx, id, WaitSpec{Exit: true})
		if err != nil {
			t.Error(err)
		}
		waited <- r
	}()
	<-waits
	end(true)
	if r := <-waited; r.Reason != "exit" || r.State != "interrupted" {
		t.Errorf("Wait = %+v, want exit of an interrupted session", r)
	}
}

func TestDamagedSessionHarmsNoOther(t *testing.T) {
	dir := t.TempDir()
	c := open(t, dir)
	bad, good := newSession(t, c, "true"), newSession(t, c, "cat")
	waitOver(t, c, bad.ID)
	file := filepath.Join(dir, "sessions", bad.ID, "session.json")
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	views, err := c.List(Filter{})
	if err != nil || len(views) != 2 {
		t.Fatalf("List = %+v, %v; want both", views, err)
	}
	for _, v := range views {
		if v.ID == bad.ID && (v.State != Unreadable || v.Reason == "") || v.ID == good.ID && v.State != "running" {
			t.Errorf("List has %+v", v)
		}
	}
	if _, err := c.Resume(bad.ID); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("Resume of a damaged session: %v, want ErrDamaged", err)
	}
	if got, _ := os.ReadFile(file); string(got) != "{" {
		t.Errorf("damaged file is %q now, want it untouched", got)
	}
	if err := c.Delete(bad.ID); err != nil {
		t.Errorf("Delete of a damaged session: %v", err)
	}
}
