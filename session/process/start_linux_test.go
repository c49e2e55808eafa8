package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

func TestStartErrors(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode fs.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	plain := write("plain", "#!/bin/sh\n", 0o600)
	lost := write("lost", "#!/nonexistent/interpreter\n", 0o700)
	missing := filepath.Join(dir, "missing")

	for _, tt := range []struct {
		name, path, dir string
		want            error
		program         bool // an *exec.Error, else an *fs.PathError
		text            string
	}{
		{"bare name", "cat", "", exec.ErrNotFound, true, `exec: "cat": executable file not found in $PATH`},
		{"empty name", "", "", exec.ErrNotFound, true, `exec: "": executable file not found in $PATH`},
		{"no program", missing, "", fs.ErrNotExist, true, fmt.Sprintf("exec: %q: no such file or directory", missing)},
		{"not executable", plain, "", fs.ErrPermission, true, fmt.Sprintf("exec: %q: permission denied", plain)},
		{"a folder", dir, "", fs.ErrPermission, true, fmt.Sprintf("exec: %q: permission denied", dir)},
		{"no interpreter", lost, "", fs.ErrNotExist, true, fmt.Sprintf("exec: %q: its interpreter: no such file or directory", lost)},
		{"NUL in the name", "/bin/c\x00at", "", unix.EINVAL, true, `exec: "/bin/c\x00at": invalid argument`},
		{"no folder", "/bin/cat", missing, fs.ErrNotExist, false, "chdir " + missing + ": no such file or directory"},
		{"folder is a file", "/bin/cat", plain, unix.ENOTDIR, false, "chdir " + plain + ": not a directory"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := Start(Spec{Path: tt.path, Argv: []string{"x"}, Dir: tt.dir, Cols: 80, Rows: 24})
			if err == nil {
				p.Stop(0)
				p.Close()
				t.Fatal("Start succeeded")
			}
			if !errors.Is(err, tt.want) || err.Error() != tt.text {
				t.Errorf("Start: %v, want %v: %s", err, tt.want, tt.text)
			}
			if _, ok := errors.AsType[*exec.Error](err); ok != tt.program {
				t.Errorf("Start: %T, is the program to blame: %t", err, tt.program)
			}
			if _, ok := errors.AsType[*fs.PathError](err); ok == tt.program {
				t.Errorf("Start: %T, is the folder to blame: %t", err, !tt.program)
			}
		})
	}
}

func TestProgramGetsFolderArgumentsAndEnvironment(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\npwd; printf '%s\\n' \"$0\" \"$@\" \"$ONE\"; exec /usr/bin/env -u PWD -u OLDPWD -u _ -u SHLVL\n"
	if err := os.WriteFile(filepath.Join(dir, "prog"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	p := launch(t, Spec{Path: "./prog", Argv: []string{"prog", "a b", ""}, Dir: dir, Env: []string{"ONE=1 2"}})
	got := strings.Split(string(readAll(t, p)), "\r\n")
	if diff := cmp.Diff([]string{dir, "./prog", "a b", "", "1 2", "ONE=1 2", ""}, got); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
}

// A descriptor that this process inherited is not close-on-exec either.
func TestProgramInheritsTheTerminalOnly(t *testing.T) {
	leak, err := unix.Dup(0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(leak)
	p := launch(t, Spec{Path: "/bin/cat", Argv: []string{"cat"}})
	typeIn(t, p, "up\n")
	readUntil(t, p, "up\r\nup\r\n") // by then its loader is done
	proc := fmt.Sprintf("/proc/%d/", p.Identity().PID)

	entries, err := os.ReadDir(proc + "fd")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]bool{}
	for _, e := range entries {
		target, err := os.Readlink(proc + "fd/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		files[target] = true
		if !strings.HasPrefix(target, "/dev/pts/") {
			t.Errorf("descriptor %s is %s", e.Name(), target)
		}
	}
	if len(entries) != 3 || len(files) != 1 {
		t.Errorf("%d descriptors of %d files, want 3 of 1", len(entries), len(files))
	}

	info, err := os.ReadFile(proc + "fdinfo/0")
	if err != nil {
		t.Fatal(err)
	}
	var flags int
	_, rest, _ := strings.Cut(string(info), "flags:")
	if _, err := fmt.Sscanf(rest, "%o", &flags); err != nil {
		t.Fatal(err)
	}
	if flags&unix.O_NONBLOCK != 0 {
		t.Errorf("the program's terminal is non-blocking: flags %o", flags)
	}
}

func TestProgramDoesNotInheritIgnoredSignals(t *testing.T) {
	const inside = "TEST_IGNORES_SIGNALS"
	if os.Getenv(inside) == "" { // run this test again, in a process that ignores them
		cmd := exec.Command("/bin/sh", "-c", `trap "" HUP INT; exec "$0" "$@"`, os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), inside+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v:\n%s", err, out)
		}
		return
	}
	for _, sig := range []unix.Signal{unix.SIGHUP, unix.SIGINT} {
		p := sh(t, `kill -"$1" $$`, strconv.Itoa(int(sig)))
		readAll(t, p)
		if got, want := p.Wait(), (Exit{Code: -1, Signal: signalName(sig)}); got != want {
			t.Errorf("%v: exit = %+v, want %+v", sig, got, want)
		}
		if err := unix.Kill(os.Getpid(), sig); err != nil { // has no effect
			t.Error(err)
		}
	}
}

func TestProgramLeadsItsSession(t *testing.T) {
	p := launch(t, Spec{Path: "/bin/sleep", Argv: []string{"sleep", "1000"}})
	pid := p.Identity().PID
	sid, err := unix.Getsid(pid)
	if sid != pid || err != nil {
		t.Errorf("session of %d = %d, %v", pid, sid, err)
	}
	if got, want := p.Identity(), identify(pid); got != want || got.Start == 0 || got.Boot == "" {
		t.Errorf("identity = %+v, want %+v", got, want)
	}
}

func TestNothingIsLeftAfterTheEnd(t *testing.T) {
	run := func() {
		p, err := Start(Spec{Path: "/bin/true", Argv: []string{"true"}, Cols: 80, Rows: 24})
		if err != nil {
			t.Fatal(err)
		}
		readAll(t, p)
		p.Wait()
		p.Close()
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", p.Identity().PID)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a zombie is left: %v", err)
		}
		if _, err := Start(Spec{Path: "/nonexistent/x", Cols: 80, Rows: 24}); err == nil {
			t.Error("Start of nothing succeeded")
		}
	}
	run() // opens what the runtime keeps
	before := descriptors(t)
	for range 20 {
		run()
	}
	if got := descriptors(t); got > before {
		t.Errorf("%d descriptors left open", got-before)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
