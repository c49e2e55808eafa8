package session

import (
	"io"
	"strings"
)

// A PlainWriter passes the text of a terminal's byte stream on: no escape
// sequences, no control characters but line ends and tabs, U+FFFD for bytes
// that are no UTF-8. A carriage return ends the line, if that has
// text, and is otherwise left out. Pieces may be cut anywhere.
type PlainWriter struct {
	w    io.Writer
	esc  escapeParser
	cr   bool   // carriage returns came; what they were is not known yet
	open bool   // the line has text
	text []byte // still to be written: at the end of Write, half a character
}

// NewPlainWriter returns a writer to w. Close does not close w.
func NewPlainWriter(w io.Writer) *PlainWriter { return &PlainWriter{w: w} }

// Write takes a piece of the stream. It fails as w does.
func (t *PlainWriter) Write(p []byte) (int, error) {
	for _, b := range p {
		was := t.esc.ground()
		t.esc.next(b)
		if was && t.esc.ground() {
			t.take(b)
		}
	}
	return len(p), t.flush(wholeRunes(t.text))
}

// Close writes what is left at the end of the stream.
func (t *PlainWriter) Close() error {
	if t.cr && t.open {
		t.endLine()
	}
	return t.flush(len(t.text))
}

// take adds a byte that stands outside of escape sequences.
func (t *PlainWriter) take(b byte) {
	switch {
	case b == '\r':
		t.cr = true
	case b == '\n':
		t.endLine()
	case b >= ' ' && b != 0x7f || b == '\t':
		if t.cr && t.open {
			t.endLine()
		}
		t.text, t.cr, t.open = append(t.text, b), false, true
	}
}

func (t *PlainWriter) endLine() {
	t.text, t.cr, t.open = append(t.text, '\n'), false, false
}

// flush writes the first n bytes of the text, less the controls that have two
// bytes in UTF-8.
func (t *PlainWriter) flush(n int) error {
	if n == 0 {
		return nil
	}
	text := strings.Map(func(r rune) rune {
		if r >= 0x80 && r < 0xa0 {
			return -1
		}
		return r // U+FFFD for each byte that is no UTF-8
	}, string(t.text[:n]))
	t.text = append(t.text[:0], t.text[n:]...)
	_, err := io.WriteString(t.w, text)
	return err
}
