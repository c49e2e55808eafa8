package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"holdfast/leasefs"
	"holdfast/state"
	"holdfast/store"
)

// A Finding is something in a store that is not as it should be.
type Finding struct {
	Session  string `json:"session,omitempty"` // id; empty: about the store
	Problem  string `json:"problem"`
	Repaired bool   `json:"repaired"`
	Known    bool   `json:"-"` // no damage: it is said because a reader meets it
}

// Doctor looks at everything in the store, and repairs what can be repaired
// without losing anything: rows of dead holders, unfinished ends of files,
// what is left of sessions that were being made or removed, lock files of
// none. It never removes output, never touches a file that is not ours, and
// never a session that somebody holds.
func (c *Controller) Doctor() ([]Finding, error) {
	swept, err := c.sweep()
	if err != nil {
		return nil, err
	}
	d := &doctor{c: c, found: swept}
	if err := d.foreign(); err != nil {
		return nil, err
	}
	ids, err := c.store.IDs()
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		d.session(id)
	}
	return d.found, nil
}

type doctor struct {
	c     *Controller
	found []Finding
}

func (d *doctor) add(id string, repaired bool, format string, args ...any) {
	d.found = append(d.found, Finding{Session: id, Problem: fmt.Sprintf(format, args...), Repaired: repaired})
}

// foreign reports what is not ours, and what its user wrote wrongly.
func (d *doctor) foreign() error {
	ours := map[string][]string{
		".":        {"token", "server.json", "server.lock", "sock", "bound.json", "profiles.json", "sessions", "locks", "trash"},
		"sessions": nil,
		"locks":    nil,
		"trash":    nil,
	}
	for folder, names := range ours {
		entries, err := os.ReadDir(filepath.Join(d.c.store.Dir(), folder))
		if err != nil {
			return err
		}
		for _, e := range entries {
			if leasefs.IsProbe(e.Name()) {
				continue
			}
			id := strings.TrimSuffix(strings.TrimPrefix(e.Name(), ".new-"), ".lock")
			if !slices.Contains(names, e.Name()) && (folder == "." || !store.ValidID(id)) {
				d.add("", false, "%q is not part of a store", filepath.Join(folder, e.Name()))
			}
		}
	}
	if _, err := d.c.Profiles(); err != nil {
		d.add("", false, "%v", err)
	}
	return nil
}

// session looks at one session.
func (d *doctor) session(id string) {
	claimed, err := d.c.store.Row(id)
	if err != nil {
		d.unreadable(id, err)
		return
	}
	row, held, err := d.c.truth(id)
	switch {
	case err != nil:
		d.add(id, false, "cannot be checked: %v", err)
		return
	case held != nil || d.c.lookup(id) != nil:
		return // somebody writes it right now
	case claimed.State.Live() && row.State == state.Interrupted:
		d.add(id, true, "claimed to be %s, and its holder was dead", claimed.State)
	}
	d.files(id)
}

func (d *doctor) unreadable(id string, err error) {
	if e, ok := errors.AsType[*store.DamagedError](err); ok {
		d.add(id, false, "unreadable: %s", e.Reason)
	} else if !errors.Is(err, store.ErrNotFound) {
		d.add(id, false, "unreadable: %v", err)
	}
}

// files goes through the log and the journal of a session.
func (d *doctor) files(id string) {
	f, err := d.c.store.Follow(id)
	if err != nil {
		return
	}
	defer f.Close()
	_, next, err := f.Entries(0)
	if err != nil {
		d.add(id, false, "journal cannot be read: %v", err)
	}
	if n := f.Damaged(); n > 0 {
		d.add(id, false, "journal has %d damaged lines, which are skipped", n)
	}
	if err == nil && next < f.JournalSize() {
		d.add(id, d.c.reopen(id) == nil, "journal ends in an unfinished line")
	}
	d.gaps(id, f)
}

// gaps reports ranges of output that are missing in the middle of a log. What
// is missing at its front is retention, and what a restart of the machine left
// out is known.
func (d *doctor) gaps(id string, f *store.Follower) {
	at, end, err := f.Bounds()
	if err == nil {
		err = f.Each(make([]byte, 256<<10), at, end, func(p []byte) error {
			at += int64(len(p))
			return nil
		}, func(from, to int64) error {
			gap := store.GapError{From: from, To: to}
			problem := fmt.Sprintf("output from %d to %d is missing", from, to)
			if gap.Restart() {
				problem += ": the log goes on there since the machine restarted, or another one took over"
			}
			d.found = append(d.found, Finding{Session: id, Problem: problem, Known: gap.Restart()})
			at = to
			return nil
		})
	}
	if err != nil {
		d.add(id, false, "output cannot be read from %d on: %v", at, err)
	}
}
