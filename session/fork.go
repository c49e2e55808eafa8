package session

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"holdfast/state"
	"holdfast/store"
)

// Fork makes a new session with the parent's spec and a copy of its log, and
// starts its own run. The parent is not touched; it may be live, here or
// elsewhere. With bind the fork is bound.
//
// It returns store.ErrNotFound, ErrPastEnd and the errors of New.
func (c *Controller) Fork(id string, f ForkSpec, bind bool) (View, error) {
	row, from, err := c.forkOf(id, f)
	if err != nil {
		return View{}, err
	}
	if bind {
		c.bindMu.Lock()
		defer c.bindMu.Unlock()
	}
	return c.create(row, from, bind)
}

// Copy is Fork without the run: the copy is stopped, as if somebody had stopped
// it while it was being started. Its first start runs what a fork would have
// run. It is for a process that does not stay.
func (c *Controller) Copy(id string, f ForkSpec) (View, error) {
	row, from, err := c.forkOf(id, f)
	if err != nil {
		return View{}, err
	}
	if row.State, err = state.Next(row.State, state.UserStop); err != nil {
		return View{}, err
	}
	release, err := c.reserve(row.ID, "being copied", false, false)
	if err != nil {
		return View{}, err
	}
	defer release()
	lease, w, err := c.leaseNew(row, from)
	if err != nil {
		return View{}, err
	}
	v := c.view(w.Row())
	if err := errors.Join(w.Close(), lease.Release()); err != nil { // the copy is on disk
		c.log.Warn("log not closed", "session", row.ID, "err", err)
	}
	c.changes.add(row.ID)
	return v, nil
}

// forkOf turns a request into the row of a fork that is still to be made.
func (c *Controller) forkOf(id string, f ForkSpec) (*store.Row, *store.Source, error) {
	parent, err := c.store.Row(id)
	if err != nil {
		return nil, nil, err
	}
	at, turn, err := c.forkPoint(id, f)
	if err != nil {
		return nil, nil, err
	}
	name := f.Profile
	if name == "" && len(f.Argv) == 0 {
		name = parent.Profile
	}
	p, err := c.profile(name)
	if err != nil {
		return nil, nil, err
	}
	if err := checkName(f.Name); err != nil {
		return nil, nil, err
	}
	row := newRow()
	row.Name, row.Cwd, row.Env, row.Profile = cmp.Or(f.Name, copyName(parent.Name, parent.Argv)), parent.Cwd, parent.Env, name
	row.Parent, row.ForkedAt, row.Turns = id, &at, turn
	row.Cols, row.Rows, row.AutoResume = parent.Cols, parent.Rows, parent.AutoResume
	switch {
	case len(f.Argv) > 0:
		row.Argv = f.Argv
	case name != parent.Profile:
		row.Argv = expand(p.Start, row.ID, id, row.Cwd)
	case len(p.Fork) > 0:
		row.Argv = expand(p.Fork, row.ID, id, row.Cwd)
	default:
		row.Argv = slices.Clone(parent.Argv)
	}
	if name != parent.Profile || len(f.Argv) > 0 {
		row.AutoResume = len(p.Resume) > 0 || plainShell(row.Argv)
	}
	if _, err := c.programOf(row.ID, row.Argv, row.Cwd, row.Env, row.Cols, row.Rows); err != nil {
		return nil, nil, err
	}
	return row, &store.Source{ID: id, At: at}, nil
}

// forkPoint is the cursor up to which a fork has its parent's log, and the
// number of the last turn up to there. A turn's cursor is where the log stood
// when its first byte was typed.
func (c *Controller) forkPoint(id string, f ForkSpec) (at int64, turn int, err error) {
	follower, err := c.store.Follow(id)
	if err != nil {
		return 0, 0, err
	}
	defer follower.Close()
	if f.At == nil && f.Turn == nil {
		if at, err = follower.Cut(); err != nil {
			return 0, 0, err
		}
	}
	oldest, end, err := follower.Bounds()
	if err != nil {
		return 0, 0, err
	}
	turns, err := turnsOf(follower)
	if err != nil {
		return 0, 0, err
	}
	switch {
	case f.At != nil && f.Turn != nil:
		return 0, 0, &SpecError{"turn", strconv.Itoa(*f.Turn), "cannot be given together with at"}
	case f.At != nil:
		at = *f.At
	case f.Turn != nil:
		i := slices.IndexFunc(turns, func(t Turn) bool { return t.Turn == *f.Turn && t.At >= oldest })
		if i < 0 {
			return 0, 0, &SpecError{"turn", strconv.Itoa(*f.Turn), noTurn(turns, oldest)}
		}
		at = turns[i].At
	}
	if at < oldest || at > end {
		return 0, 0, &SpecError{"at", strconv.FormatInt(at, 10), fmt.Sprintf("the log has %d to %d", oldest, end)}
	}
	return at, lastTurn(turns, at), nil
}

// noTurn says which turns a log can be copied up to: what was entered before
// the oldest byte is only in the journal.
func noTurn(turns []Turn, oldest int64) string {
	turns = slices.DeleteFunc(slices.Clone(turns), func(t Turn) bool { return t.At < oldest })
	switch len(turns) {
	case 0:
		return "no such turn; the log has none"
	case 1:
		return fmt.Sprintf("no such turn; the log has turn %d alone", turns[0].Turn)
	}
	return fmt.Sprintf("no such turn; the log has turns %d to %d", turns[0].Turn, turns[len(turns)-1].Turn)
}

var errNoProgram = &SpecError{"profile", "", "name a profile or an argv to switch to"}

// Switch goes on from a session with another program: the old run is stopped,
// the session forked, and the new program started. With bind the fork is bound.
// If the new program does not start, the old session stays stopped, with its
// own spec, and the binding where it was. Errors that are found before the stop
// change nothing.
//
// It returns store.ErrNotFound, a *leasefs.HeldError, ErrBusy and the errors of
// New.
func (c *Controller) Switch(id string, s SwitchSpec, bind bool) (View, error) {
	if s.Profile == "" && len(s.Argv) == 0 {
		return View{}, errNoProgram
	}
	f := ForkSpec{Profile: s.Profile, Argv: s.Argv}
	if _, _, err := c.forkOf(id, f); err != nil {
		return View{}, err
	}
	release, err := c.reserve(id, "being switched", true, false)
	if err != nil {
		return View{}, err
	}
	defer release()
	c.step("switch:reserved")
	if _, err := c.halt(id); err != nil {
		return View{}, err
	}
	return c.Fork(id, f, bind)
}
