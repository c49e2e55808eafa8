package process

import (
	"errors"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestExitIsReported(t *testing.T) {
	for _, tt := range []struct {
		script string
		want   Exit
	}{
		{"exit 0", Exit{}},
		{"exit 3", Exit{Code: 3}},
		{"exit 255", Exit{Code: 255}},
		{"kill -KILL $$", Exit{Code: -1, Signal: "KILL"}},
		{"ulimit -c 0; kill -SEGV $$", Exit{Code: -1, Signal: "SEGV"}},
		{"kill -40 $$", Exit{Code: -1, Signal: "40"}},
	} {
		p := sh(t, tt.script)
		readAll(t, p)
		if got := p.Wait(); got != tt.want {
			t.Errorf("%s: exit = %+v, want %+v", tt.script, got, tt.want)
		}
	}
}

func TestWindowIsSetBeforeTheStartAndResized(t *testing.T) {
	p := launch(t, Spec{
		Path: "/bin/bash",
		Argv: []string{"bash", "-c", `stty size; trap 'stty size' WINCH; sleep 1000 & echo ready; while :; do wait; done`},
		Cols: 101, Rows: 33,
	})
	if got, want := readUntil(t, p, "ready\r\n"), "33 101\r\nready\r\n"; got != want {
		t.Errorf("output = %q, want %q", got, want)
	}
	if err := p.Resize(132, 50); err != nil {
		t.Fatal(err)
	}
	if got, want := readUntil(t, p, "\r\n"), "50 132\r\n"; got != want {
		t.Errorf("after the resize: output = %q, want %q", got, want)
	}
}

// The background job shows with USR1 that it would have shown an INT by then:
// a shell handles the lower number first.
func TestSignalReachesTheForegroundJobOnly(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	p := bash(t)
	keepReading(t, p)
	loop := "while :; do sleep 0.01; done"
	typeIn(t, p, "cd "+dir+"\n")
	typeIn(t, p, `sh -c 'trap "echo >bgint" INT; trap "echo >bgusr" USR1; echo $$ >bg; `+loop+"' &\n")
	typeIn(t, p, `sh -c 'trap "echo >fgint; exit" INT; echo $$ >fg; `+loop+"'; echo >back\n")
	bg, fg := pidFrom(t, file("bg")), pidFrom(t, file("fg"))

	if err := p.Signal("sigInt"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the foreground job gets it", exists(file("fgint")))
	eventually(t, "the shell goes on", func() bool { return !alive(fg) })
	if err := unix.Kill(bg, unix.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the background job lives", exists(file("bgusr")))
	if exists(file("bgint"))() {
		t.Error("the background job got it too")
	}
	if p.hasExited() {
		t.Error("the shell got it too")
	}
}

func TestSignalNames(t *testing.T) {
	p := sh(t, `trap "echo one" USR1; trap "echo two" USR2; echo ready; while :; do sleep 0.01; done`)
	readUntil(t, p, "ready")
	for _, tt := range []struct{ name, want string }{{"USR1", "one"}, {"SIGUSR2", "two"}, {"usr1", "one"}} {
		if err := p.Signal(tt.name); err != nil {
			t.Errorf("Signal(%q): %v", tt.name, err)
		}
		readUntil(t, p, tt.want)
	}
	for _, name := range []string{"", "SIG", "9", "FOO", "SIGSIGINT", "INT\n"} {
		if err := p.Signal(name); !errors.Is(err, ErrUnknownSignal) {
			t.Errorf("Signal(%q) = %v, want %v", name, err, ErrUnknownSignal)
		}
	}
	if err := p.Signal("KILL"); err != nil {
		t.Error(err)
	}
	p.Wait()
	if err := p.Signal("INT"); !errors.Is(err, ErrExited) {
		t.Errorf("Signal after the exit = %v, want %v", err, ErrExited)
	}
}
