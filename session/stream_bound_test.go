package session

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// wantBind reads a stream that follows the binding until that has moved, and
// wants no end before.
func wantBind(t *testing.T, s *Stream, id string) {
	t.Helper()
	all, _ := events(t, s, KindBind)
	for _, e := range all {
		if e.Kind == KindEnd {
			t.Errorf("an end came before the bind: %s", kinds(all))
		}
	}
	if got := all[len(all)-1].ID; got != id {
		t.Errorf("bind to %q, want %q", got, id)
	}
}

// A switch of the bound session ends its program. Who follows the
// binding is told where it goes, also if nothing else is watched.
func TestStreamOfTheBindingOutlivesASwitch(t *testing.T) {
	dir := t.TempDir()
	c := open(t, dir)
	old, err := c.New(Spec{Argv: []string{"cat"}})
	if err != nil {
		t.Fatal(err)
	}
	s := openStream(t, c, StreamOptions{})
	events(t, s, KindLive)
	c.hook = func(step string) {
		if step != "spawn" { // of the new program: the old one has ended
			return
		}
		for seen := ""; seen != "stopped"; {
			all, _ := events(t, s, KindSession)
			seen = all[len(all)-1].View.State
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if e, err := s.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("during the switch: %+v, %v; want to wait", e, err)
		}
		late := openStream(t, c, StreamOptions{From: FromLast(0)})
		if late.AtEnd() {
			t.Error("who comes back during the switch is told that there is no more")
		}
	}
	next, err := c.Switch(old.ID, SwitchSpec{Argv: []string{"cat"}}, true)
	if err != nil {
		t.Fatal(err)
	}
	c.hook = nil
	wantBind(t, s, next.ID)
	events(t, s, KindLive)

	bad := filepath.Join(dir, "bad")
	writeScript(t, bad, "#!/no/such/interpreter\n")
	if _, err := c.Switch(next.ID, SwitchSpec{Argv: []string{bad}}, true); err == nil {
		t.Fatal("the switch to a program that does not start worked")
	}
	all, _ := events(t, s, KindEnd)
	if got := all[len(all)-1].View.State; got != "stopped" {
		t.Errorf("the end says %q, want stopped", got)
	}
	if e, err := s.Next(t.Context()); err != io.EOF {
		t.Errorf("after the end: %+v, %v; want io.EOF", e, err)
	}
}

func TestStreamOfTheBindingOutlivesADeletion(t *testing.T) {
	c := open(t, t.TempDir())
	v, err := c.New(Spec{Argv: []string{"cat"}})
	if err != nil {
		t.Fatal(err)
	}
	s := openStream(t, c, StreamOptions{})
	events(t, s, KindLive)
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := c.Delete(v.ID); err != nil {
			t.Error(err)
		}
	})
	wantBind(t, s, "")
	wg.Wait()
}
