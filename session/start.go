package session

import (
	"cmp"
	"errors"
	"fmt"
	"syscall"
	"time"

	"holdfast/session/process"
	"holdfast/state"
	"holdfast/store"
)

// New creates a session, starts its program and binds it. On any error there
// is no session and the binding has not moved.
//
// It returns a *SpecError for a request that cannot be run, and ErrStorage.
func (c *Controller) New(s Spec) (View, error) {
	row, err := c.rowOf(s)
	if err != nil {
		return View{}, err
	}
	c.bindMu.Lock()
	defer c.bindMu.Unlock()
	return c.create(row, nil, true)
}

// Create is New without the binding.
func (c *Controller) Create(s Spec) (View, error) {
	row, err := c.rowOf(s)
	if err != nil {
		return View{}, err
	}
	return c.create(row, nil, false)
}

// rowOf turns a request into the row of a session that is still to be made.
func (c *Controller) rowOf(s Spec) (*store.Row, error) {
	if s.Profile == "" && len(s.Argv) == 0 {
		s.Profile = "shell"
	}
	p, err := c.profile(s.Profile)
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(checkName(s.Name), checkEnv(s.Env)); err != nil {
		return nil, err
	}
	cols, err1 := checkSize("cols", s.Cols, defaultCols)
	rows, err2 := checkSize("rows", s.Rows, defaultRows)
	dir, err3 := checkDir(s.Cwd)
	if err := cmp.Or(err1, err2, err3); err != nil {
		return nil, err
	}
	row := newRow()
	row.Name, row.Cwd, row.Env, row.Profile = s.Name, dir, s.Env, s.Profile
	row.Argv, row.Cols, row.Rows = s.Argv, cols, rows
	if len(row.Argv) == 0 {
		row.Argv = expand(p.Start, row.ID, "", dir)
	}
	if _, err := checkProgram(row.Argv, dir, s.Env); err != nil {
		return nil, err
	}
	row.AutoResume = len(p.Resume) > 0 || plainShell(row.Argv)
	if s.AutoResume != nil {
		row.AutoResume = *s.AutoResume
	}
	return row, nil
}

func newRow() *store.Row {
	now := time.Now().UTC()
	return &store.Row{ID: store.NewID(), State: state.Pending, CreatedAt: now, ActiveAt: now}
}

// create makes the session of row, as a copy of from or empty, and starts it.
// With bind the caller holds bindMu.
func (c *Controller) create(row *store.Row, from *store.Source, bind bool) (View, error) {
	next, err := state.Next(state.New, state.Start)
	if err != nil {
		return View{}, err
	}
	release, err := c.reserve(row.ID, "being started", false, false)
	if err != nil {
		return View{}, err
	}
	defer release()
	l, err := c.begin(row.ID)
	if err != nil {
		return View{}, err
	}
	l.lease, l.w, err = c.leaseNew(row, from)
	if err != nil {
		l.fail(err)
		return View{}, err
	}
	if err = c.spawn(l, row.Argv, next, nil); err != nil {
		c.undo(l)
		l.fail(err)
		return View{}, err
	}
	if bind {
		c.bindLocked(row.ID)
	}
	return c.view(l.w.Row()), nil
}

// undoTries is how often a removal that nobody can ask for again is tried.
const undoTries = 3

// undo removes a session that never had a program, and that nobody was told of.
func (c *Controller) undo(l *live) {
	l.w.Close()
	err := c.store.Undo(l.id)
	for try := 1; try < undoTries && remains(err); try++ {
		err = c.store.Undo(l.id) // the disk that has just failed may work again
	}
	if !remains(err) {
		err = l.lease.Remove()
	} else {
		l.lease.Release()
	}
	if err != nil {
		c.log.Warn("failed session not removed", "session", l.id, "err", err)
	}
}

// remains reports whether a removal has left the session as it was.
func remains(err error) bool { return err != nil && !errors.Is(err, store.ErrLeft) }

// Resume binds a session, and starts its program again if it has none. A
// session that is live here is only bound. On any error row, lease and
// binding are as they were.
//
// It returns store.ErrNotFound, a *leasefs.HeldError, a *SpecError if program
// or folder are gone, and ErrBusy.
func (c *Controller) Resume(id string) (View, error) {
	if _, err := c.store.Row(id); err != nil {
		return View{}, err
	}
	c.bindMu.Lock()
	defer c.bindMu.Unlock()
	l, err := c.start(id)
	if errors.Is(err, ErrLive) {
		err = nil
	}
	if err != nil {
		return View{}, err
	}
	c.step("resume:leased")
	c.bindLocked(id)
	return c.view(l.w.Row()), nil
}

// Start starts the program of a session that has none, and leaves the binding
// alone. Its errors are those of Resume, and ErrLive.
func (c *Controller) Start(id string) (View, error) {
	if _, err := c.store.Row(id); err != nil {
		return View{}, err
	}
	l, err := c.start(id)
	if err != nil {
		return View{}, err
	}
	return c.view(l.w.Row()), nil
}

// start gives a session its program back. With ErrLive it returns the life
// that the session has.
func (c *Controller) start(id string) (*live, error) {
	release, err := c.reserve(id, "being started", false, false)
	if err != nil {
		return nil, err
	}
	defer release()
	if l := c.running(id); l != nil {
		return l, ErrLive
	}
	return c.revive(id, c.respawn)
}

// revive begins a life of a session that exists, with the program that spawn
// starts. The caller has the session reserved.
func (c *Controller) revive(id string, spawn func(*live) error) (*live, error) {
	l, err := c.begin(id)
	if err != nil {
		return nil, err
	}
	l.lease, l.w, err = c.lease(id)
	if err != nil {
		l.fail(err)
		return nil, err
	}
	if err = spawn(l); err != nil {
		l.w.Close()
		l.lease.Release()
		l.fail(err)
		return nil, err
	}
	return l, nil
}

// respawn starts the program of a session that had one. What a dead holder
// left behind is made true first.
func (c *Controller) respawn(l *live) error {
	if err := c.settle(l.w); err != nil {
		return storageError(err)
	}
	row := l.w.Row()
	next, err := state.Next(row.State, state.Start)
	if err != nil {
		return err
	}
	argv, err := c.resumeArgv(row)
	if err != nil {
		return err
	}
	c.endLeftovers(row)
	return c.spawn(l, argv, next, nil)
}

// resumeArgv is what goes on with a session. One that has not run yet has its
// own program. One whose profile is not there any more has none: what started
// it may do harm a second time. It returns a *ProfilesError and a *SpecError.
func (c *Controller) resumeArgv(row *store.Row) ([]string, error) {
	if row.Profile == "" || row.Runs == 0 {
		return row.Argv, nil
	}
	all, err := c.Profiles()
	if err != nil {
		return nil, err
	}
	p, ok := all[row.Profile]
	if !ok {
		return nil, &SpecError{"profile", row.Profile, "not in profiles.json any more, and it says how to go on; put it back, or go on in a fork with another program or profile"}
	}
	if len(p.Resume) > 0 {
		return expand(p.Resume, row.ID, row.Parent, row.Cwd), nil
	}
	return row.Argv, nil
}

// spawn starts argv in the session whose lease and writer l has, saves next
// and what change makes of the row, and lets the life run. On an error there is
// no program, and the row is as it was.
func (c *Controller) spawn(l *live, argv []string, next state.State, change func(*store.Row)) error {
	row := l.w.Row()
	spec, err := c.programOf(row.ID, argv, row.Cwd, row.Env, row.Cols, row.Rows)
	if err != nil {
		return err
	}
	c.step("spawn")
	if l.proc, err = process.Start(spec); err != nil {
		return startError(argv[0], err)
	}
	me := l.proc.Identity()
	now := time.Now().UTC()
	_, end := l.w.Bounds()
	row, err = l.w.Update(true, func(r *store.Row) error {
		r.State, r.Cause = next, state.CauseNone
		r.StartedAt, r.ActiveAt, r.EndedAt = now, now, time.Time{}
		r.Problem = ""
		r.ExitCode, r.Signal = nil, ""
		r.PID, r.PIDStart = me.PID, me.Start
		r.Runs++
		if change != nil {
			change(r)
		}
		return nil
	})
	if err != nil {
		l.proc.Stop(0)
		l.proc.Close()
		return storageError(err)
	}
	l.note(store.Entry{
		Kind: "run", At: end, Time: now, Run: row.Runs, PID: me.PID, Cols: row.Cols, Rows: row.Rows, State: next,
	})
	l.note(store.Entry{Kind: "modes", At: end, Time: now}) // those of a fresh terminal
	l.publish()
	return nil
}

// startError tells a program that cannot be run from a system that cannot run
// one now.
func startError(program string, err error) error {
	for _, e := range []error{syscall.EMFILE, syscall.ENFILE, syscall.EAGAIN, syscall.ENOMEM} {
		if errors.Is(err, e) {
			return fmt.Errorf("%w: %v", ErrExhausted, e)
		}
	}
	return &SpecError{"argv", program, cause(err)}
}
