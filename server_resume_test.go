package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/store"
)

// mixedOutput is text as programs print it, with everything that is hard to
// cut: characters of all lengths, escape sequences, and bytes that are no
// characters at all.
func mixedOutput(rnd *rand.Rand, size int) []byte {
	pieces := []string{
		"plain text with spaces ", "\x1b[38;5;208mcolour\x1b[0m", "\x1b]0;a title\x07", "é", "漢字", "👩‍🚀", "\u2028", "\r\n", "\r", "\x00", "\"\\",
		"\xff", "\xc3", "\xe2\x82", "\xf0\x9f\x91", "\x80\x80", "\x1b[", "\ufeff",
	}
	var b bytes.Buffer
	for b.Len() < size {
		b.WriteString(pieces[rnd.IntN(len(pieces))])
	}
	return b.Bytes()[:size]
}

// A reader that loses its connection again and again, at any byte, and goes on
// with the last id that it has, ends with what is in the log: nothing is lost
// and nothing comes twice. Meanwhile another reader does not read at all.
func TestThirtyDisconnectsLoseNothing(t *testing.T) {
	const size, cuts = 8 << 20, 30
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	file := filepath.Join(t.TempDir(), "mixed")
	if err := os.WriteFile(file, mixedOutput(rnd, size), 0o600); err != nil {
		t.Fatal(err)
	}
	ts := startServer(t, nil)
	v := ts.bind("bash", "-c", "stty raw; exec cat "+file)
	path := "/sessions/" + v.ID + "/events"
	stalled := ts.events(path + "?from=0") // and never reads on
	defer stalled.close()

	var got []byte
	last, ended := "", false
	for cut := 0; !ended; cut++ {
		limit := int64(1) << 62
		if cut < cuts {
			limit = rnd.Int64N(4*size/cuts) + 1 // of the stream's bytes: anywhere in a frame
		}
		resp := ts.open("GET", path+"?from=0", "", "Last-Event-ID", last)
		if resp.StatusCode == http.StatusNoContent {
			break // the cut fell between the end event and the end of the stream
		}
		r := newEventReader(io.LimitReader(resp.Body, limit))
		for {
			e, err := r.next()
			if err != nil {
				break
			}
			if e.id != "" {
				last = e.id
			}
			if e.event == "output" || e.event == "bytes" {
				got = append(got, e.bytes(t)...)
			}
			ended = ended || e.event == "end"
		}
		resp.Body.Close()
	}
	want := ts.output(v.ID)
	if len(want) != size {
		t.Errorf("the log has %d bytes, want %d", len(want), size)
	}
	if !bytes.Equal(got, []byte(want)) {
		t.Errorf("%d bytes were read, first difference at %d; want the %d of the log", len(got), differ(got, []byte(want)), len(want))
	}
}

func differ(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// A client that takes nothing is let go when a write has made no progress for
// the time of stall. Another one reads on as if it were not there.
func TestAStalledReaderIsLetGoAlone(t *testing.T) {
	ts := startServer(t, func(_ *store.Options, s *server) { s.stall = time.Second })
	v := ts.bind("bash", "-c", "stty raw -echo; head -c 4000000 /dev/zero | tr '\\0' x; read -n 1; printf end; exec sleep 600")
	for _, path := range []string{"/events?from=0", "/output?from=0&follow=1"} {
		stalled := ts.open("GET", "/sessions/"+v.ID+path, "")
		good := ts.events("/sessions/" + v.ID + "/events?from=0")
		// The log is complete here, so that only the stalled client can be
		// what its handler waits for.
		for n := 0; n < 4000000; {
			e, err := good.next()
			if err != nil {
				t.Fatal(err)
			}
			if e.event == "output" {
				n += len(e.data) - 2
			}
		}
		waitFor(t, "the stalled stream to be ended", func() bool { return len(ts.s.streams) == 1 })
		if _, err := io.Copy(io.Discard, stalled.Body); err == nil {
			t.Errorf("%s: the stalled stream has a proper end", path)
		}
		good.close()
		waitFor(t, "the good stream to be ended", func() bool { return len(ts.s.streams) == 0 })
	}
	good := ts.events("/sessions/" + v.ID + "/events?from=-1")
	good.await("live")
	ts.do("POST", "/input", "x")
	if e := good.await("output"); !strings.Contains(e.data, "end") {
		t.Errorf("after two stalled readers: output %q, want %q", e.data, "end")
	}
}

// waitFor polls until something is so that this process cannot be told of.
func waitFor(t *testing.T, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !so(); {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

// A followed output that retention overtakes cannot go on: it is cut off, so
// that nobody takes it for whole. An event stream tells the gap and goes on.
func TestOutputThatRetentionOvertakes(t *testing.T) {
	ts := startServer(t, func(o *store.Options, _ *server) { o.SegmentSize, o.Keep = 64<<10, 64<<10 })
	v := ts.bind("bash", "-c", "stty raw -echo; printf ready; read -n 1; head -c 4000000 /dev/zero | tr '\\0' x; printf end")
	ts.awaitOutput(v.ID, "ready")
	follow := ts.open("GET", "/sessions/"+v.ID+"/output?follow=1", "")
	stream := ts.events("/sessions/" + v.ID + "/events?from=0")
	must[struct{ Written int }](ts, ts.do("POST", "/input", "g"), http.StatusOK)
	waitFor(t, "the run to end", func() bool { return ts.get(v.ID).State == "ended" })

	if n, err := io.Copy(io.Discard, follow.Body); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("followed output ends after %d bytes with %v, want it cut off", n, err)
	}
	total, gaps := int64(0), int64(0)
	for {
		e, err := stream.next()
		if err != nil {
			t.Fatal(err)
		}
		switch e.event {
		case "output":
			total += int64(len(e.bytes(t)))
		case "gap":
			var from, to int64
			if _, err := fmt.Sscanf(e.data, `{"from":%d,"to":%d}`, &from, &to); err != nil {
				t.Fatalf("gap %s: %v", e.data, err)
			}
			gaps += to - from
		case "end":
			if end := ts.get(v.ID).Cursor; total+gaps != end || gaps == 0 {
				t.Errorf("stream told %d bytes and gaps of %d, want %d in sum and a gap", total, gaps, end)
			}
			return
		}
	}
}

func TestManyReadersGetTheSame(t *testing.T) {
	const size, readers = 1 << 20, 10
	data := mixedOutput(rand.New(rand.NewPCG(1, 2)), size)
	file := filepath.Join(t.TempDir(), "mixed")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	ts := startServer(t, nil)
	v := ts.bind("bash", "-c", "stty raw -echo; printf ready; read -n 1; exec cat "+file)
	ts.awaitOutput(v.ID, "ready")
	var all sync.WaitGroup
	for range readers {
		s := ts.events("/sessions/" + v.ID + "/events?from=5")
		all.Go(func() {
			var got []byte
			for {
				e, err := s.next()
				if err != nil {
					t.Error(err)
					return
				}
				if e.event == "end" {
					break
				}
				if e.event == "output" || e.event == "bytes" {
					got = append(got, e.bytes(t)...)
				}
			}
			if !bytes.Equal(got, data) {
				t.Errorf("a reader got %d bytes, first difference at %d; want %d", len(got), differ(got, data), size)
			}
		})
	}
	ts.do("POST", "/input", "g")
	all.Wait()
}
