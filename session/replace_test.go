package session

import (
	"errors"
	"strings"
	"testing"

	"holdfast/state"
)

func TestReplaceGoesOnInTheSameSession(t *testing.T) {
	dir := t.TempDir()
	c := open(t, dir)
	old := newSession(t, c, "sh", "-c", "echo first; exec cat")
	waitOutput(t, c, old.ID, "first")
	got, err := c.Replace(old.ID, SwitchSpec{Argv: []string{"sh", "-c", "echo second; exec cat"}})
	if err != nil {
		t.Fatal(err)
	}
	checkLeases(t, c)
	if got.ID != old.ID || got.Runs != 2 || got.State != string(state.Running) || got.Argv[2] != "echo second; exec cat" {
		t.Errorf("Replace = %+v; want the second run of %s", got, old.ID)
	}
	waitOutput(t, c, old.ID, "second")
	if text := output(t, c, old.ID); !strings.HasPrefix(text, "first") {
		t.Errorf("output = %q; want that of the first run too", text)
	}
	if _, err := c.Stop(old.ID); err != nil {
		t.Fatal(err)
	}
	if v, err := c.Start(old.ID); err != nil || v.Argv[2] != "echo second; exec cat" {
		t.Errorf("Start = %q, %v; want the new program", v.Argv, err)
	}
}

func TestReplaceByAProfile(t *testing.T) {
	t.Setenv("SHELL", "/bin/sh")
	c := open(t, t.TempDir())
	v := newSession(t, c, "cat")
	got, err := c.Replace(v.ID, SwitchSpec{Profile: "shell"})
	if err != nil || got.Profile != "shell" || got.Argv[0] != "/bin/sh" {
		t.Errorf("Replace = %q of %q, %v; want the shell", got.Argv, got.Profile, err)
	}
	if got.AutoResume {
		t.Error("a session that was not to be resumed with the server is now")
	}
}

func TestReplaceThatCannotBeRunChangesNothing(t *testing.T) {
	c := open(t, t.TempDir())
	v := newSession(t, c, "cat")
	for _, s := range []SwitchSpec{{}, {Profile: "nonesuch"}, {Argv: []string{"/nonexistent/program"}}} {
		_, err := c.Replace(v.ID, s)
		if _, ok := errors.AsType[*SpecError](err); !ok {
			t.Errorf("Replace(%+v) = %v; want a SpecError", s, err)
		}
	}
	if got, err := c.Get(v.ID); err != nil || got.PID != v.PID || got.Runs != 1 {
		t.Errorf("session is %+v, %v; want it as it was", got, err)
	}
}

func TestReplaceThatDoesNotStartLeavesTheOldSpec(t *testing.T) {
	dir := t.TempDir()
	c := open(t, dir)
	v := newSession(t, c, "cat")
	broken := dir + "/broken"
	writeScript(t, broken, "#!/nonexistent/interpreter\n")
	if _, err := c.Replace(v.ID, SwitchSpec{Argv: []string{broken}}); err == nil {
		t.Fatal("Replace started a program without an interpreter")
	}
	checkLeases(t, c)
	got, err := c.Get(v.ID)
	if err != nil || got.State != string(state.Stopped) || got.Argv[0] != "cat" || got.Runs != 1 {
		t.Errorf("session is %s with %q and %d runs, %v; want it stopped, with its own spec", got.State, got.Argv, got.Runs, err)
	}
}

func TestReleaseInterruptsOneSession(t *testing.T) {
	c := open(t, t.TempDir())
	a, b := newSession(t, c, "cat"), newSession(t, c, "cat")
	if err := c.Release(a.ID); err != nil {
		t.Fatal(err)
	}
	checkLeases(t, c)
	got, err := c.Get(a.ID)
	if err != nil || got.State != string(state.Interrupted) || got.Cause != string(state.CauseGatewayShutdown) || got.Live {
		t.Errorf("released session is %+v, %v; want it interrupted by a shutdown", got, err)
	}
	if other, err := c.Get(b.ID); err != nil || !other.Live {
		t.Errorf("the other session is %+v, %v; want it live", other, err)
	}
	if err := c.Release(a.ID); err != nil {
		t.Errorf("Release of a session without a program: %v", err)
	}
	if v, err := c.Start(a.ID); err != nil || v.Runs != 2 {
		t.Errorf("Start = %+v, %v; want its second run", v, err)
	}
}
