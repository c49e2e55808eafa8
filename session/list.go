package session

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"holdfast/store"
)

// minPrefix is how much of an id names a session.
const minPrefix = 8

// A Filter selects sessions of a list; its zero value selects all.
type Filter struct {
	State string // a state, or Unreadable
	Query string // part of the id, name, program or folder, in any case
}

// List returns the sessions that f selects, newest activity first. Sessions
// that cannot be read are in it, with the reason.
func (c *Controller) List(f Filter) ([]View, error) {
	ids, err := c.store.IDs()
	if err != nil {
		return nil, err
	}
	views := make([]View, 0, len(ids))
	for _, id := range ids {
		v, err := c.Get(id)
		if err == nil && f.Match(&v) {
			views = append(views, v)
		}
	}
	slices.SortFunc(views, func(a, b View) int {
		return cmp.Or(-activity(&a).Compare(activity(&b)), strings.Compare(a.ID, b.ID))
	})
	return views, nil
}

func activity(v *View) time.Time {
	if v.ActiveAt == nil {
		return time.Time{}
	}
	return *v.ActiveAt
}

// Match reports whether f selects a session.
func (f Filter) Match(v *View) bool {
	if f.State != "" && f.State != v.State {
		return false
	}
	q := strings.ToLower(f.Query)
	return q == "" || slices.ContainsFunc(append([]string{v.ID, v.Name, v.Cwd}, v.Argv...), func(s string) bool {
		return strings.Contains(strings.ToLower(s), q)
	})
}

// Newest returns the session to go on with when nobody names one: of views, in
// the order of List, the first whose folder is dir, else the first. Those that
// cannot be read do not count. It reports whether there is one.
func Newest(views []View, dir string) (v View, ok bool) {
	here, hereErr := os.Stat(dir)
	for i := range views {
		if views[i].State == Unreadable {
			continue
		}
		if !ok {
			v, ok = views[i], true
		}
		if views[i].Cwd == dir {
			return views[i], true
		}
		// The same folder may have been reached by another path.
		if there, err := os.Stat(views[i].Cwd); err == nil && hereErr == nil && os.SameFile(here, there) {
			return views[i], true
		}
	}
	return v, ok
}

// Get returns one session, also one that cannot be read. It returns
// store.ErrNotFound if there is none.
func (c *Controller) Get(id string) (View, error) {
	v, err := c.trueView(id)
	if e, ok := errors.AsType[*store.DamagedError](err); ok {
		return View{ID: id, State: Unreadable, Reason: e.Reason, Argv: []string{}}, nil
	}
	return v, err
}

// Resolve returns the id that a reference means: an id, the first 8 or more
// characters of one, or a name. It returns store.ErrNotFound, or an
// *AmbiguousError with the candidates.
func (c *Controller) Resolve(ref string) (string, error) {
	if store.ValidID(ref) {
		if _, err := c.store.Row(ref); !errors.Is(err, store.ErrNotFound) {
			return ref, nil
		}
		return "", store.ErrNotFound
	}
	ids, err := c.store.IDs()
	if err != nil {
		return "", err
	}
	var found []string
	for _, id := range ids {
		if len(ref) >= minPrefix && strings.HasPrefix(id, ref) || ref != "" && c.named(id, ref) {
			found = append(found, id)
		}
	}
	switch len(found) {
	case 0:
		return "", store.ErrNotFound
	case 1:
		return found[0], nil
	}
	e := &AmbiguousError{Ref: ref}
	for _, id := range found {
		if v, err := c.Get(id); err == nil {
			e.Candidates = append(e.Candidates, v)
		}
	}
	return "", e
}

func (c *Controller) named(id, name string) bool {
	row, err := c.store.Row(id)
	return err == nil && row.Name == name
}
