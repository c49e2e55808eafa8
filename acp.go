package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"holdfast/acp"
	"holdfast/cli"
	"holdfast/session"
	"holdfast/session/process"
	"holdfast/store"
)

// acpFlags is the command line of acp.
type acpFlags struct {
	store   string
	profile string
	quiet   time.Duration
	keep    byteSize
	level   slog.Level
	argv    []string
}

func parseACP(args []string, stdout io.Writer) (*acpFlags, error) {
	f := &acpFlags{keep: cli.KeepDefault}
	fs := flag.NewFlagSet("acp", flag.ContinueOnError)
	fs.StringVar(&f.store, "store", "", "the `folder` of the sessions; "+cli.StoreDefault)
	fs.StringVar(&f.profile, "profile", "", "the `name` of the profile of new sessions, instead of a program")
	fs.DurationVar(&f.quiet, "quiet", time.Second, "a program that prints nothing for this `time` has answered")
	fs.Var(&f.keep, "keep-output", "output to keep of a session, a `size` such as 1GiB; 0 keeps all")
	logLevel(fs, &f.level)
	const usage = `holdfast acp [flags] [-- program arguments...]

Lets an editor drive sessions: an agent of the Agent Client Protocol on standard input and output. New sessions run the program,
or the user's shell.`
	argv, err := cli.ParseFlags(fs, args, usage, stdout)
	if err != nil {
		return nil, err
	}
	f.argv = argv
	if f.store, err = cli.StoreDir(f.store); err != nil {
		return nil, err
	}
	switch {
	case f.quiet <= 0:
		return nil, cli.Usage(fmt.Sprintf("--quiet %s is no time to wait", f.quiet), "give one such as 500ms or 30s")
	case f.profile != "" && len(f.argv) > 0:
		return nil, cli.Usage("--profile and a program exclude each other", "give one of them")
	}
	return f, nil
}

// serveACP is an agent for one editor, until that closes standard input or ctx
// ends. Then the programs of its sessions end too.
func serveACP(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f, err := parseACP(args, stdout)
	if err != nil {
		return err
	}
	lines := newLogQueue(stderr) // an editor may not read it
	defer lines.close()
	log := slog.New(slog.NewTextHandler(lines, &slog.HandlerOptions{Level: f.level}))
	st, err := store.Open(f.store, store.Options{Boot: process.BootID(), Keep: int64(f.keep)})
	if err != nil {
		return err
	}
	ctl, err := session.Open(session.Config{Store: st, Front: "acp", Log: log})
	if err != nil {
		return err
	}
	defer ctl.Close()
	profiles, err := ctl.Profiles()
	if err != nil {
		return err
	}
	if _, ok := profiles[f.profile]; f.profile != "" && !ok {
		names := slices.Sorted(maps.Keys(profiles))
		return cli.Usage(fmt.Sprintf("there is no profile %.64q", f.profile),
			cli.DidYouMean(f.profile, names, "there are "+strings.Join(names, ", ")+", and profiles.json in the store adds more"))
	}
	err = acp.Serve(ctx, acp.Config{
		Sessions: ctl, Argv: f.argv, Profile: f.profile, Quiet: f.quiet, Version: version(), Log: log,
	}, os.Stdin, stdout)
	if err != nil {
		err = fmt.Errorf("the connection to the editor: %v", err) // whatever it was, it is no pipeline's end
	}
	return err
}
