package store

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func mustCopyLog(t *testing.T, src, dst string, at int64) {
	t.Helper()
	if err := copyLog(src, dst, at); err != nil {
		t.Fatal(err)
	}
}

// sharedSegments returns which segments of dst are files of src.
func sharedSegments(t *testing.T, src, dst string) (shared []int64) {
	t.Helper()
	firsts, err := listSegments(dst)
	if err != nil {
		t.Fatal(err)
	}
	for _, first := range firsts {
		a, err1 := os.Stat(segmentPath(src, first))
		b, err2 := os.Stat(segmentPath(dst, first))
		if err1 == nil && err2 == nil && os.SameFile(a, b) {
			shared = append(shared, first)
		}
	}
	return shared
}

func TestForkSharesSealedSegmentsAndCopiesTheCut(t *testing.T) {
	src := filepath.Join(t.TempDir(), "output")
	mustAppend(t, mustOpenLog(t, src, logOptions{SegmentSize: 100}), 250)
	tests := []struct {
		at       int64
		segments []int64
		shared   []int64
	}{
		{0, []int64{0}, nil},
		{1, []int64{0, 1}, nil},
		{99, []int64{0, 99}, nil},
		{100, []int64{0, 100}, []int64{0}},
		{150, []int64{0, 100, 150}, []int64{0}},
		{200, []int64{0, 100, 200}, []int64{0, 100}},
		{201, []int64{0, 100, 200, 201}, []int64{0, 100}},
		{250, []int64{0, 100, 200, 250}, []int64{0, 100}},
	}
	for _, tt := range tests {
		dst := filepath.Join(t.TempDir(), "output")
		mustCopyLog(t, src, dst, tt.at)
		wantSegments(t, dst, tt.segments...)
		if diff := cmp.Diff(tt.shared, sharedSegments(t, src, dst)); diff != "" {
			t.Errorf("fork at %d: shared segments (-want +got):\n%s", tt.at, diff)
		}
		if tt.at > 0 {
			wantSpans(t, dst, span{0, tt.at})
		}
		mustAppend(t, mustOpenLog(t, dst, logOptions{SegmentSize: 100}), 500)
		wantSpans(t, dst, span{0, tt.at + 500})
		wantSpans(t, src, span{0, 250})
	}
}

// Where the parent's writer has just begun a new segment nothing is copied.
func TestForkAtASealSharesAllOfIt(t *testing.T) {
	src, dst := filepath.Join(t.TempDir(), "output"), filepath.Join(t.TempDir(), "output")
	l := mustOpenLog(t, src, logOptions{SegmentSize: 100})
	mustAppend(t, l, 250)
	for range 2 {
		if at, err := l.seal(); at != 250 || err != nil {
			t.Fatalf("seal = %d, %v, want 250", at, err)
		}
	}
	wantSegments(t, src, 0, 100, 200, 250)
	mustCopyLog(t, src, dst, 250)
	if diff := cmp.Diff([]int64{0, 100, 200}, sharedSegments(t, src, dst)); diff != "" {
		t.Errorf("shared segments (-want +got):\n%s", diff)
	}
	mustAppend(t, l, 70)
	wantSpans(t, dst, span{0, 250})
	wantSpans(t, src, span{0, 320})
	l.close()
	if at, err := l.seal(); at != 320 || err != nil {
		t.Errorf("seal of a closed log = %d, %v, want its end", at, err)
	}
	wantSegments(t, src, 0, 100, 200, 250)
}

// What an append that failed has written belongs to its next try.
func TestNoSealInAnAppendThatFailed(t *testing.T) {
	dir, full := filepath.Join(t.TempDir(), "output"), true
	l := mustOpenLog(t, dir, logOptions{hook: func(step string) error {
		if full && step == "publish" {
			return errInjected
		}
		return nil
	}})
	if err := l.append(outputFrom(0, 10)); !errors.Is(err, errInjected) {
		t.Fatal(err)
	}
	if at, err := l.seal(); at != 0 || err != nil {
		t.Errorf("seal = %d, %v, want 0", at, err)
	}
	full = false
	mustAppend(t, l, 10)
	wantSegments(t, dir, 0)
	wantSpans(t, dir, span{0, 10})
}

// Go does not tell how much was written of what met its error midway.
func TestNoSealWhereAWriteHasMetItsErrorMidway(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "output")
	l := mustOpenLog(t, dir, logOptions{})
	mustAppend(t, l, 10)
	half := outputFrom(10, 5)
	if _, err := l.file.WriteAt(half, 10); err != nil {
		t.Fatal(err)
	}
	if at, err := l.seal(); at != 10 || err != nil {
		t.Errorf("seal = %d, %v, want 10", at, err)
	}
	mustAppend(t, l, 10)
	wantSegments(t, dir, 0)
	wantSpans(t, dir, span{0, 20})
}

// A disk that has no room for another file may have some in the last one.
func TestASealThatFailsChangesNothing(t *testing.T) {
	dir, full := filepath.Join(t.TempDir(), "output"), false
	l := mustOpenLog(t, dir, logOptions{SegmentSize: 100, hook: func(step string) error {
		if full && step == "create" {
			return errInjected
		}
		return nil
	}})
	mustAppend(t, l, 10)
	full = true
	if _, err := l.seal(); !errors.Is(err, errInjected) {
		t.Errorf("seal = %v, want what create has met", err)
	}
	mustAppend(t, l, 50)
	full = false
	mustAppend(t, l, 70)
	wantSegments(t, dir, 0, 100)
	wantSpans(t, dir, span{0, 130})
}

func TestCutOfALogIsItsEnd(t *testing.T) {
	s := openTestStore(t, "", Options{})
	w := mustCreate(t, s, newRow())
	f, err := s.Follow(w.Row().ID)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	dir := filepath.Join(s.folder(w.Row().ID), outputDir)
	var end int64
	for _, tt := range []struct {
		when     string
		do       func()
		segments []int64
	}{
		{"written here", func() {}, []int64{0, 5}},
		{"written here, again", func() {}, []int64{0, 5, 10}},
		{"given up", w.GiveUp, []int64{0, 5, 10}},
		{"closed", func() { w.Close() }, []int64{0, 5, 10}},
	} {
		if w.Append([]byte("hello")) == nil {
			end += 5
		}
		tt.do()
		if at, err := f.Cut(); at != end || err != nil {
			t.Errorf("%s: Cut = %d, %v, want %d", tt.when, at, err, end)
		}
		wantSegments(t, dir, tt.segments...)
	}
}

func TestForkAndParentLiveOnAlone(t *testing.T) {
	src, dst := filepath.Join(t.TempDir(), "output"), filepath.Join(t.TempDir(), "output")
	parent := mustOpenLog(t, src, logOptions{SegmentSize: 100, Keep: 300})
	mustAppend(t, parent, 350)
	mustCopyLog(t, src, dst, 350)
	mustAppend(t, parent, 1000)
	wantSpans(t, src, span{1000, 1350})
	wantSpans(t, dst, span{0, 350})

	fork := mustOpenLog(t, dst, logOptions{SegmentSize: 100, Keep: 100})
	mustAppend(t, fork, 70)
	wantSpans(t, dst, span{300, 420})
	wantSpans(t, src, span{1000, 1350})
}

func TestForkOfALogWithMissingRanges(t *testing.T) {
	src := t.TempDir()
	for first, size := range map[int64]int{100: 100, 200: 50, 300: 0, 400: 50} {
		writeFile(t, segmentPath(src, first), outputFrom(first, size))
	}
	for _, tt := range []struct {
		at   int64
		want []span
	}{
		{50, nil}, // before the oldest
		{150, []span{{100, 150}}},
		{250, []span{{100, 250}}},
		{320, []span{{100, 250}}}, // in the hole
		{450, []span{{100, 250}, {400, 450}}},
	} {
		dst := filepath.Join(t.TempDir(), "output")
		mustCopyLog(t, src, dst, tt.at)
		wantSpans(t, dst, tt.want...)
		l := mustOpenLog(t, dst, logOptions{})
		if _, end := l.bounds(); end != tt.at {
			t.Errorf("end of the fork at %d = %d", tt.at, end)
		}
	}
}

func TestForkOutsideTheLogIsRefused(t *testing.T) {
	src := t.TempDir()
	mustAppend(t, mustOpenLog(t, src, logOptions{}), 10)
	for at, want := range map[int64]string{
		-1: "copy output: offset -1 is not in 0 to 10",
		11: "copy output: offset 11 is not in 0 to 10",
	} {
		dst := filepath.Join(t.TempDir(), "output")
		if err := copyLog(src, dst, at); err == nil || err.Error() != want {
			t.Errorf("fork at %d: %v, want %q", at, err, want)
		}
	}
	err := copyLog(filepath.Join(src, "none"), filepath.Join(t.TempDir(), "output"), 0)
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("fork of a missing log: %v, want %v", err, os.ErrNotExist)
	}
}

// While the parent's writer appends and retention removes, a fork has its
// bytes in one piece.
func TestForkOfABusyLog(t *testing.T) {
	src := filepath.Join(t.TempDir(), "output")
	l := mustOpenLog(t, src, logOptions{SegmentSize: 200, Keep: 10000})
	mustAppend(t, l, 15000)
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				mustAppend(t, l, 130)
			}
		}
	})
	for i := range 50 {
		dst := filepath.Join(t.TempDir(), "output")
		_, at := l.bounds()
		if i%2 == 0 {
			var err error
			if at, err = l.seal(); err != nil {
				t.Fatal(err)
			}
		}
		mustCopyLog(t, src, dst, at)
		oldest, _, err := folderBounds(src) // this one and all after it were there all the time
		if err != nil {
			t.Fatal(err)
		}
		r := newLogReader(dst, nil)
		got := spansOf(t, r)
		if len(got) > 1 || len(got) == 1 && got[0].To != at || oldest < at && (len(got) == 0 || got[0].From > oldest) {
			t.Errorf("fork at %d has %v, want %d to %d and perhaps more", at, got, oldest, at)
		}
		r.close()
	}
	close(done)
	wg.Wait()
}

func TestForkOfAJournalEndsAtItsOffset(t *testing.T) {
	dir := t.TempDir()
	src, es := filepath.Join(dir, "src"), testEntries()
	j := mustOpenJournal(t, src)
	mustRecord(t, j, es...)
	data, err := os.ReadFile(src)
	if err != nil {
		t.Fatal(err)
	}
	newer := `{"kind":"run","at":0,"time":"2026-11-30T14:05:09Z","colour":1}` + "\n"
	writeFile(t, src, []byte(newer+"damaged\n"+string(data)+`{"kind":"torn"`))
	dst := filepath.Join(dir, "dst")
	if err := copyJournal(src, dst, 21); err != nil { // the turn is at 20
		t.Fatal(err)
	}
	got, _, damaged, err := readJournal(dst, 0)
	if err != nil || damaged != 0 {
		t.Fatalf("copy has %d damaged lines, %v", damaged, err)
	}
	if diff := cmp.Diff(es[:3], got[1:]); diff != "" {
		t.Errorf("entries of the fork at 21 (-want +got):\n%s", diff)
	}
	if err := os.Remove(dst); err != nil {
		t.Fatal(err)
	}
	if err := copyJournal(src, dst, 20); err != nil {
		t.Fatal(err)
	}
	if got, _, _, err = readJournal(dst, 0); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(es[:2], got[1:]); diff != "" {
		t.Errorf("entries of the fork where a turn begins (-want +got):\n%s", diff)
	}
	data, err = os.ReadFile(dst)
	if err != nil || string(data[:len(newer)]) != newer {
		t.Errorf("first line = %q, %v, want %q", data, err, newer)
	}
}
