package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// unheard runs a command whose standard output is a pipe that nobody reads.
func unheard(t *testing.T, dir, stdin string, args ...string) said {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	r.Close()
	c := exec.CommandContext(t.Context(), buildHoldfast(t), args...)
	c.Env = append(os.Environ(), "HOLDFAST_STORE="+dir)
	c.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	c.Stdout, c.Stderr = w, &stderr
	if err := c.Run(); c.ProcessState == nil {
		t.Fatalf("holdfast %q: %v", args, err)
	}
	return said{c.ProcessState.ExitCode(), "", stderr.String()}
}

// holdfast export X --text | head -n 1 is no failure that anybody wants to hear
// of.
func TestCommandsWhoseOutputNobodyReadsEndAsOthersDo(t *testing.T) {
	dir := shortStore(t)
	hold(t, dir, "", "run", "--name", "it", "--", "seq", "1000")
	lines := []string{
		"export it --raw", "export it --text", "export it --cast", "export it --raw -o -", "export it --raw -o /dev/stdout",
		"ls", "ls --json", "ls --ids", "show it", "show it --turns", "rename it it", "show it --json", "wait it --from 0", "stop it", "fork it", "doctor", "completion bash",
		"completion words l", "version", "help", "help --man", "help ls", "acp --help", "run -- seq 1000", "rm it",
	}
	for _, line := range lines {
		if got := unheard(t, dir, "", strings.Fields(line)...); got != (said{Status: 128 + int(syscall.SIGPIPE)}) {
			t.Errorf("holdfast %s = %+v, want status 141 without a word", line, got)
		}
	}
	if got := unheard(t, dir, "{}\n{}\n", "acp"); got.Status != 1 || !strings.Contains(got.Stderr, "holdfast: the connection to the editor: ") {
		t.Errorf("acp whose editor is gone = %+v, want status 1 and why", got)
	}
}

// On a terminal, messages and help break at words.
func TestMessagesAndHelpFitTheTerminal(t *testing.T) {
	dir := shortStore(t)
	hold(t, dir, "", "run", "--name", "it", "--", "true")
	for _, args := range [][]string{{"send", "it", "x"}, {"send", "--help"}} {
		m := holdfastOnTerminal(t, dir, args...)
		m.wait()
		whole := hold(t, dir, "", args...)
		want := strings.Join(strings.Fields(whole.Stdout+whole.Stderr), " ")
		m.until(want, func() bool { return strings.Join(strings.Fields(m.out.String()), " ") == want })
		widest := 0
		for line := range strings.Lines(m.out.String()) {
			widest = max(widest, len(strings.TrimRight(line, "\r\n")))
		}
		if widest > 100 || widest < 85 {
			t.Errorf("holdfast %q takes %d of 100 columns:\n%s", args, widest, m.out.String())
		}
	}
}
