package session

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"holdfast/leasefs"
	"holdfast/store"
)

func TestASessionFromStartToEnd(t *testing.T) {
	c := open(t, t.TempDir())
	v, err := c.New(Spec{Argv: []string{"sh", "-c", "stty -echo; read x; echo hello; exit 3"}, Name: "greeting"})
	if err != nil {
		t.Fatal(err)
	}
	if v.State != "running" || !v.Live || !v.Bound || v.PID == 0 || v.Runs != 1 || v.Cols != 80 || v.Rows != 24 {
		t.Errorf("New = %+v; want a running, live, bound session of 80 x 24 with a pid", v)
	}
	typeIn(t, c, v.ID, "go\r")
	v = waitOver(t, c, v.ID)
	if v.State != "ended" || v.ExitCode == nil || *v.ExitCode != 3 || v.Signal != "" || v.PID != 0 || v.EndedAt == nil {
		t.Errorf("at the end = %+v; want ended with exit code 3", v)
	}
	got := output(t, c, v.ID)
	if !strings.HasSuffix(got, "hello\r\n") || v.Cursor != int64(len(got)) {
		t.Errorf("output = %q with cursor %d, want it to end in hello", got, v.Cursor)
	}
	checkLeases(t, c)
}

func TestSignalOfTheEndIsKept(t *testing.T) {
	c := open(t, t.TempDir())
	v := waitOver(t, c, newSession(t, c, "sh", "-c", "kill -SEGV $$").ID)
	if v.State != "ended" || v.Signal != "SEGV" || v.ExitCode != nil {
		t.Errorf("after SIGSEGV = %+v; want ended with signal SEGV and no exit code", v)
	}
}

// A start that cannot be made leaves no session, no lease and no binding.
func TestFailedNewLeavesNothing(t *testing.T) {
	c := open(t, t.TempDir())
	bound, err := c.New(Spec{Argv: []string{"cat"}})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	script := filepath.Join(dir, "bad")
	if err := os.WriteFile(script, []byte("#!/no/such/interpreter\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	zero, big := 0, 70000
	for _, s := range []Spec{
		{Argv: []string{"no-such-program-at-all"}},
		{Argv: []string{"/etc/passwd"}},
		{Argv: []string{script}}, // fails in the spawn itself
		{Argv: []string{"cat"}, Cwd: filepath.Join(dir, "missing")},
		{Argv: []string{"cat"}, Cwd: "/etc/passwd"},
		{Argv: []string{"cat"}, Cwd: "relative"},
		{Argv: []string{"cat"}, Cols: &zero},
		{Argv: []string{"cat"}, Rows: &big},
		{Argv: []string{"cat"}, Name: strings.Repeat("x", 201)},
		{Argv: []string{"cat"}, Name: "\x1b[31mred"},
		{Argv: []string{"cat"}, Env: map[string]string{"A=B": "c"}},
		{Profile: "no-such-profile"},
	} {
		_, err := c.New(s)
		if _, ok := errors.AsType[*SpecError](err); !ok {
			t.Errorf("New(%+v): error %v, want a *SpecError", s, err)
		}
	}
	ids, err := c.store.IDs()
	if err != nil || len(ids) != 1 {
		t.Errorf("sessions = %v, %v; want only the bound one", ids, err)
	}
	if id, err := c.Bound(); id != bound.ID {
		t.Errorf("Bound() = %q, %v; want %q", id, err, bound.ID)
	}
	locks, err := filepath.Glob(filepath.Join(c.store.Dir(), "locks", "*-*.lock"))
	if err != nil || len(locks) != 1 {
		t.Errorf("lock files = %q, %v; want only the bound session's", locks, err)
	}
	checkLeases(t, c)
}

// A resume that fails leaves the row as it was, cause and all.
func TestFailedResumeLeavesTheRowAsItWas(t *testing.T) {
	dir := t.TempDir()
	cwd := filepath.Join(t.TempDir(), "work")
	if err := os.Mkdir(cwd, 0o755); err != nil {
		t.Fatal(err)
	}
	first := open(t, dir)
	v, err := first.New(Spec{Argv: []string{"cat"}, Cwd: cwd})
	if err != nil {
		t.Fatal(err)
	}
	first.Close()
	c := open(t, dir)
	before, err := c.Get(v.ID)
	if err != nil || before.State != "interrupted" || before.Cause != "gateway_shutdown" {
		t.Fatalf("after Close = %+v, %v; want interrupted by gateway_shutdown", before, err)
	}
	if err := os.Remove(cwd); err != nil {
		t.Fatal(err)
	}
	_, err = c.Resume(v.ID)
	if e, ok := errors.AsType[*SpecError](err); !ok || e.Field != "cwd" {
		t.Errorf("Resume without its folder: %v, want a *SpecError for cwd", err)
	}
	after, err := c.Get(v.ID)
	if err != nil || after.State != before.State || after.Cause != before.Cause || after.Runs != 1 {
		t.Errorf("after the failure = %+v, %v; want it as before", after, err)
	}
	checkLeases(t, c)
	if err := os.Mkdir(cwd, 0o755); err != nil {
		t.Fatal(err)
	}
	again, err := c.Resume(v.ID)
	if err != nil || again.State != "running" || again.Cause != "" || again.Runs != 2 {
		t.Errorf("Resume = %+v, %v; want running, no cause, run 2", again, err)
	}
}

func TestResumeGoesOnInTheSameLog(t *testing.T) {
	c := open(t, t.TempDir())
	v := newSession(t, c, "sh", "-c", "echo run")
	waitOver(t, c, v.ID)
	if _, err := c.Start(v.ID); err != nil {
		t.Fatal(err)
	}
	v = waitOver(t, c, v.ID)
	if got, want := output(t, c, v.ID), "run\r\nrun\r\n"; got != want || v.Runs != 2 {
		t.Errorf("output = %q after %d runs, want %q after 2", got, v.Runs, want)
	}
}

func TestResumeOfALiveSessionOnlyBinds(t *testing.T) {
	c := open(t, t.TempDir())
	v := newSession(t, c, "cat")
	if v.Bound {
		t.Error("Create bound the session")
	}
	got, err := c.Resume(v.ID)
	if err != nil || got.PID != v.PID || got.Runs != 1 || !got.Bound {
		t.Errorf("Resume = %+v, %v; want the same run, bound", got, err)
	}
	if _, err := c.Start(v.ID); !errors.Is(err, ErrLive) {
		t.Errorf("Start of a live session: %v, want ErrLive", err)
	}
}

func TestStopIsFinalAndIdempotent(t *testing.T) {
	c := open(t, t.TempDir())
	v := newSession(t, c, "sh", "-c", "trap '' HUP TERM; echo ready; while :; do sleep 1; done")
	waitOutput(t, c, v.ID, "ready")
	for range 2 {
		got, err := c.Stop(v.ID)
		if err != nil || got.State != "stopped" || got.Live || got.PID != 0 {
			t.Errorf("Stop = %+v, %v; want stopped", got, err)
		}
		row, err := c.store.Row(v.ID)
		if err != nil || row.State != "stopped" {
			t.Errorf("row = %+v, %v; want stopped on disk when Stop answers", row, err)
		}
		checkLeases(t, c)
	}
	if _, err := c.Stop(store.NewID()); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Stop of an unknown session: %v, want ErrNotFound", err)
	}
}

func TestStopOfAnInterruptedSessionTurnsAutoResumeOff(t *testing.T) {
	dir := t.TempDir()
	first := open(t, dir)
	v, err := first.Create(Spec{Argv: []string{"bash"}})
	if err != nil || !v.AutoResume {
		t.Fatalf("Create(bash) = %+v, %v; want auto_resume", v, err)
	}
	first.Close()
	c := open(t, dir)
	got, err := c.Stop(v.ID)
	if err != nil || got.State != "interrupted" || got.Cause != "gateway_shutdown" || got.AutoResume {
		t.Errorf("Stop = %+v, %v; want interrupted as before, without auto_resume", got, err)
	}
	checkLeases(t, c)
}

func TestAutoResumeDefaults(t *testing.T) {
	c := open(t, t.TempDir())
	off := false
	for _, tt := range []struct {
		spec Spec
		want bool
	}{
		{Spec{Argv: []string{"sh"}}, true},
		{Spec{Argv: []string{"sh", "-c", "cat"}}, false},
		{Spec{Argv: []string{"cat"}}, false},
		{Spec{Argv: []string{"sh"}, AutoResume: &off}, false},
		{Spec{Argv: []string{"cat"}, Profile: "claude"}, true},
	} {
		v, err := c.Create(tt.spec)
		if err != nil || v.AutoResume != tt.want {
			t.Errorf("Create(%q) = auto_resume %v, %v; want %v", tt.spec.Argv, v.AutoResume, err, tt.want)
		}
	}
}

func TestDelete(t *testing.T) {
	c := open(t, t.TempDir())
	v, err := c.New(Spec{Argv: []string{"cat"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(v.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(v.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Get after Delete: %v, want ErrNotFound", err)
	}
	if _, err := c.Bound(); !errors.Is(err, ErrNothingBound) {
		t.Errorf("Bound after Delete: %v, want ErrNothingBound", err)
	}
	if err := c.Delete(v.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("second Delete: %v, want ErrNotFound", err)
	}
	if _, err := os.Stat(c.store.LockPath(v.ID)); !os.IsNotExist(err) {
		t.Errorf("lock file after Delete: %v, want it gone", err)
	}
	checkLeases(t, c)
}

func TestPatch(t *testing.T) {
	c := open(t, t.TempDir())
	live, dead := newSession(t, c, "cat"), newSession(t, c, "true")
	waitOver(t, c, dead.ID)
	name, on := "build", true
	for _, id := range []string{live.ID, dead.ID} {
		v, err := c.Patch(id, Patch{Name: &name, AutoResume: &on})
		if err != nil || v.Name != name || !v.AutoResume {
			t.Errorf("Patch = %+v, %v; want the name and auto_resume", v, err)
		}
	}
	bad := "a\nb"
	if _, err := c.Patch(live.ID, Patch{Name: &bad}); err == nil {
		t.Error("Patch with a control character: no error")
	}
	if _, err := c.Resolve("build"); err == nil || !strings.Contains(err.Error(), "fits 2 sessions") {
		t.Errorf("Resolve of a name that two have: %v", err)
	}
	checkLeases(t, c)
}

func TestResolve(t *testing.T) {
	c := open(t, t.TempDir())
	v, err := c.Create(Spec{Argv: []string{"cat"}, Name: "work"})
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{v.ID, v.ID[:8], v.ID[:20], "work"} {
		if id, err := c.Resolve(ref); id != v.ID {
			t.Errorf("Resolve(%q) = %q, %v; want %q", ref, id, err, v.ID)
		}
	}
	for _, ref := range []string{"", v.ID[:7], "wor", store.NewID(), "../" + v.ID, strings.Repeat("a", 300)} {
		if id, err := c.Resolve(ref); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("Resolve(%q) = %q, %v; want ErrNotFound", ref, id, err)
		}
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("HOLDFAST_SECRET", "no")
	t.Setenv("SESSION_TEST_OWN", "server")
	c := open(t, t.TempDir())
	v, err := c.Create(Spec{Argv: []string{"env"}, Env: map[string]string{"SESSION_TEST_OWN": "spec", "HOLDFAST_SESSION": "forged"}})
	if err != nil {
		t.Fatal(err)
	}
	waitOver(t, c, v.ID)
	env := output(t, c, v.ID)
	for _, want := range []string{
		"TERM=xterm-256color\r\n", "COLORTERM=truecolor\r\n", "SESSION_TEST_OWN=spec\r\n",
		"HOLDFAST_SESSION=" + v.ID + "\r\n", "HOLDFAST_STORE=" + c.store.Dir() + "\r\n",
	} {
		if strings.Count(env, want) != 1 {
			t.Errorf("environment has %q %d times, want once", want, strings.Count(env, want))
		}
	}
	if strings.Contains(env, "HOLDFAST_SECRET") || strings.Contains(env, "forged") || strings.Contains(env, "=server") {
		t.Errorf("environment has what it must not:\n%s", env)
	}
}

func TestBindingIsRestored(t *testing.T) {
	dir := t.TempDir()
	first := open(t, dir)
	v, err := first.New(Spec{Argv: []string{"cat"}})
	if err != nil {
		t.Fatal(err)
	}
	first.Close()
	c := open(t, dir)
	if id, err := c.Bound(); id != v.ID {
		t.Errorf("Bound() = %q, %v; want %q", id, err, v.ID)
	}
}

func TestClosingRefusesEverything(t *testing.T) {
	c := open(t, t.TempDir())
	v, err := c.New(Spec{Argv: []string{"bash"}})
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	_, err1 := c.New(Spec{Argv: []string{"cat"}})
	_, err2 := c.Resume(v.ID)
	_, err3 := c.Fork(v.ID, ForkSpec{}, true)
	err4 := c.Delete(v.ID)
	for i, err := range []error{err1, err2, err3, err4} {
		if !errors.Is(err, ErrClosing) {
			t.Errorf("request %d after Close: %v, want ErrClosing", i+1, err)
		}
	}
}

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
