package session

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"holdfast/state"
)

func TestAutoResume(t *testing.T) {
	dir := t.TempDir()
	gone := filepath.Join(t.TempDir(), "gone")
	if err := os.Mkdir(gone, 0o755); err != nil {
		t.Fatal(err)
	}
	on := true
	first := open(t, dir)
	make := func(s Spec) string {
		v, err := first.Create(s)
		if err != nil {
			t.Fatal(err)
		}
		return v.ID
	}
	shell := make(Spec{Argv: []string{"bash", "--norc"}})
	job := make(Spec{Argv: []string{"sh", "-c", "cat"}})
	homeless := make(Spec{Argv: []string{"bash"}, Cwd: gone})
	brief := make(Spec{Argv: []string{"sh", "-c", "[ -e flag ] && { echo no such conversation; exit 1; }; touch flag; cat"}, Cwd: t.TempDir(), AutoResume: &on})
	stopped := make(Spec{Argv: []string{"bash"}})
	if _, err := first.Stop(stopped); err != nil {
		t.Fatal(err)
	}
	waitFor(t, first, brief, "its flag", func(v View) bool {
		_, err := os.Stat(filepath.Join(v.Cwd, "flag"))
		return err == nil
	})
	first.Close()
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}

	c := open(t, dir)
	<-c.AutoResume(t.Context(), 100)
	if v, err := c.Get(shell); err != nil || v.State != "running" || v.Runs != 2 || v.Cause != "" {
		t.Errorf("a shell = %+v, %v; want its second run", v, err)
	}
	for _, id := range []string{job, stopped} {
		if v, err := c.Get(id); err != nil || v.Live || v.Runs != 1 {
			t.Errorf("a session that is not to be resumed = %+v, %v", v, err)
		}
	}
	v, err := c.Get(homeless)
	if err != nil || v.State != "interrupted" || v.Cause != "gateway_shutdown" || !strings.Contains(v.Problem, "no such folder") {
		t.Errorf("a shell without its folder = %+v, %v; want interrupted as before, with the reason", v, err)
	}
	v = waitOver(t, c, brief)
	if v.State != "ended" || *v.ExitCode != 1 || v.Runs != 2 || !strings.Contains(output(t, c, brief), "no such conversation") {
		t.Errorf("a program that ends at once = %+v, want ended with 1 after one more run", v)
	}
	// A resume that works takes the problem back.
	if err := os.Mkdir(gone, 0o755); err != nil {
		t.Fatal(err)
	}
	if v, err := c.Resume(homeless); err != nil || v.Problem != "" {
		t.Errorf("Resume = %+v, %v; want no problem", v, err)
	}
}

func TestAutoResumeTakesTheNewestUpToItsLimit(t *testing.T) {
	dir := t.TempDir()
	first := open(t, dir)
	var ids []string
	for range 5 {
		v, err := first.Create(Spec{Argv: []string{"bash", "--norc"}})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, v.ID)
	}
	first.Close()
	c := open(t, dir)
	views, err := c.List(Filter{})
	if err != nil {
		t.Fatal(err)
	}
	<-c.AutoResume(t.Context(), 2)
	for i, v := range views {
		got, err := c.Get(v.ID)
		if err != nil || got.Live != (i < 2) {
			t.Errorf("session %d by activity: live = %v, %v; want the newest 2 of %d", i, got.Live, err, len(ids))
		}
	}
}

// A reader that comes back before its session is resumed waits for the run.
func TestReadersWaitForAutoResume(t *testing.T) {
	dir := t.TempDir()
	first := open(t, dir)
	v, err := first.Create(Spec{Argv: []string{"bash", "--norc"}})
	if err != nil {
		t.Fatal(err)
	}
	first.Close()
	c := open(t, dir)
	spawn := make(chan struct{})
	c.hook = func(step string) {
		if step == "spawn" {
			<-spawn
		}
	}
	done := c.AutoResume(t.Context(), 100)
	s := openStream(t, c, StreamOptions{ID: v.ID})
	all, _ := events(t, s, KindLive)
	close(spawn)
	<-done
	if all[0].View.State != "interrupted" {
		t.Errorf("before the resume: %s, want interrupted", all[0].View.State)
	}
	for state := ""; state != "running"; {
		more, _ := events(t, s, KindSession)
		if strings.Contains(kinds(more), "end") {
			t.Fatalf("events = %s, want no end", kinds(more))
		}
		state = more[len(more)-1].View.State
	}
}

func TestAutoResumeEndsWithItsContext(t *testing.T) {
	dir := t.TempDir()
	first := open(t, dir)
	v, err := first.Create(Spec{Argv: []string{"bash"}})
	if err != nil {
		t.Fatal(err)
	}
	first.Close()
	c := open(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	<-c.AutoResume(ctx, 100)
	row, err := c.Row(v.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.Get(v.ID); err != nil || got.State != "interrupted" || got.Problem != "" || !c.Final(row) {
		t.Errorf("after the end of ctx = %+v, %v; want interrupted as before", got, err)
	}
}

// The record of a holder that died may be lost, to a power cut.
func TestAutoResumeFindsADeathWithoutARecord(t *testing.T) {
	dir := t.TempDir()
	id, end := startHolder(t, dir, "")
	end(true)
	c := open(t, dir)
	if err := os.Truncate(c.store.LockPath(id), 0); err != nil {
		t.Fatal(err)
	}
	if err := c.CheckAll(); err != nil {
		t.Fatal(err)
	}
	<-c.AutoResume(t.Context(), 0)
	if row, err := c.store.Row(id); err != nil || row.State != state.Interrupted || row.Cause != state.CauseGatewayCrash {
		t.Errorf("the row says %+v, %v; want interrupted by a crash", row, err)
	}
}

// What a crash left of a change to a session without a program goes too.
func TestTheStartRemovesWhatWasHalfWritten(t *testing.T) {
	dir := t.TempDir()
	first := open(t, dir)
	v := newSession(t, first, "true")
	waitOver(t, first, v.ID)
	c := open(t, dir)
	temp := filepath.Join(dir, "sessions", v.ID, ".session.json.tmp-1")
	for path, text := range map[string]string{temp: "{", c.store.LockPath(v.ID): "a record"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.CheckAll(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(temp); err == nil {
		t.Error("the half written file is still there")
	}
}
