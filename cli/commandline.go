package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"holdfast/session"
)

// A move is what a command of the command line leads to.
type move int

const (
	stay   move = iota // the line asks again
	goBack             // the session that is shown now
	quit               // away from all of them
)

// A lineCommand is a command of the command line. Its run changes f.view if it
// goes to another session; with an error it has gone nowhere.
type lineCommand struct {
	name  string
	args  string
	short string
	run   func(f *front, ctx context.Context, args []string) (move, error)

	complete func(f *front, ctx context.Context) []string // its argument; nil: it can be anything
	watching bool                                         // possible while nothing may be changed
}

func lineCommands() []lineCommand {
	return []lineCommand{
		{"sessions", "", "choose a session from a list", (*front).cmdSessions, nil, true},
		{"resume", "ID", "go to a session; start its program if it has none", (*front).cmdResume, (*front).sessionWords, true},
		{"switch", "PROFILE", "stop this program; go on in a copy with another", (*front).cmdSwitch, (*front).profileWords, false},
		{"new", "[PROGRAM ARGS...]", "start a program, or a shell, in a new session", (*front).cmdNew, nil, false},
		{"clear", "", "clear the screen; the output is kept", (*front).cmdClear, nil, true},
		{"fork", "[TURN]", "go on in a copy, whole or from before a turn", (*front).cmdFork, (*front).turnWords, false},
		{"branch", "[TURN]", "the same as /fork", (*front).cmdFork, (*front).turnWords, false},
		{"rewind", "[TURN]", "list turns, or stop this and go on in a copy from one", (*front).cmdRewind, (*front).turnWords, false},
		{"stop", "", "end the program of this session", (*front).cmdStop, nil, false},
		{"detach", "", "leave a session that goes on without this terminal", (*front).cmdDetach, nil, true},
		{"quit", "", "leave, after a question if something would end", (*front).cmdQuit, nil, true},
		{"help", "", "list the commands", (*front).cmdHelp, nil, true},
	}
}

// commandLine asks for commands until one leads away from it. It has a screen
// of its own; that of the session comes back as it was.
func (f *front) commandLine(ctx context.Context, message string) (left bool, err error) {
	f.keys.ask()
	defer context.AfterFunc(ctx, f.keys.stopReading)()
	var first string
	full, shown := f.modes.AltScreen(), f.view.ID
	defer func() { f.keys.answered(first, f.view.ID != shown) }()
	f.tty.Write(f.modes.Reset())
	f.tty.write(enterAlternate)
	if cols, rows := f.tty.size(); cols > 0 {
		f.ask.SetSize(cols, rows)
	}
	hint := "/help lists the commands"
	if goesOn(&f.view) {
		hint += ", Esc leads back"
	}
	f.ask.say(cut(shortLabel(&f.view)+", "+f.view.State+" in "+Plain(f.view.Cwd), f.width()), hint, "")
	if message != "" {
		f.ask.say(message)
	}
	next, err := f.askOn(ctx)
	f.tty.write(leaveAlternate)
	switch {
	case next == quit:
		f.modes, f.inLine = session.Modes{}, false
		f.tty.write("\r\n")
		return true, err
	case f.view.ID != shown || full:
		f.modes = session.Modes{}
		f.repaint()
	case f.cleared:
		f.tty.write(clearScreen)
		fallthrough
	default:
		f.tty.Write(f.modes.Set())
	}
	f.cleared = false
	if f.ask.key == commandKey {
		first = string(rune(commandKey))
	}
	return false, nil
}

// askOn asks for lines and does what they say. An error comes with quit.
func (f *front) askOn(ctx context.Context) (move, error) {
	for shown := f.view.ID; ; {
		line, err := f.ask.line(promptText)
		if ctx.Err() != nil {
			return quit, context.Cause(ctx)
		}
		if err != nil && f.keys.gone() {
			return quit, hangup
		}
		next := stay
		switch words, bad := splitWords(line); {
		case err != nil && (f.ask.key == leaveKey || f.ask.key == endKey) && !goesOn(&f.view):
			next, err = f.command(ctx, []string{"quit"})
		case err != nil || line == "":
			next, err = goBack, nil
		case bad != nil:
			err = bad
		case len(words) > 0:
			next, err = f.command(ctx, words)
		}
		switch {
		case err != nil:
			f.ask.say(err.Error())
		case next == goBack && f.view.ID == shown && !goesOn(&f.view): // there is nothing to lead back to
			f.ask.say(wayOn(&f.view))
		case next != stay:
			return next, nil
		}
	}
}

// command does what one line says. A key that leaves the command line ends the
// wait for a server that does not answer.
func (f *front) command(ctx context.Context, words []string) (move, error) {
	c, err := findCommand(strings.TrimPrefix(words[0], "/"))
	if err != nil {
		return stay, err
	}
	args := words[1:]
	if most := strings.Count(c.args, " ") + 1; len(args) > 0 && (c.args == "" || len(args) > most && !strings.HasSuffix(c.args, "...]")) {
		return stay, fmt.Errorf("/%s has no argument %.64q; its form is /%s", c.name, args[len(args)-1], strings.TrimSpace(c.name+" "+c.args))
	}
	if f.mode == watches && !c.watching {
		return stay, fmt.Errorf("/%s is not possible: this terminal only watches", c.name)
	}
	waiting, leave := context.WithCancel(ctx)
	defer leave()
	stop := f.keys.leavable(leave)
	next, err := c.run(f, waiting, args)
	left := errors.Is(err, context.Canceled) && ctx.Err() == nil
	if stop(left); left {
		err = fmt.Errorf("/%s was left before the server answered; it may still happen there", c.name)
	}
	return next, err
}

// findCommand returns the command that a word, or its beginning, means.
func findCommand(word string) (lineCommand, error) {
	all := lineCommands()
	var near []lineCommand
	var names []string
	for _, c := range all {
		if c.name == word {
			return c, nil
		}
		if word != "" && strings.HasPrefix(c.name, word) {
			near = append(near, c)
		}
		names = append(names, "/"+c.name)
	}
	if len(near) == 1 {
		return near[0], nil
	}
	if len(near) > 1 {
		names = nil
		for _, c := range near {
			names = append(names, "/"+c.name)
		}
		return lineCommand{}, fmt.Errorf("%.64q can be %s", "/"+word, strings.Join(names, " or "))
	}
	return lineCommand{}, fmt.Errorf("unknown command %.64q; %s", "/"+word, DidYouMean("/"+word, slices.Clip(names), "/help lists the commands"))
}
