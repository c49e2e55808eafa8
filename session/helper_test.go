package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/leasefs"
	"holdfast/session/process"
	"holdfast/store"
)

// patience is how long a test waits for something that must come. It is no
// limit that anything is measured by.
const patience = 30 * time.Second

// TestMain lets the test binary stand in for another process that holds
// sessions of a store.
func TestMain(m *testing.M) {
	if dir := os.Getenv("SESSION_TEST_HOLD"); dir != "" {
		if err := holdSession(dir, os.Getenv("SESSION_TEST_ID")); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// holdSession starts or resumes a session as a process of its own, says its
// id, and holds it until stdin ends or it is killed.
func holdSession(dir, id string) error {
	st, err := store.Open(dir, store.Options{Boot: process.BootID()})
	if err != nil {
		return err
	}
	c, err := Open(Config{Store: st, Front: "run"})
	if err != nil {
		return err
	}
	if id == "" {
		v, err := c.New(Spec{Argv: []string{"cat"}})
		if err != nil {
			return err
		}
		id = v.ID
	} else if _, err := c.Resume(id); err != nil {
		return err
	}
	fmt.Println(id)
	io.Copy(io.Discard, os.Stdin)
	c.Close()
	os.Exit(0)
	return nil
}

// startHolder runs holdSession in another process; an empty id makes a new
// session. It returns the session's id and how to end the process: in good
// order, or by SIGKILL.
func startHolder(t *testing.T, dir, id string) (session string, end func(kill bool)) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "SESSION_TEST_HOLD="+dir, "SESSION_TEST_ID="+id)
	stdin, err1 := cmd.StdinPipe()
	stdout, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	ended := false
	end = func(kill bool) {
		if ended {
			return
		}
		ended = true
		if kill {
			cmd.Process.Kill()
		}
		stdin.Close()
		cmd.Wait()
	}
	t.Cleanup(func() { end(true) })
	var line [256]byte
	n, err := stdout.Read(line[:])
	session = strings.TrimSpace(string(line[:n]))
	if err != nil || !store.ValidID(session) {
		t.Fatalf("holder said %q, %v; want a session id", session, err)
	}
	return session, end
}

// open returns a controller on the store in dir. The end of the test checks
// what must be true of any store that was closed.
func open(t testing.TB, dir string, change ...func(*Config)) *Controller {
	t.Helper()
	st, err := store.Open(dir, store.Options{Boot: process.BootID()})
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{
		Store: st, Front: "serve", KeepBinding: true, StopGrace: 500 * time.Millisecond, ShutdownGrace: 500 * time.Millisecond,
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	for _, f := range change {
		f(&cfg)
	}
	c, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		checkClosed(t, c)
	})
	return c
}

// checkClosed fails the test if a closed controller left a lease, a claim to
// a live program, a program, or an unfinished file.
func checkClosed(t testing.TB, c *Controller) {
	t.Helper()
	checkLeases(t, c)
	ids, err := c.store.IDs()
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		row, err := c.store.Row(id)
		if err != nil {
			continue // damaged on purpose
		}
		busy, err := leasefs.Busy(c.store.LockPath(id), c.family)
		if err != nil {
			t.Error(err)
		}
		if row.State.Live() && !busy {
			t.Errorf("session %s is %s, and nobody holds it", id, row.State)
		}
	}
	filepath.WalkDir(c.store.Dir(), func(path string, d os.DirEntry, err error) error {
		if err == nil && (strings.Contains(d.Name(), ".new-") || strings.Contains(d.Name(), ".tmp")) {
			t.Errorf("left over: %s", path)
		}
		return nil
	})
}

// checkLeases fails the test unless this process holds exactly the leases of
// the sessions that it has a writer for.
func checkLeases(t testing.TB, c *Controller) {
	t.Helper()
	if trouble := leaseTrouble(c); trouble != "" {
		t.Error(trouble)
	}
}

func leaseTrouble(c *Controller) string {
	c.mu.Lock()
	var want []string
	for id := range c.live {
		want = append(want, c.store.LockPath(id))
	}
	c.mu.Unlock()
	slices.Sort(want)
	var got []string
	for _, path := range leasefs.Held() {
		if filepath.Dir(path) == filepath.Join(c.store.Dir(), "locks") {
			got = append(got, path)
		}
	}
	if !slices.Equal(got, want) {
		return fmt.Sprintf("leases held = %q, want %q", got, want)
	}
	return ""
}

// newSession starts argv without binding it.
func newSession(t testing.TB, c *Controller, argv ...string) View {
	t.Helper()
	v, err := c.Create(Spec{Argv: argv, Cwd: t.TempDir()})
	if err != nil {
		t.Fatalf("Create(%q): %v", argv, err)
	}
	return v
}

// wait waits until a session is as cond says.
func waitFor(t testing.TB, c *Controller, id, what string, cond func(View) bool) View {
	t.Helper()
	f, err := c.Follow(id)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	deadline := time.After(patience)
	for {
		changed := f.Changed()
		v, err := c.Get(id)
		if err != nil {
			t.Fatal(err)
		}
		if cond(v) {
			return v
		}
		select {
		case <-changed:
		case <-time.After(50 * time.Millisecond): // a lease is no file that changes
		case <-deadline:
			t.Fatalf("session %s: %s has not come; it is %s with cursor %d", id, what, v.State, v.Cursor)
		}
	}
}

// waitOver waits until a session has ended and its lease is free.
func waitOver(t *testing.T, c *Controller, id string) View {
	t.Helper()
	v := waitFor(t, c, id, "its end", func(v View) bool { return !v.Live && v.State != "running" && v.State != "idle" })
	if l := c.lookup(id); l != nil {
		<-l.done
	}
	return v
}

// output is all that the log of a session has.
func output(t testing.TB, c *Controller, id string) string {
	t.Helper()
	f, err := c.Follow(id)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []byte
	buf := make([]byte, 64<<10)
	at, _, err := f.Bounds()
	for err == nil {
		var n int
		n, err = f.ReadAt(buf, at)
		all, at = append(all, buf[:n]...), at+int64(n)
	}
	if err != io.EOF {
		t.Fatal(err)
	}
	return string(all)
}

// waitOutput waits until the log of a session contains text.
func waitOutput(t testing.TB, c *Controller, id, text string) {
	t.Helper()
	waitFor(t, c, id, fmt.Sprintf("output %q", text), func(View) bool { return strings.Contains(output(t, c, id), text) })
}

// typeIn types text and wants it taken.
func typeIn(t testing.TB, c *Controller, id, text string) Receipt {
	t.Helper()
	r, err := c.Input(t.Context(), id, Input{Data: []byte(text)})
	if err != nil || r.Written != len(text) {
		t.Fatalf("Input(%q) = %+v, %v; want all written", text, r, err)
	}
	return r
}

// events reads a stream until one of kind comes, and returns all of them and
// the output among them.
func events(t *testing.T, s *Stream, until EventKind) (all []Event, text []byte) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var out bytes.Buffer
	for {
		e, err := s.Next(ctx)
		if err != nil {
			t.Fatalf("stream: %v before %q; events: %s", err, until, kinds(all))
		}
		out.Write(e.Data)
		e.Data = bytes.Clone(e.Data)
		all = append(all, e)
		if e.Kind == until {
			return all, out.Bytes()
		}
	}
}

func kinds(all []Event) string {
	var names []string
	for _, e := range all {
		names = append(names, string(e.Kind))
	}
	return strings.Join(names, " ")
}

func writeScript(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// timeSince is how long ago the last activity of a session was.
func timeSince(v View) time.Duration { return time.Since(*v.ActiveAt) }
