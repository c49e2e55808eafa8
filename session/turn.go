package session

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"holdfast/store"
)

// maxPreview is how much of a turn's text is kept, in bytes.
const maxPreview = 200

// turnText collects what is typed until Enter. Escape sequences (cursor keys,
// bracketed paste) are not part of it, nor is what is typed without an echo.
type turnText struct {
	text   []byte
	escape escapeParser
	begun  bool
	at     int64 // end of the log before the turn's first byte
}

// add takes bytes that were typed when the log ended at cursor at. When they
// end in Enter it returns the turn, without its number, and begins anew. The
// text of bytes that the terminal hides is not kept.
func (t *turnText) add(p []byte, at int64, hidden bool) *store.Entry {
	if len(p) == 0 {
		return nil
	}
	if !t.begun {
		t.begun, t.at = true, at
	}
	for _, b := range p {
		ground := t.escape.ground()
		t.escape.next(b)
		if !ground || !t.escape.ground() {
			continue
		}
		switch {
		case b == 0x7f || b == '\b':
			_, n := utf8.DecodeLastRune(t.text)
			t.text = t.text[:len(t.text)-n]
		case b == 0x15 || b == 0x03: // ^U, ^C
			t.text = t.text[:0]
		case b == '\r' || b == '\n' || b == '\t':
			b = ' '
			fallthrough
		case b >= ' ':
			if len(t.text) < maxPreview && !hidden {
				t.text = append(t.text, b)
			}
		}
	}
	if last := p[len(p)-1]; last != '\r' && last != '\n' {
		return nil
	}
	e := &store.Entry{Kind: "turn", At: t.at, Time: time.Now().UTC(), Preview: clean(string(t.text))}
	t.text, t.begun = t.text[:0], false
	return e
}

// clean makes typed text safe to show in one line.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	return strings.TrimSpace(s)
}

// typed numbers a turn that was submitted, and keeps it.
func (l *live) typed(e *store.Entry) {
	if e == nil {
		return
	}
	e.Turn = int(l.turns.Add(1))
	l.note(*e)
	l.c.changes.add(l.id)
}
