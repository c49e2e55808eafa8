package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"holdfast/leasefs"
	"holdfast/session"
)

// New starts a program in a new session of the store's server.
func New(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c := newCommand("new", `holdfast new [flags] [-- PROGRAM ARGUMENTS...]

Runs a program, or a shell, in a new session of the store's server, and prints the session's id. holdfast attach joins it.`).withJSON()
	var s session.Spec
	c.StringVar(&s.Name, "name", "", "a `name` for the session")
	c.StringVar(&s.Profile, "profile", "", "the `profile` that starts, resumes and forks it, such as shell or claude; a program is run instead of the profile's")
	c.StringVar(&s.Cwd, "cwd", "", "the `folder` where the program runs; else the current one")
	var err error
	if s.Argv, err = c.parseProgram(args, stdout); err != nil {
		return err
	}
	if !filepath.IsAbs(s.Cwd) {
		here, err := currentFolder()
		if err != nil {
			return err
		}
		s.Cwd = filepath.Join(here, s.Cwd)
	}
	server, err := c.openServer(ctx, "holdfast run runs a program in this terminal")
	if err != nil {
		return err
	}
	defer server.close()
	v, err := server.create(ctx, s)
	if err != nil {
		return spelled(ctx, server, s.Profile, err)
	}
	tellTwin(ctx, server, &v, stderr)
	return c.printID(stdout, &v)
}

// Start gives a session of the store's server its program back.
func Start(ctx context.Context, args []string, stdout, _ io.Writer) error {
	c := newCommand("start", `holdfast start ID [flags]

Starts the program of a session that has none again, on the store's server. What it prints follows in the same output.`).withJSON()
	words, err := c.parse(args, stdout, 1, 1)
	if err != nil {
		return err
	}
	server, err := c.openServer(ctx, "holdfast run --resume goes on in this terminal")
	if err != nil {
		return err
	}
	defer server.close()
	v, err := called(ctx, server, words[0])
	if err != nil {
		return err
	}
	started, err := server.start(ctx, v.ID)
	if err != nil {
		return joinable(words[0], err)
	}
	return c.printState(stdout, &started)
}

// Fork makes a copy of a session, which goes on by itself.
func Fork(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c := newCommand("fork", `holdfast fork ID [flags]

Makes a session that goes on from the output of another one, in a run of its own, and prints its id. The other is left alone.
Without a server the copy is made and no program is started: holdfast run --resume goes on in it.`).withJSON()
	var s session.ForkSpec
	c.Func("turn", "the `number` of a turn, from 1 on: copy what came before it; else all", func(v string) error {
		n, err := strconv.Atoi(v)
		if err != nil {
			return errors.New("turns have numbers, which holdfast show ID --turns lists")
		}
		s.Turn = &n
		return nil
	})
	c.StringVar(&s.Name, "name", "", "a `name` for the copy, else that of the session and (copy)")
	words, err := c.parse(args, stdout, 1, 1)
	if err != nil {
		return err
	}
	b, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer b.close()
	v, err := called(ctx, b, words[0])
	if err != nil {
		return err
	}
	var made session.View
	if here, ok := b.(local); ok {
		made, err = here.ctl.Copy(v.ID, s) // a program would end with this process
	} else {
		made, err = b.fork(ctx, v.ID, s)
	}
	if refuses(err, "turn") {
		return fmt.Errorf("%w; holdfast show %s --turns lists what was entered", err, commandText(words))
	}
	if err != nil {
		return Explain(words[0], err)
	}
	tellTwin(ctx, b, &made, stderr)
	return c.printID(stdout, &made)
}

// currentFolder is where a new program runs that is told no other place. Its
// user may have removed it.
func currentFolder() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("the current folder cannot be found: %w; go to another one", errors.Unwrap(err))
	}
	return dir, nil
}

// openServer returns the server of the store. Without one it says so, and what
// else there is.
func (c *command) openServer(ctx context.Context, otherwise string) (client, error) {
	h, err := c.open(ctx)
	if err != nil {
		return client{}, err
	}
	server, ok := h.(client)
	if !ok {
		h.close()
		return client{}, fmt.Errorf("no server on this host has the store, and a program needs one to stay; holdfast serve starts one, or %s", otherwise)
	}
	return server, nil
}

// printID prints a session that was made: what a script goes on with.
func (c *command) printID(stdout io.Writer, v *session.View) error {
	if c.json {
		return PrintJSON(stdout, v)
	}
	_, err := fmt.Fprintln(stdout, v.ID)
	return err
}

// printState prints what a command has made of a session.
func (c *command) printState(stdout io.Writer, v *session.View) error {
	if c.json {
		return PrintJSON(stdout, v)
	}
	_, err := fmt.Fprintf(stdout, "%s is %s\n", label(v), v.State)
	return err
}

// joinable adds to the refusal of a session that was called ref what can be
// done about it.
func joinable(ref string, err error) error {
	if e, ok := errors.AsType[*leasefs.HeldError](err); ok {
		return fmt.Errorf("%w; close it there, or join it with holdfast attach %s", e, commandText([]string{ref}))
	}
	return Explain(ref, err)
}
