package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// A tmuxScreen is a terminal that draws: what is on it can be read.
type tmuxScreen struct {
	t      *testing.T
	socket string
}

// onScreen runs holdfast on a screen of 100 by 30 until the test ends.
func onScreen(t *testing.T, dir string, args ...string) tmuxScreen {
	t.Helper()
	s := tmuxScreen{t, filepath.Join(shortStore(t), "tmux")}
	s.tmux(append([]string{"new-session", "-d", "-x", "100", "-y", "30", "-e", "HOLDFAST_STORE=" + dir, "env", "PS1=$ ",
		"sh", "-c", `"$0" "$@"; echo "exit status $?"; exec cat`, buildHoldfast(t)}, args...)...)
	t.Cleanup(func() { exec.Command("tmux", "-S", s.socket, "kill-server").Run() })
	return s
}

func (s tmuxScreen) tmux(args ...string) string {
	s.t.Helper()
	c := exec.Command("tmux", append([]string{"-f", os.DevNull, "-S", s.socket}, args...)...)
	c.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	out, err := c.CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// text is what the screen shows, without the empty lines at its end.
func (s tmuxScreen) text() string {
	s.t.Helper()
	return strings.TrimRight(s.tmux("capture-pane", "-p"), "\n ")
}

// keys presses keys as tmux names them.
func (s tmuxScreen) keys(names ...string) {
	s.t.Helper()
	s.tmux(append([]string{"send-keys"}, names...)...)
}

// see waits until the screen ends with text.
func (s tmuxScreen) see(text string) {
	s.t.Helper()
	defer func() {
		if s.t.Failed() {
			s.t.Logf("the screen:\n%s", s.text())
		}
	}()
	eventually(s.t, "a screen that ends with "+text, func() bool { return strings.HasSuffix(s.text(), text) })
}

// killed kills holdfast on the screen with SIGKILL, and waits for its end.
func (s tmuxScreen) killed() {
	s.t.Helper()
	shell := strings.TrimSpace(s.tmux("display-message", "-p", "#{pane_pid}"))
	children, err := os.ReadFile(filepath.Join("/proc", shell, "task", shell, "children"))
	if err != nil {
		s.t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(children)))
	if err != nil {
		s.t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		s.t.Fatal(err)
	}
	eventually(s.t, "the end", func() bool { return !alive(pid) })
}

// command opens the command line and enters a command.
func (s tmuxScreen) command(line string) {
	s.t.Helper()
	s.keys("C-]")
	s.see("Esc leads back\n\nholdfast>")
	s.keys(line, "Enter")
}

// demoOnScreen runs a shell in a session called demo, which has said hello.
func demoOnScreen(t *testing.T, dir string) tmuxScreen {
	t.Helper()
	s := onScreen(t, dir, "run", "--name", "demo", "--", "sh")
	s.see("$")
	s.keys("echo hello", "Enter")
	s.see("$ echo hello\nhello\n$")
	return s
}

// A refused command leaves one where one was, and the screen comes back.
func TestCommandsThatGoNowhere(t *testing.T) {
	dir := shortStore(t)
	s := demoOnScreen(t, dir)
	s.command("/help")
	_, help, _ := strings.Cut(readPage(t, "docs/commands.md"), "`/help` says:\n\n```\n")
	help, _, _ = strings.Cut(help, "```")
	s.see("holdfast> /help\n" + help + "holdfast>")
	s.keys("Escape")
	s.see("$ echo hello\nhello\n$")

	s.command("frk")
	s.see("unknown command \"/frk\"; did you mean \"/fork\"?\nholdfast>")
	s.keys("/resume nosuch", "Enter")
	s.see("there is no session \"nosuch\"; /sessions lists them\nholdfast>")
	s.keys("/new -- nosuch", "Enter")
	s.see("> /new -- nosuch\nprogram \"nosuch\": no such program\nholdfast>")
	s.keys("/resume 2e2d", "Enter")
	s.see("there is no session \"2e2d\"; the beginning of an id counts from 8 characters on; /sessions lists them\nholdfast>")
	s.keys("/resume dmo", "Enter")
	s.see("there is no session \"dmo\"; did you mean \"demo\"?\nholdfast>")
	s.keys("/switch shel", "Enter")
	s.see("there is no profile \"shel\"; did you mean \"shell\"?\nholdfast>")
	s.keys("/detach", "Enter")
	s.see("/quit leaves\nholdfast>")
	s.keys("/switch no-profile", "Enter")
	s.see("\nholdfast>")
	s.keys("Escape")
	s.see("$ echo hello\nhello\n$")
	if got := shown(t, dir, "demo"); got.State != "running" {
		t.Errorf("after refused commands the session is %+v", got)
	}

	// The command key twice types it.
	s.keys("cat -v", "Enter", "C-]")
	s.see("holdfast>")
	s.keys("C-]", "Enter")
	s.see("$ cat -v\n^]\n^]")
}

// Commands can be shortened and completed. The session that one leaves goes
// on, and the screen of one that one comes to is drawn anew from its log.
func TestCommandsThatMove(t *testing.T) {
	s := demoOnScreen(t, shortStore(t))
	s.command(`/new -- sh -c "echo second; exec cat"`)
	s.see("second")
	s.command("/res\tdem\t") // which no id begins with
	s.see("$ echo hello\nhello\n$")
	s.keys("vim -u NONE -c 'set noswapfile' /etc/shells", "Enter")
	eventually(t, "the editor's screen", func() bool { return strings.HasPrefix(s.text(), "# /etc/shells") })
	editor := s.text()
	s.command("/sessions")
	eventually(t, "the list", func() bool { return strings.Contains(s.text(), "2 of 2 sessions") })
	s.keys("seco")
	eventually(t, "the narrowed list", func() bool { return strings.Contains(s.text(), "1 of 2 sessions  seco\n\n> ") })
	s.keys("Enter")
	s.see("second")

	s.command("/resume demo")
	eventually(t, "the editor's screen again", func() bool { return s.text() == editor })
	s.keys("C-]")
	s.see("holdfast>")
	s.keys("Escape")
	eventually(t, "the editor's screen behind the line", func() bool { return s.text() == editor })
	s.keys(":q", "Enter")
	s.see("/etc/shells\n$")
}

// The list is drawn anew for another size, and what is said breaks at words.
func TestTheCommandLineFitsTheScreen(t *testing.T) {
	s := demoOnScreen(t, shortStore(t))
	s.command("/sessions")
	s.see("sh")
	s.tmux("resize-window", "-x", "40", "-y", "20")
	eventually(t, "the list in 40 columns", func() bool {
		return strings.HasPrefix(s.text(), "Enter goes there, Esc leads back, the a…\n1 of 1 sessions\n\n> ")
	})
	s.keys("Escape")
	s.see("$ echo hello\nhello\n$")
	s.command("/detach")
	s.see(`
/detach is not possible: the programs
are in this process and end with it;
holdfast serve keeps sessions without a
terminal, and /quit leaves
holdfast>`)
}

// Forks go on beside a session, rewinds instead of it. Leaving ends what is in
// this process, after a question.
func TestCommandsThatForkAndLeave(t *testing.T) {
	dir := shortStore(t)
	s := demoOnScreen(t, dir)
	s.command(`new sh -c "echo second; exec cat"`)
	s.see("second")
	s.command("/resume demo")
	s.see("$ echo hello\nhello\n$")
	s.keys("echo more", "Enter")
	s.see("more\n$")
	s.keys("Enter")
	s.see("more\n$\n$")
	s.command("/rewind")
	s.see("/rewind needs the number of one of these turns\nholdfast>")
	if screen := s.text(); !strings.Contains(screen, " 1  ") || !strings.Contains(screen, " echo hello\n") || !strings.Contains(screen, " (no text)\n") {
		t.Errorf("the list of turns is %q", screen)
	}
	s.keys("/fork 99", "Enter")
	s.see("turns 1 to 3; /rewind lists them\nholdfast>")
	s.keys("/rewind 99", "Enter")
	s.see("> /rewind 99\nturn \"99\": no such turn; the log has turns 1 to 3; /rewind lists them\nholdfast>")
	s.keys("/rewind 2", "Enter")
	eventually(t, "the end of the session that was left", func() bool { return shown(t, dir, "demo").State == "stopped" })
	demo, first := shown(t, dir, "demo").ID[:8], shown(t, dir, "demo (copy)").ID[:8]
	told := "$ echo hello\nhello\n$\n[this is " + first + " demo (copy); /resume " + demo + " leads back]\n$"
	s.see(told)
	s.command("/fork")
	eventually(t, "the fork", func() bool { return hold(t, dir, "", "show", "demo (copy 2)").Status == 0 })
	second := shown(t, dir, "demo (copy 2)").ID[:8]
	s.see("\n[this is " + second + " demo (copy 2); /resume " + first + " leads back]\n$")

	s.command("/quit")
	s.see("Stop and leave? [y/N]")
	if screen := s.text(); strings.Count(screen, "  sh\n") != 2 || !strings.Contains(screen, "second") {
		t.Errorf("the question is about %q", screen)
	}
	s.keys("n", "Enter")
	s.see("Stop and leave? [y/N] n\nnothing was changed\nholdfast>")
	s.keys("/stop", "Enter")
	s.see("leaves\nholdfast>")
	s.keys("/quit", "Enter")
	s.see("Stop and leave? [y/N]")
	s.keys("y", "Enter")
	s.see("exit status 0")
	for id, name := range map[string]string{first: "demo (copy)", second: "demo (copy 2)"} {
		if line := "\n[" + name + " is stopped, with signal HUP; holdfast run --resume " + id + " goes on with it]\n"; !strings.Contains(s.text(), line) {
			t.Errorf("behind the end the screen has %q, want %q", s.text(), line)
		}
	}
	got := hold(t, dir, "", "ls", "--json").Stdout
	if strings.Count(got, `"state":"stopped"`) != 4 || strings.Contains(got, `"holder"`) {
		t.Errorf("afterwards: %s", got)
	}
}

// What a program that was killed left on the terminal is gone when its session
// goes on.
func TestAnotherRunBeginsOnAFreshScreen(t *testing.T) {
	dir := shortStore(t)
	s := onScreen(t, dir, "run", "--name", "demo", "--", "sh")
	s.see("$")
	s.keys("vim -u NONE -c 'set noswapfile' /etc/shells", "Enter")
	eventually(t, "the editor's screen", func() bool { return strings.HasPrefix(s.text(), "# /etc/shells") })
	s.killed()
	s = onScreen(t, dir, "run", "--resume", "demo")
	s.see("/etc/shells\n\n[the program was started again]\n$")
	s.keys("echo on it goes", "Enter")
	s.see("$ echo on it goes\non it goes\n$")
	if got := s.tmux("display-message", "-p", "#{alternate_on}"); got != "0\n" {
		t.Errorf("the alternate screen is on: %q", got)
	}
}

// Esc leads back to a program and does not leave holdfast where that has ended.
func TestEscLeavesNoSessionThatHasEnded(t *testing.T) {
	dir := shortStore(t)
	create(startServerProcess(t, "", dir).client(t), "it", "echo ready; exec cat")
	for name, args := range map[string][]string{"it": {"attach", "it"}, "own": {"run", "--name", "own", "--", "sh", "-c", "echo ready; exec cat"}} {
		m := holdfastOnTerminal(t, dir, args...)
		m.see("ready")
		id := shown(t, dir, name).ID[:8]
		m.press("\x1d")
		m.see("/help lists the commands, Esc leads back\r\n")
		for _, keys := range []string{"/stop\r", "\x1b", "\r", "\x1d", "/clear\r"} {
			m.press(keys)
			m.see("\r\n" + id + " " + name + " is stopped, with signal HUP; /resume ") // on a line of its own
			m.see("leaves\r\nholdfast> ")
		}
		m.press("/sessions\r")
		m.see(" sessions  \r\n")
		m.press("\x1b")
		m.see("leaves\r\nholdfast> ")
		m.press("/resume " + name + "\r")
		m.see("[the program was started again]\r\nready")
		m.press("\x1d")
		m.see("Esc leads back")
		if name == "own" { // one that ends beside a live one
			m.press("/new -- true\r")
			m.see("/help lists the commands\r\n\r\n")
			m.see(" is ended, with status 0; /resume ")
			m.see("holdfast> ")
			m.press("/resume own\r")
			m.see("ready")
			m.press("\x1d")
			m.see("holdfast> ")
		}
		m.press("/stop\r")
		m.see("leaves\r\nholdfast> ")
		m.press(map[string]string{"it": "\x04", "own": "\x03"}[name])
		if got := m.wait(); got != 0 {
			t.Errorf("%q ends with status %d, want 0", args, got)
		}
	}
}
