package session

import "testing"

// BenchmarkInputKey types one key into a program that takes it.
func BenchmarkInputKey(b *testing.B) {
	c := open(b, b.TempDir())
	v := newSession(b, c, raw("exec cat >/dev/null")...)
	waitOutput(b, c, v.ID, "ready")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Input(b.Context(), v.ID, Input{Data: []byte("x")}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkKeyToEcho types one key, and hears of its echo as an event stream
// does.
func BenchmarkKeyToEcho(b *testing.B) {
	c := open(b, b.TempDir())
	v := newSession(b, c, raw("exec cat")...)
	waitOutput(b, c, v.ID, "ready")
	s, err := c.Stream(StreamOptions{ID: v.ID})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for e := (Event{}); e.Kind != KindLive; {
		if e, err = s.Next(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		r, err := c.Input(b.Context(), v.ID, Input{Data: []byte("x")})
		for e := (Event{}); err == nil && (e.Kind != KindOutput || e.Cursor <= r.Cursor); {
			e, err = s.Next(b.Context())
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
