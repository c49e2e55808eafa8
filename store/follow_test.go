package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// patience is how long a test waits for what must happen soon.
const patience = 20 * time.Second

// isClosed reports whether the channel is closed now.
func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

func mustFollow(t testing.TB, s *Store, id string) *Follower {
	t.Helper()
	f, err := s.Follow(id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

// pollers returns how many pollers run in this process.
func pollers() int {
	buf := make([]byte, 1<<20)
	return strings.Count(string(buf[:runtime.Stack(buf, true)]), "store.(*hub).poll(")
}

// waitPollers waits until n pollers run.
func waitPollers(t *testing.T, n int) {
	t.Helper()
	for deadline := time.Now().Add(patience); pollers() != n; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d pollers run, want %d", pollers(), n)
		}
	}
}

// follow reads from off by the protocol until the log ends at goal, checks
// each byte, and reports a wake-up that does not come.
func follow(ctx context.Context, f *Follower, off, goal int64) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	buf := make([]byte, 777)
	for off < goal {
		changed := f.Changed()
		for {
			n, err := f.ReadAt(buf, off)
			if !bytes.Equal(buf[:n], outputFrom(off, n)) {
				return fmt.Errorf("wrong bytes at %d", off)
			}
			off += int64(n)
			if err == io.EOF {
				break
			}
			if err != nil {
				return err
			}
		}
		if off >= goal {
			break
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("no wake-up: stuck at %d of %d", off, goal)
		}
	}
	if off != goal {
		return fmt.Errorf("read to %d, want %d", off, goal)
	}
	return nil
}

func TestWriterWakesFollowersAtOnceWithoutAGoroutine(t *testing.T) {
	s := openTestStore(t, "", Options{})
	w := mustCreate(t, s, newRow())
	a, b := mustFollow(t, s, w.id), mustFollow(t, s, w.id)
	for name, do := range map[string]func() error{
		"Append": func() error { return w.Append([]byte("x")) },
		"Record": func() error { return w.Record(Entry{Kind: "size"}) },
		"Update": func() error { _, err := w.Update(false, func(*Row) error { return nil }); return err },
		"Wake":   func() error { w.Wake(); return nil },
	} {
		first, second := a.Changed(), b.Changed()
		if isClosed(first) || isClosed(second) {
			t.Errorf("woken before %s", name)
		}
		if err := do(); err != nil {
			t.Fatal(err)
		}
		if !isClosed(first) || !isClosed(second) {
			t.Errorf("%s did not wake both followers at once", name)
		}
	}
	a.Changed()
	if n := pollers(); n != 0 {
		t.Errorf("%d pollers run beside a writer of this process, want none", n)
	}
}

func TestFailedChangesDoNotWake(t *testing.T) {
	s := openTestStore(t, "", Options{})
	w := mustCreate(t, s, newRow())
	changed := mustFollow(t, s, w.id).Changed()
	if _, err := w.Update(false, func(*Row) error { return errInjected }); err != errInjected {
		t.Fatal(err)
	}
	if isClosed(changed) {
		t.Error("woken by an update that failed")
	}
}

func TestFollowerSeesWhatTheWriterPublished(t *testing.T) {
	s := openTestStore(t, "", Options{SegmentSize: 100})
	w := mustCreate(t, s, newRow())
	f := mustFollow(t, s, w.id)
	entry := Entry{Kind: "size", At: 250, Time: time.Unix(1, 0).UTC(), Cols: 80, Rows: 24}
	check := func(when string) {
		t.Helper()
		if oldest, end, err := f.Bounds(); oldest != 0 || end != 250 || err != nil {
			t.Errorf("%s: bounds %d to %d, %v; want 0 to 250", when, oldest, end, err)
		}
		if n, err := f.ReadAt(make([]byte, 9), 250); n != 0 || err != io.EOF {
			t.Errorf("%s: read at the end = %d, %v; want EOF", when, n, err)
		}
		if err := follow(t.Context(), f, 0, 250); err != nil {
			t.Errorf("%s: %v", when, err)
		}
		es, next, err := f.Entries(0)
		if diff := cmp.Diff([]Entry{entry}, es); diff != "" || err != nil || next != f.JournalSize() {
			t.Errorf("%s: entries to %d of %d: %v (-want +got):\n%s", when, next, f.JournalSize(), err, diff)
		}
		if row, err := f.Row(); err != nil || row.ID != w.id {
			t.Errorf("%s: row %v, %v", when, row, err)
		}
	}
	if err := errors.Join(w.Append(outputFrom(0, 250)), w.Record(entry)); err != nil {
		t.Fatal(err)
	}
	check("with the writer")
	mustClose(t, w)
	check("after its Close")
	check("once more")
}

// The same property for a writer of this process and for one of another, for
// which a second store stands, with its own memory.
func TestNoByteIsMissedOrDoubledAndNoWakeUpLost(t *testing.T) {
	for _, name := range []string{"writer of this process", "writer elsewhere"} {
		t.Run(name, func(t *testing.T) {
			theirs := openTestStore(t, "", Options{SegmentSize: 3000})
			ours := theirs
			if name == "writer elsewhere" {
				ours = openTestStore(t, theirs.Dir(), Options{})
			}
			w := mustCreate(t, theirs, newRow())
			const goal = 200_000
			var wg sync.WaitGroup
			for range 4 {
				f := mustFollow(t, ours, w.id)
				wg.Go(func() {
					if err := follow(t.Context(), f, 0, goal); err != nil {
						t.Error(err)
					}
				})
			}
			rnd := rand.New(rand.NewPCG(1, 2))
			for off := int64(0); off < goal; {
				n := min(rnd.Int64N(1000), goal-off)
				if err := w.Append(outputFrom(off, int(n))); err != nil {
					t.Fatal(err)
				}
				off += n
				if rnd.IntN(4) == 0 {
					runtime.Gosched()
				}
			}
			wg.Wait()
		})
	}
}

// Who writes the session changes while it is followed: a writer of this
// process comes and goes, one of another does.
func TestFollowingGoesOnWhenTheWriterChanges(t *testing.T) {
	ours := openTestStore(t, "", Options{SegmentSize: 100})
	theirs := openTestStore(t, ours.Dir(), Options{SegmentSize: 100})
	const rounds, size = 30, 90
	w := mustCreate(t, ours, newRow())
	var wg sync.WaitGroup
	for i := range rounds {
		if i > 0 {
			var err error
			if w, err = []*Store{ours, theirs}[i%2].OpenWriter(w.id); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Append(outputFrom(int64(i*size), size)); err != nil {
			t.Fatal(err)
		}
		if i < 3 {
			f := mustFollow(t, ours, w.id)
			if _, err := f.ReadAt(make([]byte, 1), 0); err != nil {
				t.Fatal(err)
			}
			wg.Go(func() {
				if err := follow(t.Context(), f, 0, rounds*size); err != nil {
					t.Error(err)
				}
			})
		}
		mustClose(t, w)
	}
	wg.Wait()
}

// What the poller first compares with is taken before Changed returns.
func TestChangeRightAfterChangedIsSeen(t *testing.T) {
	theirs := openTestStore(t, "", Options{})
	ours := openTestStore(t, theirs.Dir(), Options{})
	w := mustCreate(t, theirs, newRow())
	for i := range 20 {
		f := mustFollow(t, ours, w.id)
		changed := f.Changed()
		if err := w.Append([]byte("x")); err != nil {
			t.Fatal(err)
		}
		select {
		case <-changed:
		case <-time.After(patience):
			t.Fatalf("change %d was not seen", i)
		}
		f.Close()
	}
}

func TestRowChangedWithinOneTickIsSeenLater(t *testing.T) {
	s := openTestStore(t, "", Options{})
	row := mustHave(t, s).Clone()
	tick := time.Now().Add(time.Second)
	putInTick(t, s, row, tick)
	f := mustFollow(t, s, row.ID)
	changed := f.Changed()
	row.Name = "BUILD"
	putInTick(t, s, row, tick)
	select {
	case <-changed:
	case <-time.After(patience):
		t.Error("the change was never seen")
	}
}

func TestEachKindOfChangeElsewhereIsSeen(t *testing.T) {
	theirs := openTestStore(t, "", Options{SegmentSize: 2})
	ours := openTestStore(t, theirs.Dir(), Options{})
	for name, do := range map[string]func(w *Writer) error{
		"output":  func(w *Writer) error { return w.Append([]byte("x")) },
		"segment": func(w *Writer) error { return w.Append([]byte("xyz")) },
		"journal": func(w *Writer) error { return w.Record(Entry{Kind: "size"}) },
		"row": func(w *Writer) error {
			_, err := w.Update(false, func(r *Row) error { r.Turns = 1; return nil })
			return err
		},
		"damage": func(w *Writer) error { return os.Remove(sessionPath(theirs, w.id)) },
	} {
		w := mustCreate(t, theirs, newRow())
		age(t, sessionPath(theirs, w.id)) // or its settling would be a change
		changed := mustFollow(t, ours, w.id).Changed()
		if err := do(w); err != nil {
			t.Fatal(err)
		}
		select {
		case <-changed:
		case <-time.After(patience):
			t.Errorf("a change of the %s was not seen", name)
		}
		mustClose(t, w)
		if err := theirs.Remove(w.id); err != nil {
			t.Error(err)
		}
	}
}

// Time stands still in the bubble, so the poller must not wait for its next
// look.
func TestPollerEndsAtOnceWithTheLastFollower(t *testing.T) {
	s := openTestStore(t, "", Options{})
	id := mustHave(t, s).ID
	synctest.Test(t, func(t *testing.T) {
		a, b := mustFollow(t, s, id), mustFollow(t, s, id)
		a.Changed()
		b.Changed()
		a.Close()
		a.Close()
		synctest.Wait()
		if n := pollers(); n != 1 {
			t.Errorf("%d pollers run while one follower is open, want 1", n)
		}
		b.Close()
		synctest.Wait()
		if n := pollers(); n != 0 {
			t.Errorf("%d pollers run after the last Close, want none", n)
		}
	})
}

func TestPollerEndsWhenNobodyWaits(t *testing.T) {
	theirs := openTestStore(t, "", Options{})
	ours := openTestStore(t, theirs.Dir(), Options{})
	w := mustCreate(t, theirs, newRow())
	f := mustFollow(t, ours, w.id)
	changed := f.Changed()
	if err := w.Append([]byte("x")); err != nil {
		t.Fatal(err)
	}
	<-changed
	waitPollers(t, 0)
	changed = f.Changed()
	if err := w.Append([]byte("x")); err != nil {
		t.Fatal(err)
	}
	select {
	case <-changed:
	case <-time.After(patience):
		t.Error("no wake-up after the poller had ended once")
	}
}

func TestPollerEndsWhenAWriterOpensHere(t *testing.T) {
	s := openTestStore(t, "", Options{})
	id := mustHave(t, s).ID
	synctest.Test(t, func(t *testing.T) {
		f := mustFollow(t, s, id)
		changed := f.Changed()
		w, err := s.OpenWriter(id)
		if err != nil {
			t.Fatal(err)
		}
		defer mustClose(t, w)
		if !isClosed(changed) {
			t.Error("the open of a writer did not wake the follower")
		}
		for range 10 {
			f.Changed()
			time.Sleep(pollMin / 2)
		}
		if n := pollers(); n != 0 {
			t.Errorf("%d pollers run beside a writer of this process, want none", n)
		}
	})
}

func TestDamagedSessionCanBeFollowed(t *testing.T) {
	s := openTestStore(t, "", Options{})
	w := mustCreate(t, s, newRow())
	if err := w.Append(outputFrom(0, 10)); err != nil {
		t.Fatal(err)
	}
	mustClose(t, w)
	if err := ReplaceFile(sessionPath(s, w.id), nil, false); err != nil {
		t.Fatal(err)
	}
	f := mustFollow(t, s, w.id)
	if _, err := f.Row(); !errors.Is(err, ErrDamaged) {
		t.Errorf("Row = %v, want ErrDamaged", err)
	}
	if err := follow(t.Context(), f, 0, 10); err != nil {
		t.Error(err)
	}
}
