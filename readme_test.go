//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"holdfast/cli"
)

// A step is a command of a transcript and what it prints.
type step struct {
	line    int // in the page
	command string
	want    string // "..." stands for anything in a line, or for any lines
}

// TestTheTranscriptsWork types the console blocks of pages into a shell, one
// after the other. Only the home folder, the port and the building are others.
func TestTheTranscriptsWork(t *testing.T) {
	t.Parallel()
	for _, page := range []string{"README.md", "docs/commands.md"} {
		t.Run(filepath.Base(page), func(t *testing.T) {
			addr := freeAddr(t)
			steps := transcript(strings.ReplaceAll(readPage(t, page), "127.0.0.1:7070", addr))
			if len(steps) == 0 {
				t.Fatal("there is no console block")
			}
			sh := startShell(t, addr)
			for _, s := range steps {
				s.command = strings.Replace(s.command, "holdfast serve ", "holdfast serve --listen "+addr+" ", 1)
				if !sh.run(s) {
					t.Fatalf("%s:%d: $ %s\nprinted:\n%s\nwant:\n%s", page, s.line, s.command, sh.printed(), s.want)
				}
			}
		})
	}
}

func TestEveryFlagIsDocumented(t *testing.T) {
	page := readPage(t, "docs/operations.md")
	for _, c := range commands() {
		if c.name != "serve" && c.name != "acp" {
			continue
		}
		for _, f := range cli.Flags(c.run) {
			row := "(?m)^\\| [^|]*`" + cli.FlagWord(f) + "[` ][^|]*\\| "
			if f.DefValue != "" && f.DefValue != "false" {
				row += "`" + regexp.QuoteMeta(f.DefValue) + "` \\|"
			}
			if !regexp.MustCompile(row).MatchString(page) {
				t.Errorf("docs/operations.md has no %s with its default %q", cli.FlagWord(f), f.DefValue)
			}
		}
	}
}

func TestEveryLogLineIsDocumented(t *testing.T) {
	page := readPage(t, "docs/operations.md")
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"session/*.go", "acp/*.go"} { // no other package logs
		below, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, below...)
	}
	call := regexp.MustCompile(`\b[lL]og\.(?:Debug|Info|Warn|Error)(?:Context)?\((?:[\w.()]+, )?"([^"]+)"(.*)`)
	key := regexp.MustCompile(`"([a-z_]+)", `)
	_, keys, _ := strings.Cut(page, "\nKeys: ")
	keys, _, _ = strings.Cut(keys, "\n\n")
	found := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, m := range call.FindAllStringSubmatch(readPage(t, file), -1) {
			found++
			if !strings.Contains(page, "`"+m[1]+"`") {
				t.Errorf("docs/operations.md does not explain %q of %s", m[1], file)
			}
			for _, k := range key.FindAllStringSubmatch(m[2], -1) {
				if !strings.Contains(keys, "`"+k[1]+"`") {
					t.Errorf("docs/operations.md does not have the key %q of %s", k[1], file)
				}
			}
		}
	}
	if found == 0 {
		t.Error("no log lines were found")
	}
}

// The flags of a command are in its help, which the page shows.
func TestEveryCommandIsDocumented(t *testing.T) {
	readme, page := readPage(t, "README.md"), readPage(t, "docs/commands.md")
	for _, c := range commands() {
		if !strings.Contains(readme, "| `holdfast "+c.name) {
			t.Errorf("README.md has no row for %s", c.name)
		}
		if !strings.Contains(page, "\n## holdfast "+c.name+"\n") {
			t.Errorf("docs/commands.md has no part for %s", c.name)
		}
		if c.name != "serve" && c.name != "help" && !strings.Contains(page, "$ holdfast "+c.name+" --help\n") {
			t.Errorf("docs/commands.md does not show the help of %s", c.name)
		}
	}
}

func freeAddr(t *testing.T) string {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// transcript returns the steps of all console blocks.
func transcript(page string) []step {
	var steps []step
	inside := false
	n := 0
	for text := range strings.Lines(page) {
		n++
		switch command, isCommand := strings.CutPrefix(text, "$ "); {
		case strings.HasPrefix(text, "```"):
			inside = text == "```console\n"
		case !inside:
		case isCommand:
			steps = append(steps, step{line: n, command: strings.TrimSpace(command)})
		default:
			steps[len(steps)-1].want += text
		}
	}
	return steps
}

// pattern matches what a step may print.
func (s step) pattern() *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`\A`)
	for line := range strings.Lines(s.want) {
		if line == "...\n" {
			b.WriteString(`(?s:.*)`)
			continue
		}
		b.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), regexp.QuoteMeta("..."), `.*`))
	}
	b.WriteString(`\z`)
	return regexp.MustCompile(b.String())
}

// reads reports whether the step only reads, so that doing it again does no
// harm.
func (s step) reads() bool {
	return strings.HasPrefix(s.command, "hf ") && !strings.Contains(s.command, " -d ") && !strings.Contains(s.command, " -X ")
}

// A shell is a bash whose output is read step by step.
type shell struct {
	t     *testing.T
	stdin io.Writer
	out   chan []byte // pieces of what it prints; closed at its end
	got   []byte      // printed since the last step began
	until time.Time   // for all steps
}

// stepMark is printed by the shell after each step.
const stepMark = "\x1e\n"

// startShell runs bash in an empty home, with a scripts/start that does not
// build. All it started is gone after the test.
func startShell(t *testing.T, addr string) *shell {
	t.Helper()
	home, err := os.MkdirTemp("", "home") // t.TempDir is too long for the path of a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	start := fmt.Sprintf("#!/bin/sh\nexec %s serve --listen %s \"$@\"\n", buildHoldfast(t), addr)
	if err := os.Mkdir(filepath.Join(home, "scripts"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "scripts", "start"), []byte(start), 0o700); err != nil {
		t.Fatal(err)
	}

	bash := exec.CommandContext(t.Context(), "bash", "--norc")
	bash.Dir = home
	bash.Env = []string{"HOME=" + home, "PATH=" + filepath.Dir(buildHoldfast(t)) + ":" + os.Getenv("PATH")}
	bash.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // one group with its server
	end := func() error { return syscall.Kill(-bash.Process.Pid, syscall.SIGTERM) }
	bash.Cancel = end
	stdin, err := bash.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	bash.Stdout, bash.Stderr = in, in
	if err := bash.Start(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	sh := &shell{t: t, stdin: stdin, out: make(chan []byte), until: time.Now().Add(3 * patience)}
	go sh.read(out)
	t.Cleanup(func() {
		stdin.Close()
		end()
		for range sh.out { // ends when the server has
		}
		bash.Wait()
	})
	return sh
}

// read ends when nobody can print any more.
func (sh *shell) read(out *os.File) {
	defer close(sh.out)
	defer out.Close()
	for {
		buf := make([]byte, 4<<10)
		n, err := out.Read(buf)
		sh.out <- buf[:n]
		if err != nil {
			return
		}
	}
}

// run runs a step and reports whether it printed what it should. A step in
// the background may print for a while, and a reading may come too early.
func (sh *shell) run(s step) bool {
	want := s.pattern()
	for {
		sh.got = nil
		fmt.Fprintf(sh.stdin, "%s\nprintf '\\036\\n'\n", s.command)
		if !sh.await(func() bool { return bytes.Contains(sh.got, []byte(stepMark)) }) {
			return false
		}
		matches := func() bool { return want.MatchString(sh.printed()) }
		if matches() || strings.HasSuffix(s.command, "&") && sh.await(matches) {
			return true
		}
		if !s.reads() || time.Now().After(sh.until) {
			return false
		}
	}
}

// await takes what the shell prints until done, or for too long.
func (sh *shell) await(done func() bool) bool {
	timeout := time.After(time.Until(sh.until))
	for !done() {
		select {
		case piece, ok := <-sh.out:
			if !ok {
				return false
			}
			sh.got = append(sh.got, piece...)
		case <-timeout:
			return false
		}
	}
	return true
}

// invisible is what a terminal does not show.
var invisible = regexp.MustCompile(`\r|\x1b\[[?0-9;]*[A-Za-z]`)

// printed is what a person sees of the step. Its last line is complete.
func (sh *shell) printed() string {
	text := strings.ReplaceAll(string(sh.got), stepMark, "")
	text = strings.TrimRight(invisible.ReplaceAllString(text, ""), "\n")
	if text == "" {
		return ""
	}
	return text + "\n"
}
