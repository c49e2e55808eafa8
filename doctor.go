package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"

	"holdfast/cli"
	"holdfast/session"
	"holdfast/session/process"
	"holdfast/store"
)

// doctor looks for damage in a store, whether a server runs or not. It fails
// if something is left that it could not repair.
func doctor(_ context.Context, args []string, stdout, _ io.Writer) error {
	dir, asJSON, err := parseDoctor(args, stdout)
	if err != nil {
		return err
	}
	st, err := store.Open(dir, store.Options{Boot: process.BootID()})
	if err != nil {
		return err
	}
	ctl, err := session.Open(session.Config{Store: st, Front: "doctor"})
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
	if err := d.print(stdout, asJSON); err != nil {
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

func parseDoctor(args []string, stdout io.Writer) (dir string, asJSON bool, err error) {
	fs := flag.NewFlagSet("doctor", flag.ContinueOnError)
	fs.StringVar(&dir, "store", "", "the `folder` of the sessions; "+cli.StoreDefault)
	fs.BoolVar(&asJSON, "json", false, "print a JSON object")
	const usage = `holdfast doctor [flags]

Looks for damage in a store, also while a server runs on it. It repairs rows of dead holders, unfinished ends of files and
leftovers of crashes. It removes no output and touches no session that a process holds.`
	if err := parseNone(fs, args, usage, stdout); err != nil {
		return "", false, err
	}
	dir, err = cli.ExistingStore(dir)
	return dir, asJSON, err
}

func (d diagnosis) print(w io.Writer, asJSON bool) error {
	if asJSON {
		return cli.PrintJSON(w, d)
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
		if _, err := fmt.Fprintf(w, "%s: %s (%s)\n", where, cli.Plain(f.Problem), what); err != nil {
			return err
		}
	}
	if len(d.Problems) > 0 {
		return nil
	}
	_, err := fmt.Fprintln(w, "no problems")
	return err
}
