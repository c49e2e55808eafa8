package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"holdfast/leasefs"
	"holdfast/session"
	"holdfast/store"
)

func (f *front) cmdSessions(ctx context.Context, _ []string) (move, error) {
	views, err := f.h.list(ctx)
	if err != nil {
		return stay, err
	}
	v, err := f.pick(views)
	switch {
	case err != nil:
		return stay, err
	case v == nil:
		return goBack, nil
	case !f.mayStart(v):
		return stay, nil
	}
	return f.goTo(ctx, v)
}

// mayStart asks whether a session that was only pointed at may get its program
// again, if going there does that.
func (f *front) mayStart(v *session.View) bool {
	if goesOn(v) || f.mode == watches || v.State == session.Unreadable {
		return true
	}
	begin, end := cut(cmp.Or(Plain(v.Name), shortID(v)), 40)+" is "+v.State+"; run `", "` again?"
	return f.mayDo(begin + cut(programText(v), max(leastColumn, f.width()-cells(begin+end+noUnless)-1)) + end)
}

func (f *front) cmdResume(ctx context.Context, args []string) (move, error) {
	if len(args) == 0 {
		return f.cmdSessions(ctx, nil)
	}
	v, err := f.h.find(ctx, args[0])
	if errors.Is(err, store.ErrNotFound) {
		return stay, noSession(args[0], DidYouMean(args[0], f.sessionWords(ctx), "/sessions lists them"))
	}
	if err != nil {
		return stay, Explain(args[0], err)
	}
	return f.goTo(ctx, &v)
}

// goTo shows a session. One without a program gets it again, unless this
// terminal only watches.
func (f *front) goTo(ctx context.Context, v *session.View) (move, error) {
	if isOwn(v) {
		return stay, ownError(v)
	}
	if !v.Live && f.mode != watches {
		started, err := f.h.start(ctx, v.ID)
		if e, ok := errors.AsType[*leasefs.HeldError](err); ok {
			return stay, fmt.Errorf("%w; close it there, or join it from another terminal with holdfast attach %s", e, shortID(v))
		}
		if err != nil && !errors.Is(err, session.ErrLive) {
			return stay, Explain(v.ID, err)
		}
		if err == nil {
			v = &started
		}
	}
	f.view, f.news = *v, nil
	return goBack, nil
}

func (f *front) cmdSwitch(ctx context.Context, args []string) (move, error) {
	if len(args) == 0 {
		names, err := f.h.profiles(ctx)
		if err != nil {
			return stay, err
		}
		return stay, fmt.Errorf("/switch needs a profile: %s", strings.Join(names, ", "))
	}
	next, err := f.moved(f.h.switchTo(ctx, f.view.ID, session.SwitchSpec{Profile: args[0]}))
	return next, spelled(ctx, f.h, args[0], err)
}

// moved shows the session that a command has made.
func (f *front) moved(v session.View, err error) (move, error) {
	if err != nil {
		return stay, Explain(f.view.ID, err)
	}
	f.news = []string{fmt.Sprintf("this is %s; /resume %s leads back", shortLabel(&v), shortID(&f.view))}
	f.view = v
	return goBack, nil
}

func (f *front) cmdNew(ctx context.Context, args []string) (move, error) {
	here, err := currentFolder()
	if err != nil {
		return stay, err
	}
	if len(args) > 0 && args[0] == "--" { // which new and run ask for
		args = args[1:]
	}
	s := session.Spec{Argv: args, Cwd: here}
	if cols, rows := f.tty.size(); cols > 0 {
		s.Cols, s.Rows = &cols, &rows
	}
	return f.moved(f.h.create(ctx, s))
}

func (f *front) cmdClear(context.Context, []string) (move, error) {
	f.cleared = true
	return goBack, nil
}

func (f *front) cmdFork(ctx context.Context, args []string) (move, error) {
	var s session.ForkSpec
	if len(args) > 0 {
		turn, err := f.turn(args[0])
		if err != nil {
			return stay, err
		}
		s.Turn = &turn
	}
	next, err := f.moved(f.h.fork(ctx, f.view.ID, s))
	if refuses(err, "turn") {
		err = fmt.Errorf("%w; /rewind lists them", err)
	}
	return next, err
}

func (f *front) turn(word string) (int, error) {
	n, err := strconv.Atoi(word)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%.64q is no turn; turns are numbered from 1, and /rewind lists them", word)
	}
	return n, nil
}

func (f *front) cmdRewind(ctx context.Context, args []string) (move, error) {
	if len(args) == 0 {
		return stay, f.listTurns(ctx)
	}
	old := f.view
	next, err := f.cmdFork(ctx, args)
	if err != nil {
		return next, err
	}
	if old.Live {
		if _, err := f.h.stop(ctx, old.ID); err != nil {
			f.news = append(f.news, shortLabel(&old)+" goes on: "+Explain(old.ID, err).Error())
		}
	}
	return next, nil
}

// shownTurns is how many turns are listed.
const shownTurns = 20

func (f *front) listTurns(ctx context.Context) error {
	turns, err := f.h.turns(ctx, f.view.ID)
	if err != nil {
		return Explain(f.view.ID, err)
	}
	if len(turns) == 0 {
		return errors.New("nothing was entered in this session yet, so there is no turn to go back to")
	}
	if left := len(turns) - shownTurns; left > 0 {
		f.ask.say(fmt.Sprintf("(%d turns before these)", left))
		turns = turns[left:]
	}
	now := time.Now()
	for _, t := range turns {
		f.ask.say(cut(fmt.Sprintf("%4d  %-12s %s", t.Turn, ago(&t.Time, now), cmp.Or(Plain(t.Preview), "(no text)")), f.width()))
	}
	return errors.New("/rewind needs the number of one of these turns")
}

func (f *front) cmdStop(ctx context.Context, _ []string) (move, error) {
	v, err := f.h.stop(ctx, f.view.ID)
	if err != nil {
		return stay, joinable(f.view.ID, err)
	}
	f.view = v
	f.ask.say(wayOn(&v))
	return stay, nil
}

// wayOn says that a session's program has ended, and what can be done then.
func wayOn(v *session.View) string {
	return shortLabel(v) + " is " + endText(v) + "; /resume " + shortID(v) + " starts it again, /sessions lists others, /quit leaves"
}

func (f *front) cmdDetach(context.Context, []string) (move, error) {
	if f.mode == holds {
		return stay, errors.New("/detach is not possible: the programs are in this process and end with it; holdfast serve keeps sessions without a terminal, and /quit leaves")
	}
	return quit, nil
}

func (f *front) cmdQuit(ctx context.Context, _ []string) (move, error) {
	if f.mode != holds {
		return quit, nil
	}
	live, err := f.others(ctx)
	if err != nil {
		return stay, err
	}
	var ended []session.View
	if f.view.Live {
		live = append([]session.View{f.view}, live...)
	} else {
		ended = append(ended, f.view)
	}
	if len(live) > 0 && !f.mayEnd(live) {
		return stay, nil
	}
	for _, v := range live {
		stopped, err := f.h.stop(ctx, v.ID)
		if err != nil {
			return stay, joinable(v.ID, err)
		}
		ended = append(ended, stopped)
	}
	f.ended = ended
	return quit, nil
}

// mayEnd asks whether sessions may end.
func (f *front) mayEnd(live []session.View) bool {
	f.ask.say("This ends:")
	for _, v := range live {
		f.ask.say(cut("  "+shortLabel(&v)+"  "+programText(&v), f.width()))
	}
	return f.mayDo("Stop and leave?")
}

// noUnless stands behind a question that a yes alone affirms.
const noUnless = " [y/N] "

func (f *front) mayDo(question string) bool {
	answer, err := f.ask.line(question + noUnless)
	if err != nil || !strings.HasPrefix(strings.ToLower(answer), "y") {
		f.ask.say("nothing was changed")
		return false
	}
	return true
}

func (f *front) cmdHelp(context.Context, []string) (move, error) {
	for _, c := range lineCommands() {
		f.ask.say(cut(fmt.Sprintf("  %-22s  %s", "/"+c.name+" "+c.args, c.short), f.width()))
	}
	f.ask.say("", "Commands can be shortened, and need no slash. Tab completes them.", "Esc or an empty line leads back to a program. Ctrl-] again types Ctrl-].")
	return stay, nil
}
