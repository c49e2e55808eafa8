package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"holdfast/cli"
)

// unrunnable are command lines, and what is said of them.
var unrunnable = []struct {
	args string
	want string
}{
	{"", "holdfast: no command; holdfast help lists them\n"},
	{"sevre", "holdfast: unknown command \"sevre\"; did you mean \"serve\"?\n"},
	{"vesion", "holdfast: unknown command \"vesion\"; did you mean \"version\"?\n"},
	{"frobnicate", "holdfast: unknown command \"frobnicate\"; holdfast help lists the commands\n"},
	{"--store x serve", "holdfast: unknown command \"--store\"; holdfast help lists the commands\n"},
	{"help me", "holdfast: unknown command \"me\"; holdfast help lists the commands\n"},
	{"help ls show", "holdfast: help has no argument \"show\"; holdfast help --help lists the flags\n"},
	{"version 2", "holdfast: version has no argument \"2\"; usage: holdfast version [flags]\n"},
	{"serve --lisen :1", "holdfast: unknown flag \"--lisen\"; did you mean \"--listen\"?\n"},
	{"serve -alow-host x", "holdfast: unknown flag \"-alow-host\"; did you mean \"--allow-host\"?\n"},
	{"serve --frobnicate", "holdfast: unknown flag \"--frobnicate\"; holdfast serve --help lists the flags\n"},
	{"serve --listen", "holdfast: --listen needs a value; holdfast serve --help lists the flags\n"},
	{"export x -o", "holdfast: -o needs a value; holdfast export --help lists the flags\n"},
	{"-x", "holdfast: unknown command \"-x\"; holdfast help lists the commands\n"},
	{"completion", "holdfast: completion needs one of bash, zsh and fish; holdfast completion --help says where its output goes\n"},
	{"completion tcsh", "holdfast: completion needs one of bash, zsh and fish; holdfast completion --help says where its output goes\n"},
	{"serve --listen 127.0.0.1", "holdfast: --listen \"127.0.0.1\": address 127.0.0.1: missing port in address; it must be like 127.0.0.1:7070\n"},
	{"serve --listen 0.0.0.0:7070", "holdfast: --listen 0.0.0.0:7070 can be reached from other machines, and anyone who reads the traffic can run programs; " +
		"give --tls-cert and --tls-key, or --insecure-http if something else encrypts it\n"},
	{"serve --listen :7070", "holdfast: --listen :7070 can be reached from other machines, and anyone who reads the traffic can run programs; " +
		"give --tls-cert and --tls-key, or --insecure-http if something else encrypts it\n"},
	{"serve --tls-cert x", "holdfast: --tls-cert and --tls-key belong together; give both\n"},
	{"serve --resume x -- bash", "holdfast: --resume and a program exclude each other; give one of them\n"},
	{"serve --continue -- bash", "holdfast: --continue and a program exclude each other; give one of them\n"},
	{"serve --continue --resume x", "holdfast: --continue and --resume exclude each other; give one of them\n"},
	{"serve --idle-after 0s", "holdfast: --idle-after 0s is not a time to wait; give one such as 30s\n"},
	{"serve --keep-output lots", "holdfast: invalid value \"lots\" for flag --keep-output: must be a size such as 500MiB or 2GiB; holdfast serve --help lists the flags\n"},
	{"acp --quiet 0s", "holdfast: --quiet 0s is no time to wait; give one such as 500ms or 30s\n"},
	{"acp bash", "holdfast: acp has no argument \"bash\"; did you mean: holdfast acp -- bash\n"},
	{"serve bash", "holdfast: serve has no argument \"bash\"; did you mean: holdfast serve -- bash\n"},
	{"run --name x ls -la $HOME/*", "holdfast: run has no argument \"ls\"; did you mean: holdfast run --name x -- ls -la '$HOME/*'\n"},
	{"run bash --help", "holdfast: run has no argument \"bash\"; did you mean: holdfast run -- bash --help\n"},
	{"run x -- bash", "holdfast: run has no argument \"x\"; usage: holdfast run [flags] [-- PROGRAM ARGUMENTS...]\n"},
	{"acp --profile shell -- bash", "holdfast: --profile and a program exclude each other; give one of them\n"},
	{"acp --profile nonesuch", "holdfast: there is no profile \"nonesuch\"; there are claude, codex, gemini, opencode, shell, and profiles.json in the store adds more\n"},
	{"acp --profile claud", "holdfast: there is no profile \"claud\"; did you mean \"claude\"?\n"},
	{"foo", "holdfast: unknown command \"foo\"; holdfast help lists the commands\n"},
	{"LS", "holdfast: unknown command \"LS\"; did you mean \"ls\"?\n"},
	{"shwo x", "holdfast: unknown command \"shwo\"; did you mean \"show\"?\n"},
	{"resume x", "holdfast: unknown command \"resume\"; holdfast start starts the program of a session again on the server, holdfast run --resume in this terminal\n"},
	{"kill x", "holdfast: unknown command \"kill\"; holdfast stop ends the program of a session, holdfast rm removes the session too\n"},
	{"delete x", "holdfast: unknown command \"delete\"; holdfast rm removes sessions\n"},
	{"mv x y", "holdfast: unknown command \"mv\"; holdfast rename gives a session another name\n"},
	{"rename x", "holdfast: rename needs a name too; holdfast rename ID NAME, with \"\" for no name\n"},
	{"turns x", "holdfast: unknown command \"turns\"; holdfast show ID --turns lists what was entered in a session\n"},
	{"logs x", "holdfast: unknown command \"logs\"; holdfast export --text prints what a session has printed, holdfast attach --read-only follows it\n"},
	{"status", "holdfast: unknown command \"status\"; holdfast show prints what is known of a session, holdfast ls lists them all\n"},
	{"list", "holdfast: unknown command \"list\"; holdfast ls lists the sessions\n"},
	{"create", "holdfast: unknown command \"create\"; holdfast new makes a session of the server, holdfast run one in this terminal\n"},
	{"detach", "holdfast: unknown command \"detach\"; Ctrl-] and /detach leaves a session that runs on, as closing the terminal does\n"},
	{"exec x ls", "holdfast: unknown command \"exec\"; holdfast send types into a session, holdfast new -- PROGRAM runs a program in a new one\n"},
	{"inspect x", "holdfast: unknown command \"inspect\"; holdfast show prints what is known of a session\n"},
	{"watch x", "holdfast: unknown command \"watch\"; holdfast attach --read-only follows a session\n"},
	{"rewind x 1", "holdfast: unknown command \"rewind\"; holdfast fork --turn makes a copy that ends before a turn, holdfast show --turns lists them\n"},
	{"switch x", "holdfast: unknown command \"switch\"; holdfast attach joins another session; Ctrl-] and /switch gives a session another profile\n"},
	{"sned x y", "holdfast: unknown command \"sned\"; did you mean \"send\"?\n"},
	{"serve --listen 7172", "holdfast: --listen \"7172\" has no address; did you mean 127.0.0.1:7172?\n"},
	{"serve --listen :x", "holdfast: --listen \":x\": lookup tcp/x: unknown port; it must be like 127.0.0.1:7070\n"},
	{"ls --ids --json", "holdfast: --ids and --json exclude each other; give one of them\n"},
	{"ls --json=maybe", "holdfast: --json \"maybe\" is neither true nor false; give the flag alone\n"},
	{"export --raw a --json -o -", "holdfast: export --json needs -o; standard output has what the session printed; give a file for that\n"},
	{"ls x y", "holdfast: ls has no argument \"y\"; usage: holdfast ls [WORD] [flags]\n"},
	{"ls --state runing", "holdfast: --state \"runing\" is no state; did you mean \"running\"?\n"},
	{"ls --state zzzzzzzzz", "holdfast: --state \"zzzzzzzzz\" is no state; it is one of pending, running, idle, stopped, ended, interrupted, unreadable, live\n"},
	{"ls --jsno", "holdfast: unknown flag \"--jsno\"; did you mean \"--json\"?\n"},
	{"show", "holdfast: show needs a session; holdfast ls lists them\n"},
	{"show a b", "holdfast: show has no argument \"b\"; usage: holdfast show ID [flags]\n"},
	{"send --enter", "holdfast: send needs a session; holdfast ls lists them\n"},
	{"send a -x", "holdfast: unknown flag \"-x\"; did you mean: holdfast send a -- -x\n"},
	{"send a b -x y --enter", "holdfast: unknown flag \"-x\"; did you mean: holdfast send a b --enter -- -x y\n"},
	{"send a --entr x", "holdfast: unknown flag \"--entr\"; did you mean \"--enter\"?\n"},
	{"send -x a", "holdfast: unknown flag \"-x\"; holdfast send --help lists the flags\n"},
	{"show a -x", "holdfast: unknown flag \"-x\"; holdfast show --help lists the flags\n"},
	{"rename a -x", "holdfast: unknown flag \"-x\"; did you mean: holdfast rename a -- -x\n"},
	{"rename a b c", "holdfast: rename needs a name that is one word of the command line; did you mean: holdfast rename a 'b c'\n"},
	{"send a --x=1", "holdfast: unknown flag \"--x\"; did you mean: holdfast send a -- --x=1\n"},
	{"new cat", "holdfast: new has no argument \"cat\"; did you mean: holdfast new -- cat\n"},
	{"start", "holdfast: start needs a session; holdfast ls lists them\n"},
	{"fork", "holdfast: fork needs a session; holdfast ls lists them\n"},
	{"fork a --turn x", "holdfast: invalid value \"x\" for flag --turn: turns have numbers, which holdfast show ID --turns lists; holdfast fork --help lists the flags\n"},
	{"wait a --timeout 5", "holdfast: --timeout \"5\" has no unit; did you mean 5s?\n"},
	{"serve --idle-after .5", "holdfast: --idle-after \".5\" has no unit; did you mean .5s?\n"},
	{"wait a --quiet soon", "holdfast: --quiet \"soon\" is no time; give one such as 500ms or 30s\n"},
	{"wait a --for exit,dinner", "holdfast: --for is \"exit,dinner\"; it is a list of exit, idle, quiet and match\n"},
	{"wait a --for match", "holdfast: --for is \"match\"; give the regular expression (RE2) too, as match\n"},
	{"wait a --for exit --match x", "holdfast: --match is \"x\"; what is waited for has no match in it: add match to that list (exit), or leave the list out\n"},
	{"wait --match ( a", "holdfast: --match is \"(\"; it must be a regular expression (RE2): error parsing regexp: missing closing ): `(`\n"},
	{"wait a --timeout 2h", "holdfast: --timeout 2h0m0s is no time to wait; give one such as 500ms or 30s, 1h at most\n"},
	{"wait a --quiet 0s", "holdfast: --quiet 0s is no time to wait; give one such as 500ms or 30s, 1h at most\n"},
	{"wait a --from x", "holdfast: --from \"x\" is no place in the output; give an offset in bytes, or -N for the last N\n"},
	{"rm", "holdfast: rm needs a session; holdfast ls lists them\n"},
	{"stop a --json b", "holdfast: stop has no argument \"b\"; usage: holdfast stop ID [flags]\n"},
	{"export a", "holdfast: export needs one of --cast, --text and --raw; holdfast export --help tells them apart\n"},
	{"export --raw a --json", "holdfast: export --json needs -o; standard output has what the session printed; give a file for that\n"},
	{"export --raw a --text", "holdfast: export needs one of --cast, --text and --raw; holdfast export --help tells them apart\n"},
}

func TestCommandLinesThatCannotBeRun(t *testing.T) {
	t.Setenv("HOLDFAST_STORE", t.TempDir())
	for _, tt := range unrunnable {
		var stdout, stderr bytes.Buffer
		status := report(&stderr, run(t.Context(), strings.Fields(tt.args), &stdout, &stderr))
		if status != 2 || stderr.String() != tt.want || stdout.Len() > 0 {
			t.Errorf("holdfast %s: status %d, stderr %q, stdout %q; want 2 and %q", tt.args, status, &stderr, &stdout, tt.want)
		}
	}
}

// A mistyped --store is told, and not made.
func TestNoStoreIsMadeForWhatNeedsOne(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "x")
	t.Setenv("HOLDFAST_STORE", dir)
	hint := map[bool]string{false: "holdfast serve and holdfast run make one", true: "without --resume and --continue one is made"}
	for _, args := range []string{
		"ls", "show a", "new -- cat", "start a", "fork a", "attach", "send a b", "wait a", "rename a b", "stop a", "rm a", "export a --raw", "doctor", "run --resume a", "run --continue", "run --continue --copy", "serve --listen 127.0.0.1:0 --resume a", "serve --listen 127.0.0.1:0 --continue",
	} {
		goesOn := strings.Contains(args, "--resume") || strings.Contains(args, "--continue")
		want := fmt.Sprintf("holdfast: there is no store in %q yet; %s, or give another --store\n", dir, hint[goesOn])
		var stdout, stderr bytes.Buffer
		status := report(&stderr, run(t.Context(), strings.Fields(args), &stdout, &stderr))
		if status != 1 || stderr.String() != want || stdout.Len() > 0 {
			t.Errorf("holdfast %s: status %d, stderr %q, stdout %q; want 1 and %q", args, status, &stderr, &stdout, want)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Fatalf("holdfast %s has made a store", args)
		}
	}
}

func TestExitStatus(t *testing.T) {
	for err, want := range map[error]int{nil: 0, errors.New("x"): 1, cli.Usage("x", "y"): 2} {
		if got := report(io.Discard, err); got != want {
			t.Errorf("status of %v = %d, want %d", err, got, want)
		}
	}
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"help"}, {"--help"}, {"-h"}} {
		var out bytes.Buffer
		if err := run(t.Context(), args, &out, io.Discard); err != nil {
			t.Errorf("%q: %v", args, err)
		}
		for _, c := range commands() {
			if !strings.Contains(out.String(), c.name) {
				t.Errorf("%q does not name %q", args, c.name)
			}
		}
	}
	var out bytes.Buffer
	if err := run(t.Context(), []string{"serve", "--help"}, &out, io.Discard); err != nil {
		t.Errorf("serve --help: %v", err)
	}
	for _, name := range []string{"usage: holdfast serve [flags] [-- program arguments...]", "-store", "-allow-host", "-keep-output", "256MiB"} {
		if !strings.Contains(out.String(), name) {
			t.Errorf("serve --help has no %q:\n%s", name, &out)
		}
	}
}

func TestHelpOfACommand(t *testing.T) {
	for _, c := range commands() {
		var want, got bytes.Buffer
		if err := run(t.Context(), []string{c.name, "--help"}, &want, io.Discard); err != nil {
			t.Errorf("%s --help: %v", c.name, err)
		}
		if err := run(t.Context(), []string{"help", c.name}, &got, io.Discard); err != nil || got.String() != want.String() {
			t.Errorf("help %s prints %q, %v; want what %s --help does", c.name, &got, err, c.name)
		}
		for line := range strings.Lines(got.String()) {
			if len(line) > len("\n")+80 {
				t.Errorf("help %s has a line of %d characters: %s", c.name, len(line)-len("\n"), line)
			}
		}
	}
}

// A fullDisk takes nothing.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestHelpThatCannotBePrinted(t *testing.T) {
	lines := [][]string{{"help"}, {"help", "--man"}}
	for _, c := range commands() {
		lines = append(lines, []string{c.name, "--help"})
	}
	for _, args := range lines {
		if err := run(t.Context(), args, fullDisk{}, io.Discard); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%q onto a full disk: %v, want ENOSPC", args, err)
		}
	}
}

func TestVersion(t *testing.T) {
	for _, args := range [][]string{{"version"}, {"--version"}, {"-v"}} {
		var out bytes.Buffer
		if err := run(t.Context(), args, &out, io.Discard); err != nil || !strings.HasPrefix(out.String(), "holdfast "+version()+" (go") {
			t.Errorf("%q prints %q, %v", args, &out, err)
		}
	}
}

func TestSizes(t *testing.T) {
	for in, want := range map[string]byteSize{
		"0": 0, "1": 1, "4096": 4096, "1K": 1 << 10, "1KiB": 1 << 10, "256MiB": 256 << 20, "2G": 2 << 30, "1TiB": 1 << 40,
	} {
		var got byteSize
		if err := got.Set(in); err != nil || got != want {
			t.Errorf("size %q = %d, %v; want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"", "x", "-1", "1.5G", "MiB", "1MB", "9999999999T", "1 G"} {
		var got byteSize
		if err := got.Set(in); err == nil {
			t.Errorf("size %q = %d, want an error", in, got)
		}
	}
	for want, size := range map[string]byteSize{"0": 0, "1023": 1023, "1KiB": 1 << 10, "256MiB": 256 << 20, "2048GiB": 2 << 40} {
		if got := size.String(); got != want {
			t.Errorf("String of %d = %q, want %q", int64(size), got, want)
		}
	}
}
