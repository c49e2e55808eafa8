package leasefs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var since = time.Date(2026, 11, 30, 14, 5, 9, 123456789, time.UTC)

func signed(doc string) []byte {
	return fmt.Appendf(nil, "%08x %s\n", crc32.ChecksumIEEE([]byte(doc)), doc)
}

func TestRecordKeepsWhatItIsGiven(t *testing.T) {
	h := Holder{PID: 4242, Start: 12345, Boot: "5e0c3f2a-0000-4000-8000-000000000000", Host: "bücher-7",
		Since: since, Front: "serve", Addr: "http://127.0.0.1:7070/?a=1&b=<2>"}
	got, err := decodeHolder(h.encode())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&h, got); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
}

func TestRecordIsAlwaysShortAndReadable(t *testing.T) {
	for name, s := range map[string]string{
		"long":     strings.Repeat("x", 1000),
		"wide":     strings.Repeat("世", 1000),
		"quotes":   strings.Repeat(`"\`, 1000),
		"control":  strings.Repeat("\x1b\x00\x7f\n", 1000),
		"invalid":  strings.Repeat("\xff", 1000),
		"fits":     strings.Repeat("x", maxAddr),
		"reversed": "\u202egpj.exe\u2028",
	} {
		h := Holder{PID: 1<<63 - 1, Start: 1<<64 - 1, Boot: s, Host: s, Since: since, Front: s, Addr: s}
		b := h.encode()
		if len(b) >= maxRecord {
			t.Errorf("%s: record of %d bytes", name, len(b))
		}
		got, err := decodeHolder(b)
		if err != nil {
			t.Errorf("%s: decode of our own record %q: %v", name, b, err)
			continue
		}
		if strings.ContainsAny(got.Host+got.Boot+got.Front+got.Addr, "\x1b\x00\x7f\n\u202e\u2028\"\\") {
			t.Errorf("%s: record lets through %q", name, b)
		}
	}
}

// Holder.encode does by hand what encoding/json would do.
func TestRecordIsJSON(t *testing.T) {
	for _, h := range []Holder{
		{PID: 1, Since: since},
		{PID: 1<<63 - 1, Start: 1<<64 - 1, Boot: "5e0c3f2a", Host: "bücher-7", Since: since, Front: "serve", Addr: "http://127.0.0.1:7070/?a=1&b=<2>"},
		{PID: -1, Since: since.Truncate(time.Second), Addr: strings.Repeat("x", maxAddr)},
	} {
		var doc bytes.Buffer
		enc := json.NewEncoder(&doc)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(h); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(signed(strings.TrimSpace(doc.String()))), string(h.encode())); diff != "" {
			t.Errorf("record of %+v (-want +got):\n%s", h, diff)
		}
	}
}

// badRecords are refused for one reason each.
var badRecords = map[string][]byte{
	"one byte":      []byte("x"),
	"not signed":    []byte(`{"pid":1}` + "\n"),
	"wrong sum":     []byte(`00000000 {"pid":1,"since":"2026-11-30T14:05:09Z"}` + "\n"),
	"not JSON":      signed("hello"),
	"wrong type":    signed(`{"pid":"1","since":"2026-11-30T14:05:09Z"}`),
	"no pid":        signed(`{"since":"2026-11-30T14:05:09Z"}`),
	"negative pid":  signed(`{"pid":-1,"since":"2026-11-30T14:05:09Z"}`),
	"no time":       signed(`{"pid":1}`),
	"year 10000":    signed(`{"pid":1,"since":"9999-12-31T23:59:59-01:00"}`),
	"escape":        signed(`{"pid":1,"since":"2026-11-30T14:05:09Z","host":"\u001b[2J"}`),
	"reversed":      signed(`{"pid":1,"since":"2026-11-30T14:05:09Z","addr":"\u202ea"}`),
	"host too long": signed(`{"pid":1,"since":"2026-11-30T14:05:09Z","host":"` + strings.Repeat("x", maxHost+1) + `"}`),
	"too long":      signed(`{"pid":1,"since":"2026-11-30T14:05:09Z","more":"` + strings.Repeat("x", maxRecord) + `"}`),
	"two lines":     append(signed(`{"pid":1,"since":"2026-11-30T14:05:09Z"}`), '\n'),
	"nul bytes":     make([]byte, 200),
}

func TestDamagedRecordsAreRefused(t *testing.T) {
	for name, b := range badRecords {
		if h, err := decodeHolder(b); h != nil || !errors.Is(err, errRecord) {
			t.Errorf("%s: decode = %v, %v, want errRecord", name, h, err)
		}
	}
	whole := Holder{PID: 1, Since: since}.encode()
	for n := range whole {
		if h, err := decodeHolder(whole[:n]); h != nil || err == nil {
			t.Errorf("record torn at %d: %v, %v", n, h, err)
		}
	}
}

func TestMembersOfANewerRecordArePassedOver(t *testing.T) {
	got, err := decodeHolder(signed(`{"pid":1,"start":2,"since":"2026-11-30T15:05:09+01:00","child":{"pid":3}}`))
	want := &Holder{PID: 1, Start: 2, Since: time.Date(2026, 11, 30, 14, 5, 9, 0, time.UTC)}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("decode, %v (-want +got):\n%s", err, diff)
	}
}

func FuzzDecodeHolder(f *testing.F) {
	for _, b := range badRecords {
		f.Add(b)
	}
	f.Add(Holder{PID: 1, Since: since}.encode())
	f.Add(Holder{PID: 4242, Start: 9, Boot: "b", Host: "build7", Since: since, Front: "acp", Addr: "unix:/run/sock"}.encode())
	f.Add([]byte(`{"pid":1,"since":"2026-11-30T14:05:09Z","host":"a"}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		// Few inputs have a right checksum: try each as a document too.
		for _, b := range [][]byte{in, signed(string(in))} {
			first, err := decodeHolder(b)
			if err != nil {
				if first != nil || !errors.Is(err, errRecord) {
					t.Fatalf("decode of %q = %v, %v, want errRecord", b, first, err)
				}
				continue
			}
			again, err := decodeHolder(first.encode())
			if err != nil {
				t.Fatalf("decode of our own encoding of %q: %v", b, err)
			}
			if diff := cmp.Diff(first, again); diff != "" {
				t.Fatalf("round trip of %q (-first +again):\n%s", b, diff)
			}
		}
	})
}
