package session

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"holdfast/store"
)

// A shelf is the sorted list of the sessions that nobody runs. It is made
// anew when a row of the store changes; items whose row has not changed are
// taken over, with their encoding.
type shelf struct {
	from  []store.Found // what it was made from
	rest  []*listed     // newest activity first
	awake []string      // sessions whose row claims a program: looked at each time
}

// A listed is a session in a list.
type listed struct {
	row    *store.Row // what it was made from; nil if that cannot be read
	view   View
	encode func() []byte // the view as JSON; made once
}

func newListed(row *store.Row, v View) *listed {
	i := &listed{row: row, view: v}
	i.encode = sync.OnceValue(func() []byte { return encodeView(&i.view) })
	return i
}

// encodeView returns a session as JSON.
func encodeView(v *View) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // strings, numbers and times of rows, which are JSON
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// activity is when something last happened in the session.
func (i *listed) activity() time.Time {
	if i.view.ActiveAt == nil {
		return time.Time{}
	}
	return *i.view.ActiveAt
}

// newestFirst is the order of lists.
func newestFirst(a, b *listed) int {
	return cmp.Or(b.activity().Compare(a.activity()), strings.Compare(a.view.ID, b.view.ID))
}

// items returns the sessions that f selects, newest activity first.
func (c *Controller) items(f Filter) ([]*listed, error) {
	s, err := c.takeShelf()
	if err != nil {
		return nil, err
	}
	awake := s.awake
	bound := c.bound.Load().id
	if bound != "" && !slices.Contains(awake, bound) {
		awake = append(slices.Clone(awake), bound)
	}
	fresh := make([]*listed, 0, len(awake))
	for _, id := range awake {
		if v, err := c.Get(id); err == nil {
			fresh = append(fresh, newListed(nil, v))
		}
	}
	slices.SortFunc(fresh, newestFirst)
	list := make([]*listed, 0, len(s.rest)+len(fresh))
	for _, i := range s.rest {
		for len(fresh) > 0 && newestFirst(fresh[0], i) < 0 {
			list, fresh = append(list, fresh[0]), fresh[1:]
		}
		if i.view.ID != bound {
			list = append(list, i)
		}
	}
	list = append(list, fresh...)
	if f != (Filter{}) {
		list = slices.DeleteFunc(list, func(i *listed) bool { return !f.Match(&i.view) })
	}
	return list, nil
}

// takeShelf returns the shelf of the store as it is.
func (c *Controller) takeShelf() (*shelf, error) {
	found, err := c.store.Rows()
	if err != nil {
		return nil, err
	}
	old := c.shelf.Load()
	if old != nil && len(old.from) == len(found) && (len(found) == 0 || &old.from[0] == &found[0]) {
		return old, nil
	}
	known := make(map[*store.Row]*listed)
	if old != nil {
		for _, i := range old.rest {
			known[i.row] = i
		}
	}
	next := &shelf{from: found, rest: make([]*listed, 0, len(found))}
	for _, f := range found {
		switch i := known[f.Row]; {
		case f.Row == nil:
			if e, ok := errors.AsType[*store.DamagedError](f.Err); ok {
				next.rest = append(next.rest, newListed(nil, unreadable(f.ID, e)))
			}
		case f.Row.State.Live():
			next.awake = append(next.awake, f.ID)
		case i != nil:
			next.rest = append(next.rest, i)
		default:
			v := c.view(f.Row)
			v.Bound = false // who asks knows better
			next.rest = append(next.rest, newListed(f.Row, v))
		}
	}
	slices.SortFunc(next.rest, newestFirst)
	c.shelf.Store(next)
	return next, nil
}
