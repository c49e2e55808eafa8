package store

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The tests append output whose byte at each offset is a function of the
// offset. So whatever a reader returns can be checked without a copy.

func byteAt(off int64) byte {
	x := uint64(off) * 0x9e3779b97f4a7c15
	return byte(x >> 56)
}

// outputFrom returns the n bytes of output from off on.
func outputFrom(off int64, n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byteAt(off + int64(i))
	}
	return p
}

// A span is a range of offsets that exist.
type span struct{ From, To int64 }

// spansOf reads the whole log from offset 0 on and returns which offsets
// exist. It fails the test when a byte is not the one of its offset, or when
// a gap is not reported from exactly where it is hit to the next byte.
func spansOf(t *testing.T, r *logReader) []span {
	t.Helper()
	var spans []span
	buf := make([]byte, 300)
	for off := int64(0); ; {
		n, err := r.readAt(buf, off)
		if gap, ok := errors.AsType[*GapError](err); ok {
			if gap.From != off || gap.To <= off {
				t.Fatalf("readAt(%d) = gap %d to %d", off, gap.From, gap.To)
			}
			off = gap.To
			continue
		}
		if err == io.EOF {
			checkBounds(t, r, spans, off)
			return spans
		}
		if err != nil || n == 0 {
			t.Fatalf("readAt(%d) = %d, %v", off, n, err)
		}
		if want := outputFrom(off, n); !bytes.Equal(buf[:n], want) {
			t.Fatalf("bytes at %d = %x, want %x", off, buf[:n], want)
		}
		if len(spans) == 0 || spans[len(spans)-1].To != off {
			spans = append(spans, span{off, off})
		}
		off += int64(n)
		spans[len(spans)-1].To = off
	}
}

// checkBounds compares the bounds of r with what was read up to end.
func checkBounds(t *testing.T, r *logReader, spans []span, end int64) {
	t.Helper()
	want := span{end, end}
	if len(spans) > 0 {
		want.From = spans[0].From
	}
	oldest, e, err := r.bounds()
	if err != nil {
		t.Fatal(err)
	}
	if got := (span{oldest, e}); got != want {
		t.Errorf("bounds = %v, but the bytes read are %v up to %d", got, spans, end)
	}
}

// mustOpenLog opens a log that is closed at the end of the test.
func mustOpenLog(t testing.TB, dir string, o logOptions) *outputLog {
	t.Helper()
	l, err := openLog(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.close() })
	return l
}

// mustAppend appends the next n bytes of output.
func mustAppend(t testing.TB, l *outputLog, n int) {
	t.Helper()
	_, end := l.bounds()
	if err := l.append(outputFrom(end, n)); err != nil {
		t.Fatal(err)
	}
}

// wantSpans checks what there is in the log at dir, read through its folder.
func wantSpans(t *testing.T, dir string, want ...span) {
	t.Helper()
	r := newLogReader(dir, nil)
	defer r.close()
	if diff := cmp.Diff(want, spansOf(t, r)); diff != "" {
		t.Errorf("offsets that exist (-want +got):\n%s", diff)
	}
}

// wantSegments checks the first offsets of the segments at dir.
func wantSegments(t *testing.T, dir string, want ...int64) {
	t.Helper()
	got, err := listSegments(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("segments (-want +got):\n%s", diff)
	}
}
