// Package cli is what a terminal and a script see of holdfast: run and attach,
// which show sessions on a terminal, and the commands that make sessions, list
// them, show them, name them, type into them, wait for them, end them, export
// what they printed and look for damage.
//
// Those do the same with a server on their store as without one, as far as
// there is no program to be kept: they ask the server over its socket, or work
// on the store itself, under the same leases.
//
// What sessions are called, and the programs they run, are shown with control
// characters escaped. The output of a session is written as it is.
package cli

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"holdfast/session"
	"holdfast/session/process"
	"holdfast/store"
)

// A command is the command line of one command: the flags that all of them
// have, and those that it adds.
type command struct {
	*flag.FlagSet
	usage string
	store string
	json  bool
}

func newCommand(name, usage string) *command {
	c := &command{FlagSet: flag.NewFlagSet(name, flag.ContinueOnError), usage: usage}
	c.StringVar(&c.store, "store", "", "the `folder` of the sessions; "+StoreDefault)
	return c
}

// withJSON adds the flag of commands that print something.
func (c *command) withJSON() *command {
	c.BoolVar(&c.json, "json", false, "print a JSON object")
	return c
}

// parse returns the words of the command line, of which there must be least
// to most; a negative most is no limit.
func (c *command) parse(args []string, stdout io.Writer, least, most int) ([]string, error) {
	words, err := ParseWords(c.FlagSet, args, c.usage, stdout)
	if err != nil {
		return nil, err
	}
	if len(words) < least {
		return nil, Usage(c.Name()+" needs a session", "holdfast ls lists them")
	}
	if most >= 0 && len(words) > most {
		return nil, noArgument(c.FlagSet, words[most], c.usage)
	}
	for _, w := range words[:least] {
		if w == "" {
			return nil, Usage(c.Name()+" needs a session, and was given an empty word", "holdfast ls lists them")
		}
	}
	return words, c.findStore()
}

// parseProgram returns the program of the command line, which stands behind
// "--".
func (c *command) parseProgram(args []string, stdout io.Writer) ([]string, error) {
	argv, err := ParseFlags(c.FlagSet, args, c.usage, stdout)
	if err != nil {
		return nil, err
	}
	return argv, c.findStore()
}

// findStore finds the store that the command line means, and makes none.
func (c *command) findStore() (err error) {
	if c.store, err = StoreDir(c.store); err != nil {
		return err
	}
	return CheckStore(c.store, "holdfast serve and holdfast run make one")
}

// controller opens the store in this process. The caller must Close it.
func (c *command) controller() (*session.Controller, error) {
	st, err := store.Open(c.store, store.Options{Boot: process.BootID()})
	if err != nil {
		return nil, err
	}
	return session.Open(session.Config{Store: st, Front: "cli"})
}

// PrintJSON writes v as one line of JSON. What a terminal would not print is
// escaped, also where JSON does not ask for it.
func PrintJSON(w io.Writer, v any) error {
	var doc bytes.Buffer
	enc := json.NewEncoder(&doc)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	line := make([]byte, 0, doc.Len())
	for _, r := range doc.String() {
		if r == '\n' || strconv.IsPrint(r) {
			line = utf8.AppendRune(line, r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			line = fmt.Appendf(line, `\u%04x`, unit)
		}
	}
	_, err := w.Write(line)
	return err
}

// shortID is as much of a session's id as commands take.
func shortID(v *session.View) string { return v.ID[:session.MinPrefix] }

// shortLabel is a session as a line beside its output names it.
func shortLabel(v *session.View) string { return strings.TrimSpace(shortID(v) + " " + Plain(v.Name)) }

// goesOn reports whether a session has a program, here or elsewhere.
func goesOn(v *session.View) bool { return v.Live || v.Holder != nil }

// label is a session as messages name it.
func label(v *session.View) string {
	if v.Name == "" {
		return v.ID
	}
	return v.ID + " " + Plain(v.Name)
}
