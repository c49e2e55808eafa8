package session

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"holdfast/store"
)

// A binding is where the short endpoints point. It is immutable; moved is
// closed when another one takes its place.
type binding struct {
	id    string // empty: nothing is bound
	moved chan struct{}
}

// Bound returns the id of the bound session, or ErrNothingBound.
func (c *Controller) Bound() (string, error) {
	b := c.bound.Load()
	if b.id == "" {
		return "", ErrNothingBound
	}
	if _, err := c.store.Row(b.id); errors.Is(err, store.ErrNotFound) {
		return "", ErrNothingBound // another process deleted it
	}
	return b.id, nil
}

// bindLocked moves the binding; the caller holds bindMu. The file only tells
// the next server where to begin, so that a failure to write it is no reason
// to undo a start.
func (c *Controller) bindLocked(id string) {
	old := c.bound.Load()
	if old.id == id {
		return
	}
	c.bound.Store(&binding{id: id, moved: make(chan struct{})})
	close(old.moved)
	c.changes.add(old.id)
	c.changes.add(id)
	if !c.cfg.KeepBinding {
		return
	}
	b, _ := json.Marshal(boundFile{id, time.Now().UTC()})
	if err := store.ReplaceFile(c.boundPath(), append(b, '\n'), true); err != nil {
		c.log.Warn("binding not saved", "session", id, "err", err)
	}
}

// unbind leaves nothing bound if id is what was.
func (c *Controller) unbind(id string) {
	c.bindMu.Lock()
	defer c.bindMu.Unlock()
	if c.bound.Load().id == id {
		c.bindLocked("")
	}
}

type boundFile struct {
	ID string    `json:"id"`
	At time.Time `json:"at"`
}

func (c *Controller) boundPath() string { return filepath.Join(c.store.Dir(), "bound.json") }

// restoreBinding binds what the last server had bound, if it still exists.
func (c *Controller) restoreBinding() {
	c.bound.Store(&binding{moved: make(chan struct{})})
	if !c.cfg.KeepBinding {
		return
	}
	b, err := store.ReadFile(c.boundPath())
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var f boundFile
	if err == nil {
		err = json.Unmarshal(b, &f)
	}
	if err == nil && f.ID != "" {
		if _, err = c.store.Row(f.ID); err == nil {
			c.bound.Store(&binding{id: f.ID, moved: make(chan struct{})})
		}
	}
	if err != nil {
		c.log.Warn("binding not restored", "err", err)
	}
}
