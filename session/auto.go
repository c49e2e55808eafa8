package session

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"holdfast/state"
	"holdfast/store"
)

// autoResumes is how many sessions are resumed at the same time.
const autoResumes = 4

// AutoResume starts interrupted sessions that want it again, the newest
// first, at most limit of them. It looks at all sessions and starts those in
// the background, until ctx ends; the channel is closed when all of them were
// tried. Until it is known that a session is not among them, its readers wait
// for the new run.
//
// Each session is tried once. One that does not start stays interrupted, with
// its cause, and says why in its row; one whose program ends at once is an
// ended one like any other.
func (c *Controller) AutoResume(ctx context.Context, limit int) <-chan struct{} {
	c.mu.Lock()
	c.looking = true
	c.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		due := c.interrupted(ctx, limit)
		c.mu.Lock()
		c.looking = false
		for _, row := range due {
			c.due[row.ID] = true
		}
		c.mu.Unlock()
		var wg sync.WaitGroup
		turn := make(chan struct{}, autoResumes)
		for _, row := range due {
			turn <- struct{}{}
			wg.Go(func() {
				defer func() { <-turn }()
				c.resumeDue(ctx, row.ID)
			})
		}
		wg.Wait()
	}()
	return done
}

// interrupted returns the sessions that AutoResume starts. It makes every row
// true on its way.
func (c *Controller) interrupted(ctx context.Context, limit int) []*store.Row {
	found, err := c.store.Rows()
	if err != nil {
		c.log.Warn("sessions not resumed", "err", err)
	}
	var rows []*store.Row
	for _, f := range found {
		if ctx.Err() != nil {
			return nil
		}
		row, err := c.trueRow(f)
		if err == nil && row.State == state.Interrupted && row.AutoResume {
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, func(a, b *store.Row) int {
		return cmp.Or(-a.ActiveAt.Compare(b.ActiveAt), cmp.Compare(a.ID, b.ID))
	})
	if len(rows) > limit {
		c.log.Info("sessions not resumed", "count", len(rows)-limit, "limit", limit)
		rows = rows[:limit]
	}
	return rows
}

// resumeDue starts one session that was marked.
func (c *Controller) resumeDue(ctx context.Context, id string) {
	err := ctx.Err()
	if err == nil {
		_, err = c.Start(id)
	}
	c.mu.Lock()
	delete(c.due, id)
	c.mu.Unlock()
	if err == nil || errors.Is(err, ErrLive) || errors.Is(err, ErrClosing) || ctx.Err() != nil {
		return
	}
	c.log.Warn("session not resumed", "session", id, "err", err)
	_, noted := c.change(id, func(r *store.Row) error {
		r.Problem = "not resumed: " + err.Error()
		return nil
	})
	if noted != nil {
		c.log.Warn("problem not saved", "session", id, "err", noted)
	}
}

// Final reports whether a session without a program is at an end. One that
// this process's own Close interrupts is not, nor is one that it is about to
// resume: their readers come back, or go on.
func (c *Controller) Final(row *store.Row) bool {
	return row.State != state.Interrupted || !c.isClosing() && !c.isDue(row)
}

// isDue reports whether an interrupted session is about to be resumed, or may
// be.
func (c *Controller) isDue(row *store.Row) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.due[row.ID] || c.looking && row.AutoResume
}
