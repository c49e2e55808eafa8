package main

import (
	"bytes"
	"testing"

	"holdfast/session"
)

func TestFramesAreSharedByStreamsAtOnePlace(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789abcdef"), minShared/16)
	output := func(from int64, data []byte) *session.Event {
		return &session.Event{Kind: session.KindOutput, ID: someID, From: from, Cursor: from + int64(len(data)), Data: data}
	}
	ev := output(100, data)
	want, err := appendFrame(nil, ev)
	if err != nil {
		t.Fatal(err)
	}
	var r frameRing
	for reader, has := range []bool{false, false, true, true} {
		got := r.find(ev)
		if (got != nil) != has || has && !bytes.Equal(got, want) {
			t.Errorf("reader %d finds %.80q, want one: %v", reader+1, got, has)
		}
		if got == nil {
			own := bytes.Clone(want)
			r.offer(ev, own)
			clear(own) // the stream goes on with its buffer
		}
	}

	other := *ev
	other.ID = "another"
	modes := *ev // of as many bytes, but some are not in the log
	modes.From += 20
	small := output(100, data[:minShared-1])
	for what, ev := range map[string]*session.Event{"another session's": &other, "the tail's": &modes, "a small": small, "an earlier": output(99, data)} {
		for range 2 {
			if got := r.find(ev); got != nil {
				t.Errorf("%s event finds %.80q", what, got)
			}
		}
	}

	for i := range len(r.kept) {
		r.find(output(int64(1000*i), data))
	}
	if got := r.find(ev); got != nil {
		t.Error("a frame is kept although as many places came since as there is room for")
	}
}
