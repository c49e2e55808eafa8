package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"holdfast/session"
)

// List prints the sessions of a store, the newest activity first.
func List(ctx context.Context, args []string, stdout, _ io.Writer) error {
	c := newCommand("ls", `holdfast ls [WORD] [flags]

Lists the sessions, the newest activity first: all of them, or those that have WORD in their id, name, profile, program or
folder. On a terminal, ids and programs are cut to its width. A session that was made from a profile shows its name.`).withJSON()
	var filter session.Filter
	c.StringVar(&filter.State, "state", "", "only sessions in this `state`: "+strings.Join(session.FilterStates, ", ")+" for the first three")
	ids := c.Bool("ids", false, "print ids alone, whole, one in a line")
	words, err := c.parse(args, stdout, 0, 1)
	if err != nil {
		return err
	}
	if len(words) > 0 {
		filter.Query = words[0]
	}
	if !filter.Valid() {
		return Usage(fmt.Sprintf("--state %.64q is no state", filter.State),
			DidYouMean(filter.State, session.FilterStates, "it is one of "+strings.Join(session.FilterStates, ", ")))
	}
	if *ids && c.json {
		return Usage("--ids and --json exclude each other", "give one of them")
	}
	b, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer b.close()
	views, err := b.list(ctx)
	if err != nil {
		return err
	}
	s := screenOf(stdout)
	short := idLength(s, views) // among all, or a command would not take it
	views = slices.DeleteFunc(views, func(v session.View) bool { return !filter.Match(&v) })
	switch {
	case c.json:
		return PrintJSON(stdout, map[string]any{"sessions": views})
	case *ids:
		return printIDs(stdout, views)
	}
	return printSessions(s, views, short, time.Now())
}

func printIDs(stdout io.Writer, views []session.View) error {
	var b strings.Builder
	for _, v := range views {
		b.WriteString(v.ID + "\n")
	}
	_, err := io.WriteString(stdout, b.String())
	return err
}

func printSessions(s screen, views []session.View, short int, now time.Time) error {
	t := table{{"ID", "NAME", "STATE", "ACTIVE", "COMMAND"}}
	for _, v := range views {
		t = append(t, []string{v.ID[:min(short, len(v.ID))], cmp.Or(Plain(v.Name), "-"), stateText(&v), ago(v.ActiveAt, now), programText(&v)})
	}
	return t.print(s, func(row, column int) string {
		if column == 2 {
			return stateColour(views[row-1].State)
		}
		return ""
	})
}

// idLength is how much of ids is shown: on a terminal what tells them apart,
// and a command takes.
func idLength(s screen, views []session.View) int {
	const whole = 36
	if s.width == 0 {
		return whole
	}
	for n := session.MinPrefix; n < whole; n++ {
		seen := make(map[string]bool)
		for _, v := range views {
			seen[v.ID[:min(n, len(v.ID))]] = true
		}
		if len(seen) == len(views) {
			return n
		}
	}
	return whole
}

// stateText is the state, and who has the session if that is not this store's
// server.
func stateText(v *session.View) string {
	if v.Holder == nil || v.Holder.PID == 0 {
		return v.State
	}
	return fmt.Sprintf("%s (pid %d)", v.State, v.Holder.PID)
}

func stateColour(state string) string {
	switch state {
	case "running", "idle":
		return "32" // green
	case "interrupted", "pending":
		return "33" // yellow
	case session.Unreadable:
		return "31" // red
	}
	return ""
}

// programText is what a session runs, in a few words: a profile by its name.
func programText(v *session.View) string {
	if v.Profile != "" {
		return Plain(v.Profile)
	}
	return commandText(v.Argv)
}

// commandText is a program and its arguments as a shell would take them, with
// escapes for what a terminal cannot show.
func commandText(argv []string) string {
	words := make([]string, len(argv))
	for i, a := range argv {
		words[i] = Plain(a)
		if a == "" || words[i] != a || strings.ContainsAny(a, " '\"\\$`&|;<>()*?[]#~!{}") {
			words[i] = "'" + strings.ReplaceAll(words[i], "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}
