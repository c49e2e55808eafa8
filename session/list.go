package session

import (
	"bufio"
	"errors"
	"os"
	"slices"
	"strings"

	"holdfast/state"
	"holdfast/store"
)

// MinPrefix is how many characters of an id name a session.
const MinPrefix = 8

// A Filter selects sessions of a list; its zero value selects all.
type Filter struct {
	State string // one of FilterStates; empty: any
	Query string // part of the id, name, profile, program or folder, in any case
}

// anyLive stands for the states of a session that has a program.
const anyLive = "live"

// FilterStates are what a Filter selects by: States, and "live" for those of a
// session that has a program.
var FilterStates = append(slices.Clone(States), anyLive)

// Valid reports whether there may be a session that f selects.
func (f Filter) Valid() bool { return f.State == "" || slices.Contains(FilterStates, f.State) }

// List returns the sessions that f selects, newest activity first. Sessions
// that cannot be read are in it, with the reason.
func (c *Controller) List(f Filter) ([]View, error) {
	_, items, err := c.items(f)
	views := make([]View, len(items))
	for n, i := range items {
		views[n] = i.view
	}
	return views, err
}

// An EncodedList is what List returns as a JSON array.
type EncodedList struct{ pieces [][]byte } // one or more sessions each

// EncodedList returns what List returns. Of sessions at rest nothing is encoded
// again.
func (c *Controller) EncodedList(f Filter) (l EncodedList, err error) {
	s, items, err := c.items(f)
	if err != nil {
		return l, err
	}
	text := s.text()
	for len(items) > 0 {
		first, n := items[0].place, 1
		if first < 0 {
			l.pieces = append(l.pieces, encodeView(&items[0].view))
		} else {
			for n < len(items) && items[n].place == first+n {
				n++
			}
			l.pieces = append(l.pieces, text.piece(first, first+n))
		}
		items = items[n:]
	}
	return l, nil
}

// Len is how many bytes Encode writes.
func (l EncodedList) Len() int {
	n := len("[]") + max(0, len(l.pieces)-1)
	for _, p := range l.pieces {
		n += len(p)
	}
	return n
}

// Encode writes the array.
func (l EncodedList) Encode(w *bufio.Writer) {
	w.WriteByte('[')
	for n, p := range l.pieces {
		if n > 0 {
			w.WriteByte(',')
		}
		w.Write(p)
	}
	w.WriteByte(']')
}

// Match reports whether f selects a session.
func (f Filter) Match(v *View) bool {
	if f.State != "" && f.State != v.State && !(f.State == anyLive && state.State(v.State).Live()) {
		return false
	}
	q := strings.ToLower(f.Query)
	return q == "" || slices.ContainsFunc(append([]string{v.ID, v.Name, v.Profile, v.Cwd}, v.Argv...), func(s string) bool {
		return strings.Contains(strings.ToLower(s), q)
	})
}

// Newest returns the session to go on with when nobody names one: the first of
// views, in the order of List, of those whose folder is dir if there are any.
// One that is live, here or elsewhere, is left for the next that is not, unless
// there is none or shared says that it does as well. Those that cannot be read
// do not count. It reports whether there is one.
func Newest(views []View, dir string, shared bool) (v View, ok bool) {
	folder, _ := os.Stat(dir)
	best := -1
	for i := range views {
		w := &views[i]
		if w.State == Unreadable {
			continue
		}
		rank := 0
		if inFolder(w, dir, folder) {
			rank += 2
		}
		if shared || !w.Live && w.Holder == nil {
			rank++
		}
		if rank > best {
			best, v = rank, *w
		}
		if rank == 3 {
			break // and no more folders are looked at
		}
	}
	return v, best >= 0
}

// inFolder reports whether the folder of a session is dir, which may have been
// reached by another path.
func inFolder(v *View, dir string, folder os.FileInfo) bool {
	if v.Cwd == dir {
		return true
	}
	there, err := os.Stat(v.Cwd)
	return err == nil && folder != nil && os.SameFile(folder, there)
}

// Get returns one session, also one that cannot be read. It returns
// store.ErrNotFound if there is none.
func (c *Controller) Get(id string) (View, error) {
	v, err := c.trueView(id)
	if e, ok := errors.AsType[*store.DamagedError](err); ok {
		return unreadable(id, e), nil
	}
	return v, err
}

func unreadable(id string, e *store.DamagedError) View {
	return View{ID: id, State: Unreadable, Reason: e.Reason, Argv: []string{}}
}

// Resolve returns the id that a reference means: an id, the first 8 or more
// characters of one, or a name. It returns store.ErrNotFound, or an
// *AmbiguousError with the candidates.
func (c *Controller) Resolve(ref string) (string, error) {
	id := strings.ToLower(ref) // as others write it
	if store.ValidID(id) {
		if _, err := c.store.Row(id); !errors.Is(err, store.ErrNotFound) {
			return id, nil
		}
		return "", store.ErrNotFound
	}
	rows, err := c.store.Rows()
	if err != nil {
		return "", err
	}
	var found []string
	for _, r := range rows {
		if len(id) >= MinPrefix && strings.HasPrefix(r.ID, id) || ref != "" && r.Row != nil && r.Row.Name == ref {
			found = append(found, r.ID)
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
