// Command holdfast runs terminal programs in sessions that outlive the browser
// tab, the network and the server. README.md shows it at work.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"holdfast/cli"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == cli.GuardWord {
		cli.Guard()
		return
	}
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		signals = append(signals, syscall.SIGHUP)
	}
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, signals...)
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		sig := <-heard
		signal.Stop(heard) // the next signal ends the process at once
		cancel(cli.StatusOfSignal(sig))
	}()
	// Who reads our output may go away; that is an error of a write, no end.
	// Caught, not ignored: programs would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	os.Exit(report(os.Stderr, run(ctx, os.Args[1:], os.Stdout, os.Stderr)))
}

// A command is one word after "holdfast".
type command struct {
	name  string
	args  string // words that complete it: "", those of sessionWords, "COMMAND", "SHELL" or "PROGRAM", behind "--"
	short string // for the list of commands
	holds bool   // it has programs, which it ends in order whatever signal comes
	run   func(ctx context.Context, args []string, stdout, stderr io.Writer) error
}

func commands() []command {
	return []command{
		{"serve", "PROGRAM", "run the server: sessions over HTTP", true, serve},
		{"run", "PROGRAM", "run a program in a session on this terminal, without a server", true, cli.Run},
		{"new", "PROGRAM", "run a program in a new session of the server", false, cli.New},
		{"start", "PAST ID", "start the program of a session again, on the server", false, cli.Start},
		{"fork", "ID", "make a copy of a session, which goes on by itself", false, cli.Fork},
		{"attach", "LIVE ID", "join a session of the server in this terminal", false, cli.Attach},
		{"ls", "", "list the sessions", false, cli.List},
		{"show", "ID", "print what is known of a session", false, cli.Show},
		{"send", "LIVE ID", "type into a live session", false, cli.Send},
		{"wait", "LIVE ID", "wait for output, quiet or the end of a program", false, cli.Wait},
		{"rename", "ID", "give a session another name", false, cli.Rename},
		{"stop", "LIVE ID", "end the program of a session", false, cli.Stop},
		{"rm", "ID...", "remove sessions with their output", false, cli.Remove},
		{"export", "ID", "write what a session has printed", false, cli.Export},
		{"acp", "PROGRAM", "let an editor drive sessions, on standard input and output", true, serveACP},
		{"doctor", "", "look for damage in the store, and repair what is safe", false, cli.Doctor},
		{"completion", "SHELL", "print what makes a shell complete our commands", false, printCompletion},
		{"version", "", "print the version", false, printVersion},
		{"help", "COMMAND", "print this, or the help of a command", false, printHelp},
	}
}

// run is the program without its process: no exit, no global state.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		return cli.Usage("no command", "holdfast help lists them")
	}
	name := args[0]
	switch name {
	case "-h", "-help", "--help":
		name = "help"
	case "-v", "-version", "--version":
		name = "version"
	}
	all := commands()
	i := slices.IndexFunc(all, func(c command) bool { return c.name == name })
	if i < 0 {
		names := make([]string, len(all))
		for i, c := range all {
			names[i] = c.name
		}
		return cli.Usage(fmt.Sprintf("unknown command %q", name), cmp.Or(guessed(name), cli.DidYouMean(name, names, "holdfast help lists the commands")))
	}
	work := func() error { return all[i].run(ctx, args[1:], stdout, stderr) }
	if !all[i].holds {
		work = endingWith(ctx, work)
	}
	err := work()
	switch {
	case errors.Is(err, flag.ErrHelp): // and the help was printed
		return nil
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return context.Cause(ctx)
	case unread(err):
		return cli.StatusOfSignal(syscall.SIGPIPE)
	}
	return err
}

// unread reports whether standard output is a pipe that nobody reads any more:
// others do not hear of that, but die of SIGPIPE.
func unread(err error) bool {
	e, ok := errors.AsType[*fs.PathError](err)
	return ok && e.Path == os.Stdout.Name() && errors.Is(err, syscall.EPIPE)
}

// guessed says what does the work of a command that others have.
func guessed(name string) string {
	switch name {
	case "resume":
		return "holdfast start starts the program of a session again on the server, holdfast run --resume in this terminal"
	case "kill", "end", "terminate":
		return "holdfast stop ends the program of a session, holdfast rm removes the session too"
	case "delete", "remove":
		return "holdfast rm removes sessions"
	case "name", "mv":
		return "holdfast rename gives a session another name"
	case "turns", "history":
		return "holdfast show ID --turns lists what was entered in a session"
	case "logs", "log", "output":
		return "holdfast export --text prints what a session has printed, holdfast attach --read-only follows it"
	case "status", "info":
		return "holdfast show prints what is known of a session, holdfast ls lists them all"
	case "list", "ps", "sessions":
		return "holdfast ls lists the sessions"
	case "create":
		return "holdfast new makes a session of the server, holdfast run one in this terminal"
	case "detach":
		return "Ctrl-] and /detach leaves a session that runs on, as closing the terminal does"
	case "exec", "type", "input":
		return "holdfast send types into a session, holdfast new -- PROGRAM runs a program in a new one"
	case "inspect":
		return "holdfast show prints what is known of a session"
	case "watch", "follow", "tail":
		return "holdfast attach --read-only follows a session"
	case "rewind":
		return "holdfast fork --turn makes a copy that ends before a turn, holdfast show --turns lists them"
	case "switch":
		return "holdfast attach joins another session; Ctrl-] and /switch gives a session another profile"
	}
	return ""
}

// tidyGrace is how long a command may tidy up after a signal.
const tidyGrace = time.Second

// endingWith makes work that returns soon after ctx ends, also from a read or
// write that nobody answers: such work is left behind.
func endingWith(ctx context.Context, work func() error) func() error {
	return func() error {
		done := make(chan error, 1)
		go func() { done <- work() }()
		select {
		case err := <-done:
			return err
		case <-ctx.Done():
		}
		select {
		case err := <-done:
			return err
		case <-time.After(tidyGrace):
			return context.Cause(ctx)
		}
	}
}

// report prints why the program ends, in one line, and returns its exit
// status: 2 for a wrong command line, 1 for anything else that went wrong.
func report(stderr io.Writer, err error) int {
	if err == nil {
		return 0
	}
	if status, ok := errors.AsType[cli.ExitStatus](err); ok {
		return int(status)
	}
	fmt.Fprintln(stderr, cli.Fitting(stderr, "holdfast: "+cli.Plain(err.Error())))
	if _, ok := errors.AsType[*cli.UsageError](err); ok {
		return 2
	}
	return 1
}

func printHelp(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	fs := flag.NewFlagSet("help", flag.ContinueOnError)
	man := fs.Bool("man", false, "print the manual page, for man -l")
	words, err := cli.ParseWords(fs, args, "holdfast help [COMMAND]\n       holdfast help --man\n\nLists the commands, or prints the help of one, or the manual page of all.", stdout)
	if err != nil {
		return err
	}
	if len(words) == 1 && !*man {
		return run(ctx, []string{words[0], "--help"}, stdout, stderr)
	}
	if len(words) > 0 {
		return cli.Usage(fmt.Sprintf("help has no argument %.64q", words[len(words)-1]), "holdfast help --help lists the flags")
	}
	if *man {
		return printMan(ctx, stdout)
	}
	var b strings.Builder
	b.WriteString("holdfast runs terminal programs in sessions that outlive the tab, the network and the server.\n\nusage: holdfast COMMAND [flags]\n\n")
	for _, c := range commands() {
		fmt.Fprintf(&b, "  %-10s %s\n", c.name, c.short)
	}
	b.WriteString("\nholdfast COMMAND --help has the flags of a command.\n")
	_, err = io.WriteString(stdout, cli.Prose(stdout, b.String()))
	return err
}

func printVersion(_ context.Context, args []string, stdout, _ io.Writer) error {
	fs := flag.NewFlagSet("version", flag.ContinueOnError)
	asJSON := fs.Bool("json", false, "print a JSON object")
	words, err := cli.ParseWords(fs, args, "holdfast version [flags]\n\nPrints the version, and what it was built with.", stdout)
	if err != nil {
		return err
	}
	if len(words) > 0 {
		return cli.Usage(fmt.Sprintf("version has no argument %.64q", words[0]), "usage: holdfast version [flags]")
	}
	if *asJSON {
		return cli.PrintJSON(stdout, map[string]string{"version": version(), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH})
	}
	_, err = fmt.Fprintf(stdout, "holdfast %s (%s, %s/%s)\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// release is the version that scripts/build builds.
var release string

// version is a release, or what the toolchain knows of the source: a tag or a
// revision.
func version() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
