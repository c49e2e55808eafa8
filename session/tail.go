package session

import (
	"errors"
	"io"
	"math"

	"holdfast/store"
)

// blindScan is how much output before a tail is looked at, in bytes, if the
// journal does not know the modes: a version recorded it that did not note
// them.
const blindScan = 1 << 20

// tail returns the cursor of a tail of at most that many bytes, and what brings a fresh terminal
// to the modes that hold there. What it reads does not grow with the log.
func (s *Stream) tail(entries []store.Entry, oldest, end, most int64) (cut int64, modes []byte, err error) {
	want := max(oldest, end-most)
	if want == 0 {
		return 0, nil, nil
	}
	m, at := modesBefore(entries, want)
	next := int64(math.MaxInt64) // run
	for _, e := range entries {
		switch {
		case e.Kind == "size" && e.At >= at && e.At <= want:
			if err := s.pass(m, at, e.At); err != nil {
				return 0, nil, err
			}
			at = e.At
			m.resized()
		case e.Kind == "run" && e.At > want:
			next = min(next, e.At)
		}
	}
	if err := s.pass(m, at, want); err != nil {
		return 0, nil, err
	}
	return s.cut(m, want, next)
}

// modesBefore returns the modes that the journal knows for the place nearest
// before at, and that place. A run begins with a fresh terminal.
func modesBefore(entries []store.Entry, at int64) (m *Modes, from int64) {
	var last store.Entry
	for _, e := range entries {
		if (e.Kind == "run" || e.Kind == "modes") && e.At <= at {
			last = e
		}
	}
	m = new(Modes)
	m.Write([]byte(last.Modes))
	if last.Kind == "modes" {
		return m, max(last.At, at-at%modesEvery) // the same as long as there is no other
	}
	return m, max(last.At, at-blindScan)
}

// pass lets m follow the output of [from, to), as far as it is still there.
func (s *Stream) pass(m *Modes, from, to int64) error {
	return s.f.Each(s.takeBuffer(), from, to, func(p []byte) error {
		m.Write(p)
		return nil
	}, func(_, _ int64) error {
		m.next(cancel)
		return nil
	})
}

// cut returns the first place at or after want where the output can be cut, and
// the modes there. A new run begins at next.
func (s *Stream) cut(m *Modes, want, next int64) (int64, []byte, error) {
	buf := s.takeBuffer()
	n, err := s.f.ReadAt(buf[:min(int64(len(buf)), next-want)], want)
	if _, ok := errors.AsType[*store.GapError](err); n == 0 && err != io.EOF && !ok {
		return 0, nil, err
	}
	for i, b := range buf[:n] {
		if m.esc.ground() && b&0xc0 != 0x80 {
			return want + int64(i), m.Set(), nil
		}
		m.next(b)
	}
	if want+int64(n) == next {
		return next, nil, nil
	}
	if m.esc.string() {
		// Its end would be shown as text, its beginning carried out. As a
		// privacy message neither happens.
		return want + int64(n), append(m.Set(), "\x1b^"...), nil
	}
	return want + int64(n), append(m.Set(), m.unfinished()...), nil
}
