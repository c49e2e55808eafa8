package session

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"holdfast/session/process"
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
	l := c.lookup(v.ID)
	l.input.mu.Lock()
	defer l.input.mu.Unlock()
	if n := len(l.input.receipts.byKey); n != 1 {
		t.Errorf("%d keys are remembered, want that of what was typed", n)
	}
}
