package session

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
