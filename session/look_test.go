package session

import (
	"bytes"
	"io"
	"testing"
	"time"
)

// Streams that are behind come to the same places, wherever they began, and
// each tells the whole log.
func TestStreamsThatAreBehindAreCutAtTheSamePlaces(t *testing.T) {
	c := open(t, t.TempDir())
	v := newSession(t, c, "sh", "-c", "stty raw; seq 30000 | tr '\\n' é")
	waitOver(t, c, v.ID)
	all := []byte(output(t, c, v.ID))
	var places [2]map[int64]bool
	for i, from := range []int64{0, 12345} {
		places[i] = make(map[int64]bool)
		got, _ := events(t, openStream(t, c, StreamOptions{ID: v.ID, From: FromOffset(from)}), KindLive)
		at := from
		for _, e := range got {
			if e.Kind != KindOutput && e.Kind != KindBytes {
				continue
			}
			if e.From != at || !bytes.Equal(e.Data, all[e.From:e.Cursor]) {
				t.Fatalf("an event from %d to %d, want one from %d with what the log has", e.From, e.Cursor, at)
			}
			at = e.Cursor
			places[i][at] = true
		}
		if at != int64(len(all)) || len(places[i]) < 5 {
			t.Errorf("from %d the stream comes to %d in %d pieces; the log ends at %d", from, at, len(places[i]), len(all))
		}
	}
	for at := range places[1] {
		if !places[0][at] {
			t.Errorf("one stream is cut at %d, the other is not", at)
		}
	}
}

// A stream that is behind does not look at the session for each chunk. What
// happens is told all the same, and the journal's marks in their place.
func TestABacklogHidesNothing(t *testing.T) {
	c := open(t, t.TempDir())
	v := newSession(t, c, "sh", "-c", "stty raw -echo; head -c 500000 /dev/zero; printf .; read x; head -c 500000 /dev/zero; printf .")
	waitOutput(t, c, v.ID, ".")
	if err := c.Resize(v.ID, 100, 30); err != nil {
		t.Fatal(err)
	}
	typeIn(t, c, v.ID, "\n")
	waitOver(t, c, v.ID)
	s := openStream(t, c, StreamOptions{ID: v.ID, From: FromOffset(0)})
	events(t, s, KindOutput)
	events(t, s, KindOutput)
	name := "renamed"
	if _, err := c.Patch(v.ID, Patch{Name: &name}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(backlogFor)
	all, _ := events(t, s, KindSession)
	if e := all[len(all)-1]; len(all) > 2 || e.View.Name != name {
		t.Errorf("after a change: %s, and the name %q; want it at once", kinds(all), e.View.Name)
	}
	all, _ = events(t, s, KindResize)
	if at := all[len(all)-1].Cursor; at != 500001 {
		t.Errorf("resize at %d, want 500001", at)
	}
	if err := c.Delete(v.ID); err != nil {
		t.Fatal(err)
	}
	time.Sleep(backlogFor)
	if e, err := s.Next(t.Context()); err != io.EOF {
		t.Errorf("after the deletion: %s at %d, %v; want io.EOF", e.Kind, e.Cursor, err)
	}
}

// Past the end that a backlog had, a stream looks again, however soon.
func TestABacklogEndsWhereItWasLookedAt(t *testing.T) {
	c := open(t, t.TempDir())
	v := newSession(t, c, "sh", "-c", "stty raw -echo; head -c 200000 /dev/zero; printf .; read x; head -c 300000 /dev/zero; printf !; read x")
	waitOutput(t, c, v.ID, ".")
	s := openStream(t, c, StreamOptions{ID: v.ID, From: FromOffset(0)})
	events(t, s, KindOutput)
	events(t, s, KindOutput)
	if s.backlog.end != 200001 {
		t.Fatalf("backlog up to %d, want 200001", s.backlog.end)
	}
	s.backlog.looked = time.Now().Add(time.Hour)
	if err := c.Resize(v.ID, 100, 30); err != nil {
		t.Fatal(err)
	}
	typeIn(t, c, v.ID, "\n")
	waitOutput(t, c, v.ID, "!")
	all, _ := events(t, s, KindResize)
	if at := all[len(all)-1].Cursor; at != 200001 {
		t.Errorf("resize at %d, want 200001", at)
	}
}
