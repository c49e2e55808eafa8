package session

import (
	"time"

	"holdfast/store"
)

// A Turn is one submitted input of a session.
type Turn struct {
	Turn    int       `json:"turn"` // from 1
	At      int64     `json:"at"`   // end of the log when its first byte was typed
	Time    time.Time `json:"time"`
	Preview string    `json:"preview"` // its text, shortened, without control characters
}

// Turns returns the turns of a session, oldest first. A fork has those of its
// parent up to its beginning.
func (c *Controller) Turns(id string) ([]Turn, error) {
	f, err := c.store.Follow(id)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return turnsOf(f)
}

func turnsOf(f *store.Follower) ([]Turn, error) {
	entries, _, err := f.Entries(0)
	if err != nil {
		return nil, err
	}
	turns := []Turn{}
	for _, e := range entries {
		if e.Kind == "turn" {
			turns = append(turns, Turn{e.Turn, e.At, e.Time, e.Preview})
		}
	}
	return turns, nil
}

// lastTurn is the number of the last turn that began before the cursor at.
func lastTurn(turns []Turn, at int64) int {
	n := 0
	for _, t := range turns {
		if t.At < at {
			n = t.Turn
		}
	}
	return n
}
