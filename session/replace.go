package session

import (
	"holdfast/state"
	"holdfast/store"
)

// Replace goes on in the same session with another program: the old run is
// stopped, and the new program started behind it in the same log. From then on
// the session has the new program's spec. If that does not start, the session
// stays stopped, with its own spec. Errors that are found before the stop
// change nothing.
//
// It returns store.ErrNotFound, a *leasefs.HeldError, a *SpecError and ErrBusy.
func (c *Controller) Replace(id string, s SwitchSpec) (View, error) {
	row, err := c.store.Row(id)
	if err != nil {
		return View{}, err
	}
	argv, change, err := c.replacement(row, s)
	if err != nil {
		return View{}, err
	}
	release, err := c.reserve(id, "being switched", true, false)
	if err != nil {
		return View{}, err
	}
	defer release()
	if _, err := c.halt(id); err != nil {
		return View{}, err
	}
	l, err := c.revive(id, func(l *live) error {
		next, err := state.Next(l.w.Row().State, state.Start)
		if err != nil {
			return err
		}
		return c.spawn(l, argv, next, change)
	})
	if err != nil {
		return View{}, err
	}
	return c.view(l.w.Row()), nil
}

// replacement is the program that s names for a session, and what it makes of
// the session's row.
func (c *Controller) replacement(row *store.Row, s SwitchSpec) (argv []string, change func(*store.Row), err error) {
	if s.Profile == "" && len(s.Argv) == 0 {
		return nil, nil, errNoProgram
	}
	p, err := c.profile(s.Profile)
	if err != nil {
		return nil, nil, err
	}
	argv = s.Argv
	if len(argv) == 0 {
		argv = expand(p.Start, row.ID, row.Parent, row.Cwd)
	}
	if _, err := c.programOf(row.ID, argv, row.Cwd, row.Env, row.Cols, row.Rows); err != nil {
		return nil, nil, err
	}
	repeatable := len(p.Resume) > 0 || plainShell(argv)
	return argv, func(r *store.Row) {
		r.Argv, r.Profile, r.AutoResume = argv, s.Profile, r.AutoResume && repeatable
	}, nil
}
