package session

import (
	"bytes"
	"testing"
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
