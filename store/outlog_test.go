package store

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

var errInjected = errors.New("injected")

func TestLogSurvivesAnyOrderOfOperations(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			m := &logModel{rnd: rand.New(rand.NewPCG(seed, 1)), dir: filepath.Join(t.TempDir(), "output")}
			m.opts = logOptions{SegmentSize: 300 + m.rnd.Int64N(2000), Keep: m.rnd.Int64N(3) * 3000, hook: m.fault}
			m.open(t, false)
			for range 50 {
				switch m.rnd.IntN(12) {
				case 0:
					m.open(t, false)
				case 1:
					m.open(t, true)
				case 2:
					if err := m.log.sync(); err != nil {
						t.Fatal(err)
					}
				case 3:
					if end, err := m.log.seal(); end != m.end || err != nil {
						t.Fatalf("seal = %d, %v; the end is %d", end, err, m.end)
					}
				default:
					m.append(t)
				}
				m.check(t)
			}
			m.log.close()
		})
	}
}

// A logModel drives a log and knows which offsets it must have.
type logModel struct {
	rnd     *rand.Rand
	dir     string
	opts    logOptions
	log     *outputLog
	failing bool // whether steps may fail

	spans   []span // appended, retention aside
	end     int64  // what readers of this process may see
	pending int    // length of an append that failed and is to be repeated
}

func (m *logModel) fault(step string) error {
	if m.failing && step != "sync" && m.rnd.IntN(4) == 0 {
		return errInjected
	}
	return nil
}

// open ends the writer and begins another one. Of a failed append it may find
// any part.
func (m *logModel) open(t *testing.T, hole bool) {
	t.Helper()
	if m.log != nil {
		if err := m.log.close(); err != nil {
			t.Fatal(err)
		}
	}
	o := m.opts
	o.Hole = hole
	var err error
	if m.log, err = openLog(m.dir, o); err != nil {
		t.Fatal(err)
	}
	_, end := m.log.bounds()
	last := end
	if hole {
		last -= 1 << 30
	}
	if last < m.end || last > m.end+int64(m.pending) {
		t.Fatalf("open finds the end at %d, want %d and up to %d more", last, m.end, m.pending)
	}
	m.add(last)
	m.end, m.pending = end, 0
}

// add notes that the bytes up to end exist.
func (m *logModel) add(end int64) {
	if len(m.spans) > 0 && m.spans[len(m.spans)-1].To == m.end {
		m.spans[len(m.spans)-1].To = end
	} else if end > m.end {
		m.spans = append(m.spans, span{m.end, end})
	}
}

func (m *logModel) append(t *testing.T) {
	t.Helper()
	n := max(m.pending, m.rnd.IntN(1500))
	m.failing = m.rnd.IntN(3) == 0
	err := m.log.append(outputFrom(m.end, n))
	m.failing = false
	switch {
	case err == nil:
		m.add(m.end + int64(n))
		m.end, m.pending = m.end+int64(n), 0
	case errors.Is(err, errInjected):
		m.pending = n
	default:
		t.Fatal(err)
	}
}

// check compares what a reader beside the writer sees with the model, and
// that retention kept enough and not too much.
func (m *logModel) check(t *testing.T) {
	t.Helper()
	r := newLogReader(m.dir, m.log.bounds)
	defer r.close()
	got := spansOf(t, r)
	if _, end := m.log.bounds(); end != m.end {
		t.Fatalf("end = %d, want %d", end, m.end)
	}
	total, kept := bytesIn(m.spans), bytesIn(got)
	if keep := m.opts.Keep; keep == 0 && kept != total || kept < min(keep, total) {
		t.Fatalf("%d of %d bytes are left, keep is %d", kept, total, keep)
	}
	// What is kept is the end of what was appended.
	for i := range got {
		w, g := m.spans[len(m.spans)-1-i], got[len(got)-1-i]
		if g != w && (i < len(got)-1 || g.To != w.To || g.From < w.From) {
			t.Fatalf("offsets that exist = %v, want the end of %v", got, m.spans)
		}
	}
	folder := newLogReader(m.dir, nil)
	defer folder.close()
	if _, end, err := folder.bounds(); err != nil || end < m.end || end > m.end+int64(m.pending) {
		t.Fatalf("end in the folder = %d, %v; want %d and up to %d more", end, err, m.end, m.pending)
	}
	spansOf(t, folder)
}

func bytesIn(spans []span) (n int64) {
	for _, s := range spans {
		n += s.To - s.From
	}
	return n
}

func TestRetentionRemovesWholeSegmentsFromTheFront(t *testing.T) {
	dir := t.TempDir()
	l := mustOpenLog(t, dir, logOptions{SegmentSize: 100, Keep: 250})
	mustAppend(t, l, 349)
	wantSegments(t, dir, 0, 100, 200, 300)
	mustAppend(t, l, 1) // now 250 bytes remain without the first
	wantSegments(t, dir, 100, 200, 300)
	wantSpans(t, dir, span{100, 350})
	mustAppend(t, l, 1000)
	wantSegments(t, dir, 1100, 1200, 1300)
	wantSpans(t, dir, span{1100, 1350})
}

func TestRetentionCountsBytesNotOffsets(t *testing.T) {
	dir := t.TempDir()
	mustAppend(t, mustOpenLog(t, dir, logOptions{SegmentSize: 100}), 80)
	l := mustOpenLog(t, dir, logOptions{SegmentSize: 100, Keep: 100, Hole: true})
	mustAppend(t, l, 90)
	wantSpans(t, dir, span{0, 80}, span{80 + 1<<30, 170 + 1<<30})
	mustAppend(t, l, 10)
	wantSpans(t, dir, span{80 + 1<<30, 180 + 1<<30})
}

func TestRetentionKeepsTheLastSegment(t *testing.T) {
	dir := t.TempDir()
	l := mustOpenLog(t, dir, logOptions{SegmentSize: 100, Keep: 1})
	mustAppend(t, l, 100)
	wantSegments(t, dir, 0)
	mustAppend(t, l, 1)
	wantSegments(t, dir, 100)
}

func TestOpenAppliesALowerLimit(t *testing.T) {
	dir := t.TempDir()
	mustAppend(t, mustOpenLog(t, dir, logOptions{SegmentSize: 100}), 350)
	mustOpenLog(t, dir, logOptions{SegmentSize: 100, Keep: 50})
	wantSpans(t, dir, span{300, 350})
}

func TestHoleIsOnDiskAtOpen(t *testing.T) {
	dir := t.TempDir()
	l := mustOpenLog(t, dir, logOptions{})
	mustAppend(t, l, 10)
	mustOpenLog(t, dir, logOptions{Hole: true})
	mustOpenLog(t, dir, logOptions{Hole: true}) // nothing appended between
	l = mustOpenLog(t, dir, logOptions{})
	mustAppend(t, l, 10)
	wantSegments(t, dir, 0, 10+1<<30, 10+2<<30)
	wantSpans(t, dir, span{0, 10}, span{10 + 2<<30, 20 + 2<<30})
}

func TestOpenGoesOnWhereTheFilesEnd(t *testing.T) {
	tests := []struct {
		name     string
		segments map[int64]int // size by first offset
		want     []int64       // segments after one more byte
		spans    []span
	}{
		{"no segment", nil, []int64{0}, []span{{0, 1}}},
		{"last has room", map[int64]int{0: 100, 100: 7}, []int64{0, 100}, []span{{0, 108}}},
		{"last is full", map[int64]int{0: 100, 100: 100}, []int64{0, 100, 200}, []span{{0, 201}}},
		{"last is over a lowered size", map[int64]int{0: 170}, []int64{0, 170}, []span{{0, 171}}},
		{"last is empty", map[int64]int{0: 100, 100: 0}, []int64{0, 100}, []span{{0, 101}}},
		{"last is empty after a hole", map[int64]int{0: 30, 500: 0}, []int64{0, 500}, []span{{0, 30}, {500, 501}}},
		{"one in the middle is short", map[int64]int{0: 100, 100: 60, 200: 5}, []int64{0, 100, 200}, []span{{0, 160}, {200, 206}}},
		{"one in the middle is missing", map[int64]int{0: 100, 200: 5}, []int64{0, 200}, []span{{0, 100}, {200, 206}}},
		{"one in the middle is empty", map[int64]int{0: 100, 150: 0, 200: 5}, []int64{0, 150, 200}, []span{{0, 100}, {200, 206}}},
		{"front is empty", map[int64]int{0: 0, 100: 5}, []int64{0, 100}, []span{{100, 106}}},
		{"front is missing", map[int64]int{300: 5}, []int64{300}, []span{{300, 306}}},
		{"one reaches into the next", map[int64]int{0: 150, 100: 20}, []int64{0, 100}, []span{{0, 121}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for first, size := range tt.segments {
				writeFile(t, segmentPath(dir, first), outputFrom(first, size))
			}
			mustAppend(t, mustOpenLog(t, dir, logOptions{SegmentSize: 100}), 1)
			wantSegments(t, dir, tt.want...)
			wantSpans(t, dir, tt.spans...)
		})
	}
}

func TestForeignFilesAreIgnored(t *testing.T) {
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "outside")
	writeFile(t, outside, outputFrom(100, 100))
	mustAppend(t, mustOpenLog(t, dir, logOptions{SegmentSize: 100}), 50)
	for _, name := range []string{"x", "50", "00000000000000000050.tmp", ".00000000000000000050", "99999999999999999999"} {
		writeFile(t, filepath.Join(dir, name), []byte("not output"))
	}
	if err := os.Symlink(outside, segmentPath(dir, 100)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(segmentPath(dir, 200), 0o700); err != nil {
		t.Fatal(err)
	}
	wantSpans(t, dir, span{0, 50})
	l := mustOpenLog(t, dir, logOptions{SegmentSize: 100})
	mustAppend(t, l, 50)
	if err := l.append(outputFrom(100, 1)); !errors.Is(err, fs.ErrExist) {
		t.Errorf("append where a symbolic link is in the way: %v, want %v", err, fs.ErrExist)
	}
	wantSpans(t, dir, span{0, 100})
}

func TestOpenNeverAppendsToASharedFile(t *testing.T) {
	dir, backup := t.TempDir(), filepath.Join(t.TempDir(), "backup")
	mustAppend(t, mustOpenLog(t, dir, logOptions{}), 10)
	if err := os.Link(segmentPath(dir, 0), backup); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, mustOpenLog(t, dir, logOptions{}), 10)
	wantSegments(t, dir, 0, 10)
	wantSpans(t, dir, span{0, 20})
}

func TestOpenGoesOnInAnEmptySharedFile(t *testing.T) {
	dir, backup := t.TempDir(), filepath.Join(t.TempDir(), "backup")
	mustOpenLog(t, dir, logOptions{})
	if err := os.Link(segmentPath(dir, 0), backup); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, mustOpenLog(t, dir, logOptions{}), 10)
	wantSpans(t, dir, span{0, 10})
}

func TestAppendIsOneWriteAndNoAllocation(t *testing.T) {
	writes := 0
	o := logOptions{hook: func(step string) error {
		if step == "write" {
			writes++
		}
		return nil
	}}
	l := mustOpenLog(t, t.TempDir(), o)
	p := outputFrom(0, 1000)
	const runs = 100
	allocs := testing.AllocsPerRun(runs, func() {
		if err := l.append(p); err != nil {
			t.Fatal(err)
		}
	})
	if allocs != 0 || writes != runs+1 {
		t.Errorf("%d appends: %v allocations each and %d writes, want none and one each", runs+1, allocs, writes)
	}
}

func writeFile(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkAppend(b *testing.B) {
	p := outputFrom(0, 32<<10)
	b.Run("side=holdfast", func(b *testing.B) {
		l := mustOpenLog(b, b.TempDir(), logOptions{Keep: 64 << 20})
		b.SetBytes(int64(len(p)))
		for b.Loop() {
			if err := l.append(p); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("side=bare", func(b *testing.B) {
		f, err := os.Create(filepath.Join(b.TempDir(), "bare"))
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		b.SetBytes(int64(len(p)))
		off := int64(0)
		for b.Loop() {
			if _, err := f.WriteAt(p, off); err != nil {
				b.Fatal(err)
			}
			if off += int64(len(p)); off == 64<<20 { // as much on disk as the log keeps
				off = 0
				if err := f.Truncate(0); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
