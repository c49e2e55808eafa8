package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"holdfast/session"
)

// Rename gives a session another name.
func Rename(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c := newCommand("rename", `holdfast rename ID [--] NAME

Gives a session another name, also while its program runs. An empty NAME, "", takes its name away; one that begins
with a dash comes behind "--".`).withJSON()
	words, err := c.parse(args, stdout, 1, -1)
	if err != nil {
		return err
	}
	switch {
	case len(words) < 2:
		return Usage("rename needs a name too", `holdfast rename ID NAME, with "" for no name`)
	case len(words) > 2:
		meant := []string{"holdfast", "rename", words[0], strings.Join(words[1:], " ")}
		return Usage("rename needs a name that is one word of the command line", "did you mean: "+commandText(meant))
	}
	b, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer b.close()
	v, err := called(ctx, b, words[0])
	if err == nil {
		v, err = b.rename(ctx, v.ID, words[1])
	}
	if err != nil {
		return Explain(words[0], err)
	}
	tellTwin(ctx, b, &v, stderr)
	switch {
	case c.json:
		return PrintJSON(stdout, v)
	case v.Name == "":
		_, err = fmt.Fprintf(stdout, "%s has no name\n", v.ID)
	default:
		_, err = fmt.Fprintf(stdout, "%s is called %s\n", v.ID, Plain(v.Name))
	}
	return err
}

// tellTwin says that the name of v means another session too, so that commands
// refuse it.
func tellTwin(ctx context.Context, h host, v *session.View, stderr io.Writer) {
	if v.Name == "" {
		return
	}
	_, err := h.find(ctx, v.Name)
	if _, ok := errors.AsType[*session.AmbiguousError](err); ok {
		fmt.Fprintln(stderr, Fitting(stderr, fmt.Sprintf("holdfast: another session is called %s too; use ids, or holdfast rename", Plain(v.Name))))
	}
}
