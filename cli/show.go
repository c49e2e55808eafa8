package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"holdfast/session"
)

// Show prints what is known of one session.
func Show(ctx context.Context, args []string, stdout, _ io.Writer) error {
	c := newCommand("show", `holdfast show ID [flags]

Prints what is known of a session. ID is an id, the first 8 or more characters of one, or a name. On a terminal, long lines
go on below, and what was entered is cut.`).withJSON()
	turns := c.Bool("turns", false, "list what was entered instead: for each input that ended in Enter its number, when it was, how long the output was before it, and its beginning")
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
	if *turns {
		return c.showTurns(ctx, b, words[0], v.ID, stdout)
	}
	if c.json {
		return PrintJSON(stdout, v)
	}
	return printSession(screenOf(stdout), &v, time.Now())
}

// showTurns prints the turns of the session with an id, which was called ref.
func (c *command) showTurns(ctx context.Context, h host, ref, id string, stdout io.Writer) error {
	turns, err := h.turns(ctx, id)
	if err != nil {
		return Explain(ref, err)
	}
	if c.json {
		return PrintJSON(stdout, map[string]any{"turns": turns})
	}
	t := table{{"TURN", "TIME", "OFFSET", "INPUT"}}
	now := time.Now()
	for _, turn := range turns {
		t = append(t, []string{strconv.Itoa(turn.Turn), ago(&turn.Time, now), strconv.FormatInt(turn.At, 10), cmp.Or(Plain(turn.Preview), "(no text)")})
	}
	return t.print(screenOf(stdout), func(int, int) string { return "" })
}

func printSession(s screen, v *session.View, now time.Time) error {
	for _, line := range [][2]string{
		{"id", v.ID},
		{"name", v.Name},
		{"state", v.State},
		{"cause", v.Cause},
		{"reason", v.Reason},
		{"holder", holderText(v)},
		{"command", commandText(v.Argv)},
		{"folder", v.Cwd},
		{"profile", v.Profile},
		{"parent", v.Parent},
		{"created", when(v.CreatedAt, now)},
		{"started", when(v.StartedAt, now)},
		{"active", when(v.ActiveAt, now)},
		{"ended", when(v.EndedAt, now)},
		{"exit", exitText(v)},
		{"pid", number(int64(v.PID))},
		{"size", sizeText(v)},
		{"output", fmt.Sprintf("%d to %d", v.Oldest, v.Cursor)},
		{"turns", strconv.Itoa(v.Turns)},
		{"runs", strconv.Itoa(v.Runs)},
		{"restart", restartText(v)},
		{"storage", v.StorageError},
		{"problem", v.Problem},
	} {
		if line[1] == "" {
			continue
		}
		label, colour := line[0], ""
		if label == "state" && s.colour {
			colour = stateColour(v.State)
		}
		for _, text := range wrap(Plain(line[1]), s.width-showLabel-1) {
			text = strings.TrimRight(text, " ")
			if colour != "" {
				text = "\x1b[" + colour + "m" + text + "\x1b[0m"
			}
			if _, err := fmt.Fprintf(s, "%-*s %s\n", showLabel, label, text); err != nil {
				return err
			}
			label = ""
		}
	}
	return nil
}

// showLabel is how many cells the labels take.
const showLabel = 8

func holderText(v *session.View) string {
	if v.Holder == nil {
		return ""
	}
	return heldBy(v.Holder).By()
}

// restartText says what makes an interrupted session go on.
func restartText(v *session.View) string {
	switch {
	case v.State == session.Unreadable:
		return ""
	case v.AutoResume:
		return "with the server"
	}
	return "on request"
}

func exitText(v *session.View) string {
	switch {
	case v.Signal != "":
		return "signal " + Plain(v.Signal)
	case v.ExitCode != nil:
		return "status " + strconv.Itoa(*v.ExitCode)
	}
	return ""
}

func sizeText(v *session.View) string {
	if v.Cols == 0 {
		return ""
	}
	return fmt.Sprintf("%d columns, %d rows", v.Cols, v.Rows)
}

func number(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}
