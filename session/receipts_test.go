package session

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"holdfast/session/process"
	"holdfast/store"
)

func TestReceiptsRememberTheLast256(t *testing.T) {
	var r receipts
	key := func(i int) Input { return Input{Data: []byte{1}, Key: fmt.Sprint(i)} }
	for i := range maxReceipts + 1 {
		it := new(item)
		if first, err := r.find(key(i), it); first != nil || err != nil {
			t.Fatalf("find of a new key = %v, %v", first, err)
		}
		r.keep(it)
	}
	if it, _ := r.find(key(1), &item{}); it == nil {
		t.Error("key 1 of 257 was forgotten")
	}
	if len(r.byKey) != maxReceipts || len(r.typed) != maxReceipts {
		t.Errorf("%d keys and %d of inputs that were typed, want %d", len(r.byKey), len(r.typed), maxReceipts)
	}
	if it, _ := r.find(key(0), &item{}); it != nil {
		t.Error("key 0 of 257 is remembered")
	}
}

// What is refused takes no place of what was typed, under one key or many.
func TestRefusalsEvictNoReceipt(t *testing.T) {
	c := open(t, t.TempDir())
	v := newSession(t, c, "cat")
	pay := Input{Data: []byte("pay\r"), Key: "pay"}
	first, err := c.Input(t.Context(), v.ID, pay)
	if err != nil {
		t.Fatal(err)
	}
	waitOutput(t, c, v.ID, "pay\r\npay\r\n")
	long := bytes.Repeat([]byte("x"), process.MaxLine+1)
	for i := range maxReceipts + 1 {
		for _, key := range []string{"other", fmt.Sprint(i)} {
			if _, err := c.Input(t.Context(), v.ID, Input{Data: long, Key: key}); !errors.Is(err, ErrLineTooLong) {
				t.Fatalf("input %d = %v, want ErrLineTooLong", i, err)
			}
		}
	}
	if again, err := c.Input(t.Context(), v.ID, pay); again != first || err != nil {
		t.Errorf("repeated input = %+v, %v; want the first receipt %+v", again, err, first)
	}
	typeIn(t, c, v.ID, "end\r")
	waitOutput(t, c, v.ID, "end\r\nend\r\n")
	if got, want := output(t, c, v.ID), "pay\r\npay\r\nend\r\nend\r\n"; got != want {
		t.Errorf("output = %q, want %q", got, want)
	}
	r := c.lookup(v.ID).input.receipts
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.byKey); n != 1 {
		t.Errorf("%d keys are remembered, want that of what was typed", n)
	}
}

// What was typed may end the program. Who lost the answer then gets it, also
// while another run goes on, and types nothing.
func TestReceiptsOutliveTheRun(t *testing.T) {
	c := open(t, t.TempDir())
	v := newSession(t, c, "sh", "-c", "stty -echo; echo ready; read -r line; echo got $line")
	waitOutput(t, c, v.ID, "ready")
	bye := Input{Data: []byte("bye\r"), Key: "last"}
	first, err := c.Input(t.Context(), v.ID, bye)
	if err != nil {
		t.Fatal(err)
	}
	waitOver(t, c, v.ID)
	check := func() {
		t.Helper()
		if again, err := c.Input(t.Context(), v.ID, bye); again != first || err != nil {
			t.Errorf("repeated input = %+v, %v; want the first receipt %+v", again, err, first)
		}
		if _, err := c.Input(t.Context(), v.ID, Input{Data: []byte("other\r"), Key: "last"}); !errors.Is(err, ErrKeyReused) {
			t.Errorf("the key with other input: %v, want ErrKeyReused", err)
		}
	}
	check()
	for _, key := range []string{"", "new"} {
		if _, err := c.Input(t.Context(), v.ID, Input{Data: bye.Data, Key: key}); !errors.Is(err, ErrNotLive) {
			t.Errorf("input with key %q to an ended session: %v, want ErrNotLive", key, err)
		}
	}
	if _, err := c.Start(v.ID); err != nil {
		t.Fatal(err)
	}
	waitOutput(t, c, v.ID, "got bye\r\nready")
	check()
	typeIn(t, c, v.ID, "end\r")
	waitOver(t, c, v.ID)
	if got, want := output(t, c, v.ID), "ready\r\ngot bye\r\nready\r\ngot end\r\n"; got != want {
		t.Errorf("output = %q, want %q", got, want)
	}
	check()
	if err := c.Delete(v.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Input(t.Context(), v.ID, bye); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("repeated input to a deleted session: %v, want ErrNotFound", err)
	}
}

func TestPastReceiptsAreThoseThatEndedLast(t *testing.T) {
	var p pastReceipts
	for i := range maxPast + 1 {
		r := new(receipts)
		r.find(Input{Key: "key"}, new(item))
		p.put(fmt.Sprint(i), r)
	}
	p.put("nothing", new(receipts))
	if len(p.byID) != maxPast || len(p.order) != maxPast {
		t.Errorf("%d sessions in an order of %d, want %d", len(p.byID), len(p.order), maxPast)
	}
	for id, want := range map[string]bool{"0": false, "1": true, "nothing": false} {
		if got := !p.take(id).empty(); got != want {
			t.Errorf("session %s is remembered: %v, want %v", id, got, want)
		}
	}
	if len(p.byID) != maxPast-1 || len(p.order) != maxPast-1 {
		t.Errorf("%d sessions in an order of %d after a take, want %d", len(p.byID), len(p.order), maxPast-1)
	}
}
