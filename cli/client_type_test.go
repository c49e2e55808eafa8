package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"holdfast/store"
)

// typeTo returns a typist whose requests serve answers.
func typeTo(t testing.TB, serve http.HandlerFunc) typist {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "sock")
	ln, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: serve}
	go srv.Serve(ln)
	t.Cleanup(func() { srv.Close() })
	c := newClient(func() string { return socket })
	return c.typist(t.Context(), "it")
}

// Whatever the server reads and when, it gets each byte once, in its order.
func TestTypistOfAServerThatReadsLate(t *testing.T) {
	read := make(chan struct{})
	got := make(chan []byte, 1)
	ty := typeTo(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != "POST" || r.URL.String() != "/sessions/it/input?stream=1" {
			t.Errorf("the request is %s %s", r.Method, r.URL)
		}
		<-read
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got <- b
		io.WriteString(w, "{}")
	})
	if ty.writeNow([]byte("x")) {
		t.Error("typed at once, without a connection")
	}
	if _, err := ty.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	want := []byte("x")
	for _, key := range []string{"h", "ello", "\r"} {
		if !ty.writeNow([]byte(key)) {
			t.Fatalf("%q waits, with a connection", key)
		}
		want = append(want, key...)
	}
	p := bytes.Repeat([]byte("paste"), 200_000)
	if ty.writeNow(p) {
		t.Error("1 MB was typed at once")
	}
	if left := len(ty.(*clientTypist).out); left == 0 || left >= len(p) {
		t.Errorf("%d bytes are left of a piece that was begun", left)
	}
	close(read)
	p = append(p, "and more"...)
	if _, err := ty.Write(p); err != nil {
		t.Fatal(err)
	}
	want = append(want, p...)
	ty.Close()
	if b := <-got; !bytes.Equal(b, want) {
		t.Errorf("the server got %d bytes, which are not the %d that were typed", len(b), len(want))
	}
}

// A request that the server ends is told of by the next piece, and the one
// after that begins another.
func TestTypistWhoseRequestEnds(t *testing.T) {
	requests := 0
	ty := typeTo(t, func(w http.ResponseWriter, r *http.Request) {
		requests++
		io.ReadFull(r.Body, make([]byte, 1))
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusNotFound)
		io.WriteString(w, `{"type":"tag:holdfast,2026:no-such-session","detail":"it is gone"}`)
	}).(*clientTypist)
	for range 2 {
		if _, err := ty.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		for len(ty.done) == 0 {
			<-time.After(time.Millisecond)
		}
		if ty.writeNow([]byte("y")) {
			t.Error("typed at once, into a request that is over")
		}
		if _, err := ty.Write([]byte("y")); !errors.Is(err, store.ErrNotFound) || !strings.Contains(err.Error(), "it is gone") {
			t.Errorf("Write = %v, want what the server said", err)
		}
	}
	ty.Close()
	if requests != 2 {
		t.Errorf("%d requests, want 2", requests)
	}
}

// The end of its context ends a typist that waits.
func TestTypistThatIsCalledOff(t *testing.T) {
	hold := make(chan struct{})
	defer close(hold)
	ty := typeTo(t, func(http.ResponseWriter, *http.Request) { <-hold }).(*clientTypist)
	var cancel context.CancelFunc
	ty.ctx, cancel = context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		var err error
		for err == nil {
			_, err = ty.Write(make([]byte, 64<<10))
		}
		failed <- err
	}()
	time.AfterFunc(20*time.Millisecond, cancel)
	if err := <-failed; err != context.Canceled {
		t.Errorf("Write = %v, want %v", err, context.Canceled)
	}
}

// BenchmarkTypistKey sends one key to a server that reads it.
func BenchmarkTypistKey(b *testing.B) {
	ty := typeTo(b, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		io.WriteString(w, "{}")
	})
	defer ty.Close()
	if _, err := ty.Write([]byte("x")); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if p := []byte("x"); !ty.writeNow(p) {
			if _, err := ty.Write(p); err != nil {
				b.Fatal(err)
			}
		}
	}
}
