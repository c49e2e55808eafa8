package cli

import (
	"context"
	"fmt"
	"io"
	"slices"

	"holdfast/session"
)

// Doctor looks for damage in a store, whether a server runs or not. It fails
// if something is left that it could not repair.
func Doctor(_ context.Context, args []string, stdout, _ io.Writer) error {
	c := newCommand("doctor", `holdfast doctor [flags]

Looks for damage in a store, also while a server runs on it. It repairs rows of dead holders, unfinished ends of files and
leftovers of crashes. It removes no output and touches no session that a process holds.`).withJSON()
	if _, err := c.parse(args, stdout, 0, 0); err != nil {
		return err
	}
	ctl, err := c.controller()
	if err != nil {
		return err
	}
	defer ctl.Close()
	found, err := ctl.Doctor()
	if err != nil {
		return err
	}
	d := diagnosis{Problems: []session.Finding{}, Notes: []session.Finding{}}
	left := 0
	for _, f := range found {
		switch {
		case f.Known:
			d.Notes = append(d.Notes, f)
			continue
		case !f.Repaired:
			left++
		}
		d.Problems = append(d.Problems, f)
	}
	if err := d.print(stdout, c.json); err != nil {
		return err
	}
	if left > 0 {
		return fmt.Errorf("%d of %d problems are left; no output was removed", left, len(d.Problems))
	}
	return nil
}

// A diagnosis is what the doctor says of a store. Notes are no damage.
type diagnosis struct {
	Problems []session.Finding `json:"problems"`
	Notes    []session.Finding `json:"notes"`
}

func (d diagnosis) print(w io.Writer, asJSON bool) error {
	if asJSON {
		return PrintJSON(w, d)
	}
	for _, f := range slices.Concat(d.Notes, d.Problems) {
		where, what := "store", "left as it is"
		if f.Session != "" {
			where = "session " + f.Session
		}
		switch {
		case f.Known:
			what = "a note"
		case f.Repaired:
			what = "repaired"
		}
		if _, err := fmt.Fprintf(w, "%s: %s (%s)\n", where, Plain(f.Problem), what); err != nil {
			return err
		}
	}
	if len(d.Problems) > 0 {
		return nil
	}
	_, err := fmt.Fprintln(w, "no problems")
	return err
}
