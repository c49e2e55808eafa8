package cli

import (
	"errors"
	"fmt"
	"strings"

	"holdfast/leasefs"
	"holdfast/session"
	"holdfast/store"
)

// explain says to the person at the terminal what is wrong with a session that
// was called ref, and what to do.
func explain(ref string, err error) error {
	if e, ok := errors.AsType[*leasefs.HeldError](err); ok {
		return fmt.Errorf("%w; close it there", e)
	}
	if e, ok := errors.AsType[*session.AmbiguousError](err); ok {
		list := make([]string, len(e.Candidates))
		for i, v := range e.Candidates {
			list[i] = fmt.Sprintf("%s (%s)", label(&v), v.State)
		}
		return fmt.Errorf("%.64q fits %d sessions: %s; give the id of one", ref, len(list), strings.Join(list, ", "))
	}
	switch {
	case errors.Is(err, store.ErrNotFound):
		return fmt.Errorf("there is no session %.64q; holdfast ls lists them", ref)
	case errors.Is(err, store.ErrDamaged):
		return fmt.Errorf("session %.64q is unreadable; holdfast show has the reason", ref)
	case errors.Is(err, session.ErrNotLive):
		return fmt.Errorf("session %.64q is not live: no program runs in it; holdfast start %s starts it again", ref, commandText([]string{ref}))
	case errors.Is(err, session.ErrLive):
		return fmt.Errorf("session %.64q is live already; holdfast attach %s joins it", ref, commandText([]string{ref}))
	}
	return err
}
