package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"holdfast/store"
)

func openStream(t *testing.T, c *Controller, o StreamOptions) *Stream {
	t.Helper()
	s, err := c.Stream(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func TestStreamOfARunFromItsStartToItsEnd(t *testing.T) {
	c := open(t, t.TempDir())
	v := newSession(t, c, "sh", "-c", "read x; echo héllo $x; exit 4")
	s := openStream(t, c, StreamOptions{ID: v.ID})
	all, _ := events(t, s, KindLive)
	if got, want := kinds(all), "session resize live"; got != want {
		t.Errorf("events of a quiet session = %q, want %q", got, want)
	}
	typeIn(t, c, v.ID, "you\r")
	all, text := events(t, s, KindEnd)
	if got, want := string(text), "you\r\nhéllo you\r\n"; got != want {
		t.Errorf("output = %q, want %q", got, want)
	}
	end := all[len(all)-1]
	if end.View.State != "ended" || *end.View.ExitCode != 4 || end.Cursor != int64(len(text)) {
		t.Errorf("end = %+v of %+v; want ended with 4 at %d", end, end.View, len(text))
	}
	if _, err := s.Next(t.Context()); err != io.EOF {
		t.Errorf("Next after the end: %v, want io.EOF", err)
	}
	s = openStream(t, c, StreamOptions{ID: v.ID, From: FromOffset(end.Cursor)})
	if !s.AtEnd() {
		t.Error("a stream from the end of an ended session is not AtEnd")
	}
	s = openStream(t, c, StreamOptions{ID: v.ID, From: FromOffset(end.Cursor - 1)})
	if s.AtEnd() {
		t.Error("a stream from before the end is AtEnd")
	}
	if _, err := c.Stream(StreamOptions{ID: v.ID, From: FromOffset(end.Cursor + 1)}); !errors.Is(err, ErrPastEnd) {
		t.Errorf("Stream from past the end: %v, want ErrPastEnd", err)
	}
}

// junk is text with characters of all lengths, escape sequences and invalid
// bytes.
func junk(n int) []byte {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	pieces := []string{"plain text ", "é", "€", "😀", "\x1b[38;5;10m", "\x1b]0;title\a", "\xff", "\xc3", "\xf0\x9f", "\r\n", "\x00"}
	var b bytes.Buffer
	for b.Len() < n {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.Bytes()[:n]
}

// However often a reader goes away and wherever, it gets every byte once; and
// text never has a broken character in it.
func TestReconnectsLoseAndRepeatNothing(t *testing.T) {
	c := open(t, t.TempDir())
	want := junk(1 << 20)
	file := filepath.Join(t.TempDir(), "junk")
	if err := os.WriteFile(file, want, 0o600); err != nil {
		t.Fatal(err)
	}
	v := newSession(t, c, "sh", "-c", "stty raw; exec cat "+file)
	r := rand.New(rand.NewPCG(2, 2))
	var got []byte
	for reconnects := 0; len(got) < len(want); reconnects++ {
		if reconnects > 10000 {
			t.Fatalf("no progress at %d", len(got))
		}
		s, err := c.Stream(StreamOptions{ID: v.ID, From: FromOffset(int64(len(got)))})
		if err != nil {
			t.Fatal(err)
		}
		for range 1 + r.IntN(30) {
			e, err := s.Next(t.Context())
			if err != nil {
				break
			}
			if e.Kind == KindOutput && !utf8.Valid(e.Data) {
				t.Fatalf("output at %d is not text", e.Cursor)
			}
			got = append(got, e.Data...)
			if e.Cursor != int64(len(got)) {
				t.Fatalf("cursor of %s = %d after %d bytes", e.Kind, e.Cursor, len(got))
			}
		}
		s.Close()
	}
	if !bytes.Equal(got, want) {
		t.Error("what was read is not what was printed")
	}
}

func TestResizesComeInTheirPlace(t *testing.T) {
	c := open(t, t.TempDir())
	v := newSession(t, c, "sh", "-c", "stty -echo; printf .; for i in 1 2 3; do read x; printf $x; done")
	waitOutput(t, c, v.ID, ".")
	for i, text := range []string{"aaa", "bbb", "ccc"} {
		typeIn(t, c, v.ID, text+"\r")
		waitOutput(t, c, v.ID, text)
		if i < 2 {
			if err := c.Resize(v.ID, 100+i, 30); err != nil {
				t.Fatal(err)
			}
		}
	}
	waitOver(t, c, v.ID)
	s := openStream(t, c, StreamOptions{ID: v.ID, From: FromOffset(0)})
	all, _ := events(t, s, KindEnd)
	var got []string
	for _, e := range all {
		switch e.Kind {
		case KindOutput:
			got = append(got, string(e.Data))
		case KindResize:
			got = append(got, fmt.Sprint(e.Cols, "x", e.Rows, "@", e.Cursor))
		}
	}
	want := []string{"80x24@0", ".aaa", "100x30@4", "bbb", "101x30@7", "ccc"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("resizes and output (-want +got):\n%s", diff)
	}
	// From the middle, the size that holds there comes first, and only that.
	s = openStream(t, c, StreamOptions{ID: v.ID, From: FromOffset(5)})
	all, _ = events(t, s, KindLive)
	if got, want := kinds(all), "session resize output resize output live"; got != want || all[1].Cols != 100 {
		t.Errorf("from the middle = %q with %d columns first, want %q with 100", got, all[1].Cols, want)
	}
}

// A new run is told where it begins, also to who reads it later.
func TestARunIsToldInItsPlace(t *testing.T) {
	c := open(t, t.TempDir())
	v := newSession(t, c, "sh", "-c", "stty raw; printf abc")
	waitOver(t, c, v.ID)
	watch := openStream(t, c, StreamOptions{ID: v.ID, Watch: true})
	events(t, watch, KindEnd)
	if _, err := c.Start(v.ID); err != nil {
		t.Fatal(err)
	}
	waitOver(t, c, v.ID)
	all, text := events(t, watch, KindRun)
	if e := all[len(all)-1]; e.Run != 2 || e.Cursor != 3 || len(text) > 0 {
		t.Errorf("a watcher was told %+v after %q, want run 2 at 3 after nothing", e, text)
	}
	for from, want := range map[int64]string{0: "session resize output run output live", 3: "session run resize output live", 4: "session resize output live"} {
		all, _ := events(t, openStream(t, c, StreamOptions{ID: v.ID, From: FromOffset(from)}), KindLive)
		if got := kinds(all); got != want {
			t.Errorf("from %d: %q, want %q", from, got, want)
		}
	}
}

func TestHalfACharacterComesAsBytes(t *testing.T) {
	c := open(t, t.TempDir())
	v := newSession(t, c, "sh", "-c", `stty raw -echo; printf 'a\303'; head -c 1 >&2; printf '\251b'; head -c 1`)
	s := openStream(t, c, StreamOptions{ID: v.ID, From: FromOffset(0)})
	all, text := events(t, s, KindBytes)
	if got := string(text); got != "a\xc3" || string(all[len(all)-1].Data) != "\xc3" {
		t.Errorf("after half a character: %q as %s, want \"a\" as text and the rest as bytes", got, kinds(all))
	}
}

func TestTailIsBoundedAndCutSafely(t *testing.T) {
	c := open(t, t.TempDir())
	v := newSession(t, c, "sh", "-c", `stty raw; i=0; while [ $i -lt 30000 ]; do printf '\033[1mééé%05d' $i; i=$((i+1)); done`)
	waitOver(t, c, v.ID)
	full := output(t, c, v.ID)
	s := openStream(t, c, StreamOptions{ID: v.ID})
	from := s.Cursor()
	if tail := int64(len(full)) - from; tail > tailBytes || tail < tailBytes-100 {
		t.Errorf("tail is %d bytes, want just under %d", tail, tailBytes)
	}
	if i := strings.LastIndex(full[:from], "\x1b"); !utf8.ValidString(full[from:]) || from-int64(i) < 4 {
		t.Errorf("cut at %q|%q", full[i:from], full[from:from+8])
	}
	_, text := events(t, s, KindEnd)
	if want := "\x1b[1m" + full[from:]; string(text) != want {
		t.Errorf("the tail is not the modes and the end of the log: %d bytes, want %d", len(text), len(want))
	}
	if s := openStream(t, c, StreamOptions{ID: v.ID, From: FromLast(5)}); s.Cursor() != int64(len(full))-5 {
		t.Errorf("FromLast(5) begins at %d of %d", s.Cursor(), len(full))
	}
	if s := openStream(t, c, StreamOptions{ID: v.ID, From: FromLast(1 << 40)}); s.Cursor() != 0 {
		t.Errorf("FromLast of more than there is begins at %d, want 0", s.Cursor())
	}
}

func TestStreamOfTheBindingFollowsIt(t *testing.T) {
	c := open(t, t.TempDir())
	s := openStream(t, c, StreamOptions{Watch: true})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if e, err := s.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("with nothing bound: %+v, %v; want to wait", e, err)
	}
	a, err := c.New(Spec{Argv: []string{"sh", "-c", "echo one; cat"}})
	if err != nil {
		t.Fatal(err)
	}
	all, _ := events(t, s, KindBind)
	if got := all[len(all)-1].ID; got != a.ID {
		t.Errorf("bind to %q, want %q", got, a.ID)
	}
	if _, text := events(t, s, KindLive); !strings.HasPrefix("one\r\n", string(text)) {
		t.Errorf("output of the bound session = %q", text)
	}
	b, err := c.New(Spec{Argv: []string{"cat"}})
	if err != nil {
		t.Fatal(err)
	}
	all, _ = events(t, s, KindBind)
	if got := all[len(all)-1].ID; got != b.ID {
		t.Errorf("bind to %q, want %q", got, b.ID)
	}
	if err := c.Delete(b.ID); err != nil {
		t.Fatal(err)
	}
	all, _ = events(t, s, KindBind)
	if got := all[len(all)-1].ID; got != "" {
		t.Errorf("bind to %q after Delete, want nothing", got)
	}
}

func TestWatchTellsOfEverySession(t *testing.T) {
	dir := t.TempDir()
	c := open(t, dir)
	v := newSession(t, c, "cat")
	s := openStream(t, c, StreamOptions{ID: v.ID, Watch: true})
	events(t, s, KindLive)
	until := func(what string, is func(Event) bool) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		for {
			e, err := s.Next(ctx)
			if err != nil {
				t.Fatalf("waiting for %s: %v", what, err)
			}
			if is(e) {
				return
			}
		}
	}
	other := newSession(t, c, "cat")
	until("a new session", func(e Event) bool {
		return e.Kind == KindSessions && e.ID == other.ID && e.View.State == "running"
	})
	if _, err := c.Stop(v.ID); err != nil {
		t.Fatal(err)
	}
	until("the end of its own session", func(e Event) bool { return e.Kind == KindEnd && e.View.State == "stopped" })
	if _, err := c.Start(v.ID); err != nil {
		t.Fatal(err)
	}
	until("its next run", func(e Event) bool { return e.Kind == KindSession && e.View.Runs == 2 })
	if err := c.Delete(other.ID); err != nil {
		t.Fatal(err)
	}
	until("a deletion", func(e Event) bool { return e.Kind == KindSessions && e.ID == other.ID && e.Deleted })
	foreign, end := startHolder(t, dir, "")
	until("a session of another process", func(e Event) bool {
		return e.Kind == KindSessions && e.ID == foreign && e.View.Holder != nil
	})
	end(true)
	until("its death", func(e Event) bool {
		return e.Kind == KindSessions && e.ID == foreign && e.View.Cause == "gateway_crash"
	})
}

// A session that another process writes is followed byte for byte.
func TestStreamOfASessionHeldElsewhere(t *testing.T) {
	dir := t.TempDir()
	mine := open(t, dir)
	v := newSession(t, mine, "sh", "-c", "for i in 1 2 3 4 5 6 7 8 9; do echo line $i; sleep 0.05; done")
	// A second store in this process knows nothing of the first one's writer,
	// just like another process.
	st, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	other, err := Open(Config{Store: st, Front: "run"})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	s, err := other.Stream(StreamOptions{ID: v.ID, From: FromOffset(0)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	all, text := events(t, s, KindEnd)
	if got, want := string(text), output(t, mine, v.ID); got != want || all[0].View.Holder == nil {
		t.Errorf("followed %q with holder %v, want %q and a holder", got, all[0].View.Holder, want)
	}
}

func TestGapIsToldWithItsRange(t *testing.T) {
	dir := t.TempDir()
	st, err := store.Open(dir, store.Options{SegmentSize: 1000, Keep: 3000})
	if err != nil {
		t.Fatal(err)
	}
	c := open(t, dir, func(cfg *Config) { cfg.Store = st })
	v := newSession(t, c, "sh", "-c", "stty raw; head -c 20000 /dev/zero | tr '\\0' x")
	v = waitOver(t, c, v.ID)
	if v.Oldest == 0 || v.Cursor != 20000 {
		t.Fatalf("log is %d to %d, want its front gone", v.Oldest, v.Cursor)
	}
	s := openStream(t, c, StreamOptions{ID: v.ID, From: FromOffset(10)})
	all, text := events(t, s, KindEnd)
	var gap Event
	for _, e := range all {
		if e.Kind == KindGap {
			gap = e
		}
	}
	if gap.From != 10 || gap.To != v.Oldest || int64(len(text)) != v.Cursor-v.Oldest {
		t.Errorf("gap %d to %d and %d bytes, want 10 to %d and %d", gap.From, gap.To, len(text), v.Oldest, v.Cursor-v.Oldest)
	}
}

// The waits of a stream, by the clock: half a character is told after 100 ms,
// a ping comes after 10 s of silence, however often the timer was set before.
func TestWaitsOfAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Stream{timer: time.NewTimer(pingEvery)}
		output := make(chan struct{})
		time.AfterFunc(13*time.Second+200*time.Millisecond, func() { close(output) })
		for i, tt := range []struct {
			d      time.Duration
			output <-chan struct{}
			ping   bool
			want   time.Duration
		}{
			{0, nil, true, 10 * time.Second},
			{100 * time.Millisecond, nil, false, 100 * time.Millisecond},
			{0, output, false, 3100 * time.Millisecond},
			{0, nil, true, 10 * time.Second},
			{100 * time.Millisecond, nil, false, 100 * time.Millisecond},
			{0, nil, true, 10 * time.Second},
		} {
			start := time.Now()
			ping, err := s.wait(t.Context(), signals{output: tt.output}, tt.d)
			if got := time.Since(start); ping != tt.ping || err != nil || got != tt.want {
				t.Errorf("wait %d of %v = %v, %v after %v; want %v after %v", i, tt.d, ping, err, got, tt.ping, tt.want)
			}
		}
	})
}
