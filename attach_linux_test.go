package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"holdfast/session"
)

func TestAttachTypesAndLeaves(t *testing.T) {
	dir := shortStore(t)
	ts := startServerProcess(t, "", dir).client(t)
	v := create(ts, "it", "stty -echo; printf '"+everyMode+"\\033[6nready'; exec cat")
	m := holdfastOnTerminal(t, dir, "attach", v.ID[:8])
	m.see("ready")
	if got := m.out.String(); strings.Contains(got, "\x1b[6n") {
		t.Errorf("the terminal was sent %q, which asks what was answered before", got)
	}
	m.press("hello\r")
	m.see("hello\r\n")
	m.until("the size of the terminal", func() bool {
		v := must[session.View](ts, ts.do("GET", "/sessions/it", ""), 200)
		return v.Cols == 100 && v.Rows == 30
	})
	m.press("\x1d")
	m.see("holdfast> ")
	m.press("/detach\r")
	m.see("[left " + v.ID[:8] + " it, which goes on; holdfast attach " + v.ID[:8] + " leads back]")
	if got := m.wait(); got != 0 {
		t.Errorf("exit status %d, want 0", got)
	}
	m.until("a fresh terminal", func() bool { return m.has(m.was) && freshAfter(m.out.String()) })
	if v := must[session.View](ts, ts.do("GET", "/sessions/it", ""), 200); !v.Live || v.Turns != 1 {
		t.Errorf("afterwards the session is %+v", v)
	}

	m = holdfastOnTerminal(t, dir, "attach") // the bound one, or the only one
	m.see("hello")
	if got := m.out.String(); !strings.Contains(got, "\x1b[?2004h") {
		t.Errorf("who comes back is sent %q, without the modes that hold", got)
	}
	m.press("\x04")
	m.see("[" + v.ID[:8] + " it is ended, with status 0]")
	if got := m.wait(); got != 0 {
		t.Errorf("exit status %d, want 0", got)
	}
	if got := hold(t, dir, "", "attach"); got.Status != 1 || !strings.HasPrefix(got.Stderr, "holdfast: no session is live; ") {
		t.Errorf("attach without sessions = %+v", got)
	}
	if got := hold(t, dir, "", "attach", "it"); got.Status != 1 || !strings.Contains(got.Stderr, "is not live") {
		t.Errorf("attach to a session that has ended = %+v", got)
	}
}

func TestAttachThatOnlyWatches(t *testing.T) {
	dir := shortStore(t)
	ts := startServerProcess(t, "", dir).client(t)
	create(ts, "it", "echo ready; exec cat")
	m := holdfastOnTerminal(t, dir, "attach", "--read-only", "it")
	m.see("ready")
	m.press("not typed\r\x1dstop\r")
	m.see("this terminal only watches")
	if v := must[session.View](ts, ts.do("GET", "/sessions/it", ""), 200); v.Cols != 80 || v.Turns != 0 || !v.Live {
		t.Errorf("the session is %+v, want it as it was", v)
	}
	m.press("quit\r")
	if got := m.wait(); got != 0 {
		t.Errorf("exit status %d, want 0", got)
	}
	if log := hold(t, dir, "", "export", "--raw", "it").Stdout; log != "ready\r\n" {
		t.Errorf("the log has %q", log)
	}
}

// What happens while the command line is open is seen when it closes.
func TestTheCommandLineOutlivesServerAndSession(t *testing.T) {
	dir := shortStore(t)
	p := startServerProcess(t, "", dir)
	create(p.client(t), "it", "echo ready; exec cat")
	m := holdfastOnTerminal(t, dir, "attach", "it")
	m.see("ready")
	m.press("\x1d")
	m.see("holdfast> ")
	p.kill()
	m.press("/sessions\r")
	m.see("the store's server does not answer: connection refused; try again, or start it with holdfast serve\r\n")
	ts := startServerProcess(t, "", dir).client(t)
	m.press("/resume it\r")
	m.see("ready")
	m.press("\x1d")
	m.see("holdfast> ")
	if v := must[session.View](ts, ts.do("POST", "/sessions/it/stop", ""), 200); v.State != "stopped" {
		t.Fatalf("stop: %+v", v)
	}
	m.press("\x1b")
	m.see(" it is stopped, with signal HUP]")
	if got := m.wait(); got != 129 {
		t.Errorf("exit status %d, want 129", got)
	}
}

// A server that does not answer keeps nobody in the command line.
func TestAFrozenServerIsLeft(t *testing.T) {
	dir := shortStore(t)
	p := startServerProcess(t, "", dir)
	create(p.client(t), "it", "echo ready; exec cat")
	m := holdfastOnTerminal(t, dir, "attach", "it")
	m.see("ready")
	m.until("the size of the terminal", func() bool { return shown(t, dir, "it").Cols == 100 })
	p.Process.Signal(syscall.SIGSTOP)
	defer p.Process.Signal(syscall.SIGCONT)
	before := writes(t, m.cmd.Process.Pid)
	m.resize(90, 24)
	m.until("told the server its size", func() bool { return writes(t, m.cmd.Process.Pid) != before })
	m.press("\x1d")
	m.see("holdfast> ")
	for command, key := range map[string]string{"/sessions": "\x1b", "/resume it": "\x03", "/stop": "\x1d"} {
		m.press(command + "\r")
		m.see(command)
		m.press(key)
		name, _, _ := strings.Cut(command, " ")
		m.see(name + " was left before the server answered")
		m.see("holdfast> ")
	}
	m.press("/quit\r")
	if got := m.wait(); got != 0 {
		t.Errorf("exit status %d, want 0", got)
	}
}

// The end of a paste whose middle was lost is not typed. After a pause keys are
// typed again.
func TestAPasteThatIsTooMuchIsCut(t *testing.T) {
	dir := shortStore(t)
	ts := startServerProcess(t, "", dir).client(t)
	file := filepath.Join(t.TempDir(), "typed")
	v := create(ts, "it", "stty raw -echo; echo ready; exec cat >"+file)
	m := holdfastOnTerminal(t, dir, "attach", "it")
	m.see("ready")
	m.press("echo ")
	typed := func() string {
		b, _ := os.ReadFile(file)
		return string(b)
	}
	m.until("keys in the file", func() bool { return typed() == "echo " })
	syscall.Kill(v.PID, syscall.SIGSTOP)
	m.press("\x1b[200~" + strings.Repeat("x", 3<<20) + "; rm it\r\x1b[201~; rm it\r")
	syscall.Kill(v.PID, syscall.SIGCONT)
	m.until("a bell", func() bool { return strings.Contains(m.out.String(), "\a") })
	time.Sleep(1100 * time.Millisecond) // pasteQuiet of package cli: what follows is typed anew
	m.press("ls\r")
	m.until("what is typed anew in the file", func() bool { return strings.HasSuffix(typed(), "ls\r") })
	got := typed()
	begin, ok := strings.CutPrefix(got, "echo \x1b[200~")
	if end := strings.TrimLeft(begin, "x"); !ok || end != "\x1b[201~ls\r" {
		t.Errorf("the program got %d bytes with the end %q, want the paste cut and ended, then ls", len(got), got[max(0, len(got)-40):])
	}
}

// writes are the write calls of a process so far, in the words of the kernel.
func writes(t *testing.T, pid int) string {
	t.Helper()
	io, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, calls, _ := strings.Cut(string(io), "syscw: ")
	calls, _, _ = strings.Cut(calls, "\n")
	return calls
}

func TestATerminalThatGoesAwayLeavesTheSession(t *testing.T) {
	dir := shortStore(t)
	ts := startServerProcess(t, "", dir).client(t)
	create(ts, "it", "echo ready; exec cat")
	m := holdfastOnTerminal(t, dir, "attach", "it")
	m.see("ready")
	m.pty.Close()
	if got := m.wait(); got != 129 {
		t.Errorf("exit status %d, want 129", got)
	}
	if v := must[session.View](ts, ts.do("GET", "/sessions/it", ""), 200); !v.Live {
		t.Errorf("the session is %+v, want it live", v)
	}
}

// What attach writes is the log, whatever happens to the server meanwhile.
func TestAttachLosesNothingOverRestarts(t *testing.T) {
	t.Parallel()
	dir := shortStore(t)
	const kills = 4
	script := "stty -onlcr; i=0; while [ $i -lt 400 ]; do i=$((i+1)); printf '%d %2000d\\033[?2004h\\n' $i $i; sleep 0.002; done; exec cat"
	p := startServerProcess(t, buildHoldfast(t), dir)
	ts := p.client(t)
	v := must[session.View](ts, ts.do("POST", "/sessions", fmt.Sprintf(`{"name":"it","argv":["sh","-c",%q],"auto_resume":true}`, script)), 201)
	path := filepath.Join(t.TempDir(), "out")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	c := exec.Command(buildHoldfast(t), "attach", "it")
	c.Env = append(os.Environ(), "HOLDFAST_STORE="+dir)
	c.Stdout = file
	var stderr bytes.Buffer
	c.Stderr = &stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Wait()
	defer c.Process.Kill()
	shown := func() string {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for i := range kills {
		size := len(shown())
		eventually(t, "more output", func() bool { return len(shown()) > size+20_000 })
		p.kill()
		p = startServerProcess(t, buildHoldfast(t), dir)
		if i%2 == 1 {
			p.Process.Signal(syscall.SIGTERM)
			p.wait()
			p = startServerProcess(t, buildHoldfast(t), dir)
		}
	}
	ts = p.client(t)
	eventually(t, "the end of the program's output", func() bool { return strings.Contains(shown(), "\n400 ") })
	ts.do("POST", "/sessions/it/stop", "")
	if err := c.Wait(); c.ProcessState.ExitCode() != 129 { // the hangup of a stop
		t.Errorf("attach ends with %v: %s", err, &stderr)
	}
	log := hold(t, dir, "", "export", "--raw", v.ID).Stdout
	got := shown()
	if !strings.HasSuffix(log, got) || len(got) < kills*20_000 { // it may have come late
		t.Errorf("attach wrote %d bytes, which are not the last of the log's %d", len(got), len(log))
	}
	if n := strings.Count(got, "\n1 "); n < kills {
		t.Errorf("the program began %d times, want %d", n, kills)
	}
}

// How a session ended stands on a line of its own, also behind a prompt.
func TestAttachTellsTheEndOnALine(t *testing.T) {
	dir := shortStore(t)
	ts := startServerProcess(t, "", dir).client(t)
	for _, prompt := range []string{"ready$ ", `ready\n`} {
		id := create(ts, "", "printf '"+prompt+"'; exec cat").ID
		m := holdfastOnTerminal(t, dir, "attach", id)
		m.see("ready")
		must[session.View](ts, ts.do("POST", "/sessions/"+id+"/stop", ""), 200)
		m.see("[" + id[:8] + " is stopped, with signal HUP]\r\n")
		if _, end, _ := strings.Cut(m.out.String(), "ready"); strings.Count(end, "\n") != 2 {
			t.Errorf("behind %q there is %q", prompt, end)
		}
	}
}
