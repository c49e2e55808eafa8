package cli

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"

	"holdfast/leasefs"
	"holdfast/session"
	"holdfast/session/process"
	"holdfast/store"
)

// A runCommand is the command line of run.
type runCommand struct {
	store   string
	resume  string
	latest  bool
	copy    bool
	name    string
	profile string
	argv    []string
}

// Run runs a program in a session of this process, on this terminal, until it
// ends. The error is its ExitStatus.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	r, err := parseRun(args, stdout)
	if err != nil {
		return err
	}
	st, err := store.Open(r.store, store.Options{Boot: process.BootID(), Keep: KeepDefault})
	if err != nil {
		return err
	}
	ctl, err := session.Open(session.Config{Store: st, Front: "run"})
	if err != nil {
		return err
	}
	defer ctl.Close()
	f := newFront(ctx, local{ctl}, holds)
	start, err := r.begin(ctx, ctl, f)
	if err != nil {
		return spelled(ctx, f.h, r.profile, err)
	}
	if r.name != "" && isTerminal(stderr) {
		tellTwin(ctx, local{ctl}, &f.view, stderr)
	}
	f.at = session.FromOffset(start)
	err = f.run(ctx, start > 0) // a pipe wants this run alone
	if f.tty.stuck.Load() {
		return err
	}
	for _, v := range f.ended {
		fmt.Fprintln(stderr, Fitting(stderr, fmt.Sprintf("[%s is %s; holdfast run --resume %s goes on with it]", cmp.Or(Plain(v.Name), shortID(&v)), endText(&v), shortID(&v))))
	}
	return err
}

func parseRun(args []string, stdout io.Writer) (*runCommand, error) {
	r := new(runCommand)
	fs := flag.NewFlagSet("run", flag.ContinueOnError)
	fs.StringVar(&r.store, "store", "", "the `folder` of the sessions; "+StoreDefault)
	fs.StringVar(&r.resume, "resume", "", "a `session` to go on with: an id, the first 8 or more characters of one, or a name")
	fs.BoolVar(&r.latest, "continue", false, "go on with the newest session that nobody has, of this folder or else of all; with --copy of any")
	fs.BoolVar(&r.copy, "copy", false, "go on in a copy of that session; it stays as it is, also while somebody else has it")
	fs.StringVar(&r.name, "name", "", "a `name` for the new session")
	fs.StringVar(&r.profile, "profile", "", "the `profile` of a new session, such as shell or claude; a program is run instead of the profile's")
	var err error
	r.argv, err = ParseFlags(fs, args, `holdfast run [flags] [-- PROGRAM ARGUMENTS...]

Runs a program, or a shell, in a session on this terminal, without a server. The exit status is the program's, 128+n if signal
n ended it. Ctrl-] opens a command line. Another process cannot write the session meanwhile; it can be watched.`, stdout)
	if err != nil {
		return nil, err
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	r.store, err = StoreDir(r.store)
	if err == nil && (r.resume != "" || r.latest) {
		err = CheckStore(r.store, NothingToResume)
	}
	return r, err
}

// check refuses what contradicts itself.
func (r *runCommand) check() error {
	target := r.resume != "" || r.latest
	switch {
	case r.resume != "" && r.latest:
		return Usage("--resume and --continue exclude each other", "give one of them")
	case r.copy && !target:
		return Usage("--copy needs a session to copy", "give --resume or --continue")
	case target && !r.copy && len(r.argv) > 0:
		return Usage("a session that goes on has its program already", "give a program without --resume and --continue, or with --copy")
	case target && !r.copy && r.profile != "":
		return Usage("a session that goes on has its profile already", "give --profile without --resume and --continue, or with --copy")
	case target && !r.copy && r.name != "":
		return Usage("a session that goes on has its name already", "give --name without --resume and --continue, or with --copy")
	}
	return nil
}

// begin starts the session that the command line asks for. It returns where
// its output begins in the log.
func (r *runCommand) begin(ctx context.Context, ctl *session.Controller, f *front) (start int64, err error) {
	if r.resume == "" && !r.latest {
		s := session.Spec{Argv: r.argv, Name: r.name, Profile: r.profile}
		if cols, rows := f.tty.size(); cols > 0 {
			s.Cols, s.Rows = &cols, &rows
		}
		f.view, err = ctl.New(s)
		return 0, err
	}
	old, err := r.target(ctx, ctl)
	if err != nil {
		return 0, err
	}
	start = old.Cursor
	if r.copy {
		f.view, err = ctl.Fork(old.ID, session.ForkSpec{Argv: r.argv, Profile: r.profile, Name: r.name}, true)
		if err == nil {
			start = *f.view.ForkedAt
		}
	} else {
		f.view, err = ctl.Resume(old.ID)
	}
	if e, ok := errors.AsType[*leasefs.HeldError](err); ok {
		chosen := ""
		if r.latest {
			chosen = cmp.Or(old.Name, old.ID) + ": "
		}
		return 0, fmt.Errorf("%s%w; close it there, join it with holdfast attach %s, or add --copy to go on in a copy", chosen, e, old.ID)
	}
	return start, Explain(old.ID, err)
}

// target is the session that the command line means.
func (r *runCommand) target(ctx context.Context, ctl *session.Controller) (session.View, error) {
	if r.resume != "" {
		return Called(ctx, ctl, r.resume)
	}
	views, err := ctl.List(session.Filter{})
	if err != nil {
		return session.View{}, err
	}
	here, err := currentFolder()
	if err != nil {
		return session.View{}, err
	}
	v, ok := session.Newest(views, here, r.copy)
	if !ok {
		return v, errors.New("there is no session to go on with; holdfast run starts one")
	}
	return v, nil
}

// KeepDefault is how many bytes of output are kept of a session.
const KeepDefault = 256 << 20
