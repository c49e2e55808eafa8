package session

import (
	"bufio"
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is sent piece by piece is the list as it is now, whatever of it was
// encoded before.
func TestEncodedListIsTheList(t *testing.T) {
	c := open(t, t.TempDir())
	check := func(when string) {
		t.Helper()
		for _, f := range []Filter{{}, {State: "ended"}, {State: "idle"}, {State: "running"}, {State: "live"}, {Query: "even"}, {Query: "none"}} {
			list, err := c.EncodedList(f)
			if err != nil {
				t.Fatal(err)
			}
			var got, want bytes.Buffer
			w := bufio.NewWriter(&got)
			list.Encode(w)
			w.Flush()
			views, err := c.List(f)
			if err != nil {
				t.Fatal(err)
			}
			e := json.NewEncoder(&want)
			e.SetEscapeHTML(false)
			if err := e.Encode(views); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(bytes.TrimSpace(want.Bytes())), got.String()); diff != "" {
				t.Errorf("%s, %+v (-want +got):\n%s", when, f, diff)
			}
			if list.Len() != got.Len() {
				t.Errorf("%s, %+v: Len = %d of %d bytes", when, f, list.Len(), got.Len())
			}
		}
	}
	check("no session")
	var ids []string
	for i := range 6 {
		v := newSession(t, c, "sh", "-c", "exit 0")
		waitOver(t, c, v.ID)
		name := []string{"even", "odd"}[i%2]
		if _, err := c.Patch(v.ID, Patch{Name: &name}); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, v.ID)
		check("one more")
	}
	live := newSession(t, c, "cat")
	check("one is live")
	if views, err := c.List(Filter{State: "live"}); err != nil || len(views) != 1 || views[0].ID != live.ID {
		t.Errorf("live are %d sessions, %v; want %s", len(views), err, live.ID)
	}
	if _, err := c.Resume(ids[2]); err != nil {
		t.Fatal(err)
	}
	waitOver(t, c, ids[2])
	check("one is bound")
	for _, id := range []string{ids[0], ids[5], ids[3], live.ID} {
		if err := c.Delete(id); err != nil {
			t.Fatal(err)
		}
		check("one less")
	}
}
