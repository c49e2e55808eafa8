package store

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadTellsExactlyWhatIsMissing(t *testing.T) {
	dir := t.TempDir()
	// 0-99 removed, 100-199, 200-249 of a torn segment, 300-399 missing, 400-449.
	for first, size := range map[int64]int{100: 100, 200: 50, 300: 0, 400: 50} {
		writeFile(t, segmentPath(dir, first), outputFrom(first, size))
	}
	l := mustOpenLog(t, dir, logOptions{SegmentSize: 100})
	tests := []struct {
		off  int64
		want error
	}{
		{-5, &GapError{-5, 100}},
		{0, &GapError{0, 100}},
		{99, &GapError{99, 100}},
		{100, nil},
		{199, nil},
		{249, nil},
		{250, &GapError{250, 400}},
		{299, &GapError{299, 400}},
		{300, &GapError{300, 400}},
		{399, &GapError{399, 400}},
		{400, nil},
		{449, nil},
		{450, io.EOF},
		{5000, io.EOF},
	}
	for _, r := range []*logReader{newLogReader(dir, nil), newLogReader(dir, l.bounds)} {
		defer r.close()
		for _, tt := range tests {
			var b [1]byte
			n, err := r.readAt(b[:], tt.off)
			if diff := cmp.Diff(tt.want, err, cmp.Comparer(func(a, b error) bool { return errorText(a) == errorText(b) })); diff != "" {
				t.Errorf("readAt(%d) error (-want +got):\n%s", tt.off, diff)
			}
			if tt.want == nil && (n != 1 || b[0] != byteAt(tt.off)) {
				t.Errorf("readAt(%d) = %d bytes, % x, want %x", tt.off, n, b, byteAt(tt.off))
			}
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestGapErrorText(t *testing.T) {
	if got, want := (&GapError{10, 20}).Error(), "output from 10 to 20 is gone"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestReadOfAnEmptyOrMissingLog(t *testing.T) {
	dir := t.TempDir()
	wantSpans(t, dir)
	r := newLogReader(filepath.Join(dir, "none"), nil)
	if _, err := r.readAt(make([]byte, 1), 0); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("readAt in a missing folder: %v, want %v", err, os.ErrNotExist)
	}
	if _, _, err := r.bounds(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("bounds of a missing folder: %v, want %v", err, os.ErrNotExist)
	}
}

// What the writer has published but the disk has lost under it is a gap, not
// the end: a follower would wait for ever.
func TestReadOfVanishedBytesIsAGap(t *testing.T) {
	dir := t.TempDir()
	l := mustOpenLog(t, dir, logOptions{})
	mustAppend(t, l, 100)
	if err := os.Truncate(segmentPath(dir, 0), 40); err != nil {
		t.Fatal(err)
	}
	r := newLogReader(dir, l.bounds)
	defer r.close()
	_, err := r.readAt(make([]byte, 10), 40)
	if gap, ok := errors.AsType[*GapError](err); !ok || *gap != (GapError{40, 100}) {
		t.Errorf("readAt(40) = %v, want a gap from 40 to 100", err)
	}
}

func TestReaderFinishesASegmentThatIsRemoved(t *testing.T) {
	dir := t.TempDir()
	l := mustOpenLog(t, dir, logOptions{SegmentSize: 100, Keep: 100})
	mustAppend(t, l, 100)
	r := newLogReader(dir, l.bounds)
	defer r.close()
	buf := make([]byte, 30)
	for off := int64(0); off < 90; off += 30 {
		if n, err := r.readAt(buf, off); n != 30 || err != nil || !bytes.Equal(buf, outputFrom(off, 30)) {
			t.Fatalf("readAt(%d) = %d, %v, % x", off, n, err, buf)
		}
		if off == 0 {
			mustAppend(t, l, 400)
			wantSegments(t, dir, 400)
		}
	}
	if n, err := r.readAt(buf, 90); n != 10 || err != nil {
		t.Fatalf("readAt(90) = %d, %v; want the last 10 bytes", n, err)
	}
	_, err := r.readAt(buf, 100)
	if gap, ok := errors.AsType[*GapError](err); !ok || *gap != (GapError{100, 400}) {
		t.Errorf("readAt(100) = %v, want a gap from 100 to 400", err)
	}
}

func TestReaderNeverSeesAnAppendInPart(t *testing.T) {
	dir := t.TempDir()
	fail := 3 // the third write fails
	o := logOptions{SegmentSize: 10, hook: func(step string) error {
		if step == "write" {
			if fail--; fail == 0 {
				return errInjected
			}
		}
		return nil
	}}
	l := mustOpenLog(t, dir, o)
	if err := l.append(outputFrom(0, 35)); !errors.Is(err, errInjected) {
		t.Fatalf("append = %v, want %v", err, errInjected)
	}
	r := newLogReader(dir, l.bounds)
	defer r.close()
	if got := spansOf(t, r); got != nil {
		t.Errorf("after a failed append: %v can be read, want nothing", got)
	}
	mustAppend(t, l, 35)
	if diff := cmp.Diff([]span{{0, 35}}, spansOf(t, r)); diff != "" {
		t.Errorf("after the retry (-want +got):\n%s", diff)
	}
}

// Readers beside the writer and readers of the folder follow a busy log that
// retention eats from the front.
func TestReadersFollowABusyLog(t *testing.T) {
	dir := t.TempDir()
	l := mustOpenLog(t, dir, logOptions{SegmentSize: 4000, Keep: 20000})
	done := make(chan struct{})
	var wg sync.WaitGroup
	for _, r := range []*logReader{newLogReader(dir, l.bounds), newLogReader(dir, l.bounds), newLogReader(dir, nil)} {
		wg.Go(func() { followToEnd(t, r, done) })
	}
	wg.Go(func() {
		for running := true; running; {
			select {
			case <-done:
				running = false
			default:
			}
			if err := l.sync(); err != nil {
				t.Error(err)
			}
		}
	})
	for i := range 1500 {
		mustAppend(t, l, 1+i%997)
	}
	close(done)
	wg.Wait()
}

// followToEnd reads until the end after done is closed, and checks bytes and
// order.
func followToEnd(t *testing.T, r *logReader, done <-chan struct{}) {
	defer r.close()
	buf := make([]byte, 1000)
	for off := int64(0); ; {
		last := false
		select {
		case <-done:
			last = true
		default:
		}
		n, err := r.readAt(buf, off)
		gap, isGap := errors.AsType[*GapError](err)
		switch {
		case isGap && gap.From == off && gap.To > off:
			off = gap.To
		case err == io.EOF && last:
			if _, end, err := r.bounds(); err != nil || end != off {
				t.Errorf("read up to %d, but the end is %d, %v", off, end, err)
			}
			return
		case err == io.EOF:
			runtime.Gosched()
		case err != nil || n == 0 || !bytes.Equal(buf[:n], outputFrom(off, n)):
			t.Errorf("readAt(%d) = %d, %v", off, n, err)
			return
		default:
			off += int64(n)
		}
	}
}

func TestReadAllocatesNothing(t *testing.T) {
	l := mustOpenLog(t, t.TempDir(), logOptions{})
	mustAppend(t, l, 100000)
	r := newLogReader(l.dir, l.bounds)
	defer r.close()
	p := make([]byte, 100)
	off := int64(0)
	allocs := testing.AllocsPerRun(100, func() {
		n, err := r.readAt(p, off)
		if err != nil {
			t.Fatal(err)
		}
		off += int64(n)
	})
	if allocs != 0 {
		t.Errorf("%v allocations a read, want none", allocs)
	}
}

func BenchmarkLogRead(b *testing.B) {
	const size = 4 << 20
	l := mustOpenLog(b, b.TempDir(), logOptions{})
	mustAppend(b, l, size)
	p := make([]byte, 32<<10)
	run := func(b *testing.B, read func(p []byte, off int64) (int, error)) {
		b.SetBytes(int64(len(p)))
		off := int64(0)
		for b.Loop() {
			if n, err := read(p, off); n != len(p) || err != nil {
				b.Fatalf("read at %d = %d, %v", off, n, err)
			}
			off = (off + int64(len(p))) % size
		}
	}
	b.Run("side=holdfast", func(b *testing.B) {
		r := newLogReader(l.dir, l.bounds)
		defer r.close()
		run(b, r.readAt)
	})
	b.Run("side=bare", func(b *testing.B) {
		f, err := os.Open(segmentPath(l.dir, 0))
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		run(b, f.ReadAt)
	})
}

func TestAGapOfARestartIsToldByItsSize(t *testing.T) {
	for n, want := range map[int64]bool{
		0: false, defaultSegmentSize: false, holeSize / 2: false, // segments that somebody removed
		holeSize - 5: true, holeSize: true, 2 * holeSize: true,
	} {
		if gap := (&GapError{From: 7, To: 7 + n}); gap.Restart() != want {
			t.Errorf("Restart of a gap of %d bytes = %v, want %v", n, !want, want)
		}
	}
}
