package session

import (
	"time"

	"holdfast/leasefs"
	"holdfast/state"
	"holdfast/store"
)

// Unreadable is the state of a View whose session.json cannot be used. It is
// no state of the matrix: nothing can happen to such a session but deletion.
const Unreadable = "unreadable"

// States are those that a View may have.
var States = []string{
	string(state.Pending), string(state.Running), string(state.Idle), string(state.Stopped), string(state.Ended), string(state.Interrupted), Unreadable,
}

// A View is a session as people and programs see it.
type View struct {
	ID           string     `json:"id"`
	Name         string     `json:"name"`
	Argv         []string   `json:"argv"`
	Cwd          string     `json:"cwd"`
	Profile      string     `json:"profile"`
	State        string     `json:"state"`
	Cause        string     `json:"cause"`
	Parent       string     `json:"parent"`
	ForkedAt     *int64     `json:"forked_at"` // cursor in the parent's log
	CreatedAt    *time.Time `json:"created_at"`
	StartedAt    *time.Time `json:"started_at"`
	EndedAt      *time.Time `json:"ended_at"`
	ActiveAt     *time.Time `json:"active_at"`
	ExitCode     *int       `json:"exit_code"`
	Signal       string     `json:"signal"`
	PID          int        `json:"pid"` // 0 without a program
	Cols         uint16     `json:"cols"`
	Rows         uint16     `json:"rows"`
	Cursor       int64      `json:"cursor"` // end of the log
	Oldest       int64      `json:"oldest"` // first byte that is still there
	Turns        int        `json:"turns"`
	Runs         int        `json:"runs"`
	AutoResume   bool       `json:"auto_resume"`
	Bound        bool       `json:"bound"`
	Live         bool       `json:"live"`             // has a program in this process
	Holder       *Holder    `json:"holder,omitempty"` // only when held elsewhere
	StorageError string     `json:"storage_error,omitempty"`
	Problem      string     `json:"problem,omitempty"` // why it was not resumed with the server
	Reason       string     `json:"reason,omitempty"`  // why it is unreadable
}

// A Holder says which process has a session. It is zero when the lease is held
// and its record cannot be read.
type Holder struct {
	PID   int        `json:"pid"`
	Host  string     `json:"host"`
	Since *time.Time `json:"since"`
}

// HolderOf returns what people may see of a lease's holder.
func HolderOf(e *leasefs.HeldError) *Holder {
	if e.Holder == nil {
		return &Holder{}
	}
	return &Holder{e.Holder.PID, e.Holder.Host, when(e.Holder.Since)}
}

func when(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// view shows a row as it stands, with what only this process knows of a
// session that is live here.
func (c *Controller) view(r *store.Row) View {
	v := View{
		ID: r.ID, Name: r.Name, Argv: r.Argv, Cwd: r.Cwd, Profile: r.Profile,
		State: string(r.State), Cause: string(r.Cause), Parent: r.Parent, ForkedAt: r.ForkedAt,
		CreatedAt: when(r.CreatedAt), StartedAt: when(r.StartedAt), EndedAt: when(r.EndedAt), ActiveAt: when(r.ActiveAt),
		ExitCode: r.ExitCode, Signal: r.Signal, Cols: r.Cols, Rows: r.Rows,
		Cursor: r.Cursor, Oldest: r.Oldest, Turns: r.Turns, Runs: r.Runs,
		AutoResume: r.AutoResume, Problem: r.Problem, Bound: c.bound.Load().id == r.ID,
	}
	if !r.State.Live() {
		return v
	}
	v.PID = r.PID
	l := c.lookup(r.ID)
	if l == nil {
		return v
	}
	v.Live = true
	select {
	case <-l.ready:
	default:
		return v // a start in flight
	}
	if l.err == nil {
		v.Oldest, v.Cursor = l.w.Bounds()
		v.Turns = int(l.turns.Load())
		v.ActiveAt = when(l.idle.last().UTC())
		if text := l.trouble.Load(); text != nil {
			v.StorageError = *text
		}
	}
	return v
}

// trueView is view for a session that may be live elsewhere, or may claim to
// be live although its holder died.
func (c *Controller) trueView(id string) (View, error) {
	row, held, err := c.truth(id)
	if row == nil {
		return View{}, err
	}
	v := c.view(row)
	if err != nil {
		v.StorageError = cause(err) // the row is not true, and cannot be made so
	}
	if held != nil {
		v.Holder = HolderOf(held)
	}
	if held != nil || err != nil { // the row has what its last write knew
		if f, err := c.store.Follow(id); err == nil {
			if oldest, end, err := f.Bounds(); err == nil {
				v.Oldest, v.Cursor = oldest, end
			}
			if turns, err := turnsOf(f); err == nil && len(turns) > 0 {
				v.Turns = turns[len(turns)-1].Turn
			}
			f.Close()
		}
	}
	return v, nil
}

// Follow reads the files of a session; see store.Follower. The caller must
// Close it.
func (c *Controller) Follow(id string) (*store.Follower, error) { return c.store.Follow(id) }
