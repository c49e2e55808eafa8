package session

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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
	text  func() shelfText
}

// A listed is a session in a list.
type listed struct {
	row  *store.Row // what it was made from; nil if that cannot be read
	view View
	json atomic.Pointer[[]byte] // the view in the text of a shelf; nil until there is one
}

// A shelfText is a shelf as JSON, in one piece: a list is mostly sent as it lies
// there.
type shelfText struct {
	b  []byte // the sessions, each with a comma behind it
	at []int  // where each begins, and the end
}

// encode makes the text of a shelf, of what that of the shelf before has too.
func (s *shelf) encode() shelfText {
	pieces, size := make([][]byte, len(s.rest)), 0
	for n, i := range s.rest {
		if known := i.json.Load(); known != nil {
			pieces[n] = *known
		} else {
			pieces[n] = encodeView(&i.view)
		}
		size += len(pieces[n]) + 1
	}
	t := shelfText{make([]byte, 0, size), make([]int, 0, len(pieces)+1)}
	for _, p := range pieces {
		t.at = append(t.at, len(t.b))
		t.b = append(append(t.b, p...), ',')
	}
	t.at = append(t.at, size)
	for n, i := range s.rest { // they are in here now, so that the text before is garbage
		pieces[n] = t.piece(n, n+1)
		i.json.Store(&pieces[n])
	}
	return t
}

// piece is the text of the sessions [from, to), without the last comma.
func (t shelfText) piece(from, to int) []byte { return t.b[t.at[from] : t.at[to]-1] }

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

// A placed is a session in a list of now.
type placed struct {
	*listed
	place int // on the shelf; negative: it is not there
}

// items returns the sessions that f selects, newest activity first, and the
// shelf that has most of them.
func (c *Controller) items(f Filter) (*shelf, []placed, error) {
	s, err := c.takeShelf()
	if err != nil {
		return nil, nil, err
	}
	awake := s.awake
	bound := c.bound.Load().id
	if bound != "" && !slices.Contains(awake, bound) {
		awake = append(slices.Clone(awake), bound)
	}
	fresh := make([]*listed, 0, len(awake))
	for _, id := range awake {
		if v, err := c.Get(id); err == nil {
			fresh = append(fresh, &listed{view: v})
		}
	}
	slices.SortFunc(fresh, newestFirst)
	list := make([]placed, 0, len(s.rest)+len(fresh))
	for place, i := range s.rest {
		for len(fresh) > 0 && newestFirst(fresh[0], i) < 0 {
			list, fresh = append(list, placed{fresh[0], -1}), fresh[1:]
		}
		if i.view.ID != bound {
			list = append(list, placed{i, place})
		}
	}
	for _, i := range fresh {
		list = append(list, placed{i, -1})
	}
	if f != (Filter{}) {
		list = slices.DeleteFunc(list, func(i placed) bool { return !f.Match(&i.view) })
	}
	return s, list, nil
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
				next.rest = append(next.rest, &listed{view: unreadable(f.ID, e)})
			}
		case f.Row.State.Live():
			next.awake = append(next.awake, f.ID)
		case i != nil:
			next.rest = append(next.rest, i)
		default:
			v := c.view(f.Row)
			v.Bound = false // who asks knows better
			next.rest = append(next.rest, &listed{row: f.Row, view: v})
		}
	}
	slices.SortFunc(next.rest, newestFirst)
	next.text = sync.OnceValue(next.encode)
	c.shelf.Store(next)
	return next, nil
}
