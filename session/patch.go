package session

import (
	"errors"

	"holdfast/store"
)

// Patch renames a session or changes whether it is resumed with the server.
// It returns a *SpecError, store.ErrNotFound, a *leasefs.HeldError, ErrBusy.
func (c *Controller) Patch(id string, p Patch) (View, error) {
	if p.Name != nil {
		if err := checkName(*p.Name); err != nil {
			return View{}, err
		}
	}
	if _, err := c.store.Row(id); err != nil {
		return View{}, err
	}
	release, err := c.reserve(id, "being changed", false, false)
	if err != nil {
		return View{}, err
	}
	defer release()
	change := func(r *store.Row) error {
		if p.Name != nil {
			r.Name = *p.Name
		}
		if p.AutoResume != nil {
			r.AutoResume = *p.AutoResume
		}
		return nil
	}
	row, err := c.change(id, change)
	if err != nil {
		return View{}, err
	}
	return c.view(row), nil
}

// change changes the row of a session whoever writes it here.
func (c *Controller) change(id string, fn func(*store.Row) error) (*store.Row, error) {
	for {
		l := c.running(id)
		if l == nil {
			return c.amend(id, fn)
		}
		row, err := l.w.Update(true, fn)
		if errors.Is(err, store.ErrClosed) {
			<-l.done // it has just ended
			continue
		}
		if err != nil {
			return nil, storageError(err)
		}
		c.changes.add(id)
		return row, nil
	}
}

// amend changes the row of a session that is not live here, under its lease.
func (c *Controller) amend(id string, fn func(*store.Row) error) (*store.Row, error) {
	lease, w, err := c.lease(id)
	if err != nil {
		return nil, err
	}
	defer lease.Release()
	defer w.Close()
	row, err := w.Update(true, fn)
	if err != nil {
		return nil, storageError(err)
	}
	c.changes.add(id)
	return row, nil
}
