package cli

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Plain shows control characters, and bytes that are no text, by their
// escapes: a name cannot do anything to a terminal.
func Plain(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case strconv.IsPrint(r):
			b.WriteRune(r)
		default:
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
		s = s[n:]
	}
	return b.String()
}

// cells is how many cells of a terminal s takes at most: which characters are
// wide differs from terminal to terminal.
func cells(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r >= 0x2e80 || r >= 0x1100 && r < 0x1200 || r >= 0x2300 && r < 0x2c00 {
			n++
		}
	}
	return n
}

// cut makes s take at most width cells, and shows where it did.
func cut(s string, width int) string {
	if cells(s) <= width {
		return s
	}
	if width <= 0 {
		return ""
	}
	var b strings.Builder
	left := width - 1
	for _, r := range s {
		if left -= cells(string(r)); left < 0 {
			break
		}
		b.WriteRune(r)
	}
	return b.String() + "…"
}

// wrap breaks s into lines of at most width cells, before a word if there is
// one to break before. The spaces at the end of a line do not count. Below
// leastColumn it is not worth it, and s stays whole.
func wrap(s string, width int) []string {
	if width < leastColumn {
		return []string{s}
	}
	var lines []string
	begin, used := 0, 0  // of the line
	word, before := 0, 0 // where its last word begins, and what the line takes up to there
	var last rune
	for i, r := range s {
		if last == ' ' && r != ' ' {
			word, before = i, used
		}
		last = r
		n := cells(string(r))
		for used+n > width && r != ' ' {
			if strings.TrimSpace(s[begin:word]) == "" {
				word, before = i, used
			}
			lines = append(lines, s[begin:word])
			begin, used = word, used-before
		}
		used += n
	}
	return append(lines, s[begin:])
}

// Fitting breaks a text at words so that it fits the terminal that w is. It
// stays whole if w is none.
func Fitting(w io.Writer, text string) string {
	if s := screenOf(w); s.width > 0 {
		return strings.Join(indented(text, 0, s.width), "\n")
	}
	return text
}

// pipeWidth is the width of prose that goes to no terminal.
const pipeWidth = 80

// Prose sets paragraphs to the width of the terminal that w is, or for a pipe.
// Indented lines stay lines of their own, and go on below themselves.
func Prose(w io.Writer, text string) string {
	width := cmp.Or(screenOf(w).width, pipeWidth)
	var b strings.Builder
	var paragraph []string
	flush := func() {
		for _, line := range indented(strings.Join(paragraph, " "), 0, width) {
			b.WriteString(line + "\n")
		}
		paragraph = nil
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		body := strings.TrimLeft(line, " ")
		if body == line && line != "" {
			paragraph = append(paragraph, line)
			continue
		}
		if len(paragraph) > 0 {
			flush()
		}
		for _, line := range indented(body, len(line)-len(body), width) {
			b.WriteString(line + "\n")
		}
	}
	if len(paragraph) > 0 {
		flush()
	}
	return b.String()
}

// indented breaks text into lines of at most width cells that begin with so
// many spaces.
func indented(text string, by, width int) []string {
	lines := wrap(text, width-by)
	for i, line := range lines {
		lines[i] = strings.TrimRight(strings.Repeat(" ", by)+line, " ")
	}
	return lines
}

// ago is how long before now a moment was. A clock that is ahead counts as
// now.
func ago(t *time.Time, now time.Time) string {
	if t == nil {
		return "-"
	}
	d := now.Sub(*t)
	switch {
	case d < time.Second:
		return "now"
	case d < time.Minute:
		return fmt.Sprintf("%ds ago", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh ago", d/time.Hour)
	}
	return fmt.Sprintf("%dd ago", d/(24*time.Hour))
}

// when is a moment in local time, and how long ago that was.
func when(t *time.Time, now time.Time) string {
	if t == nil {
		return ""
	}
	return fmt.Sprintf("%s (%s)", t.Local().Format(time.DateTime), ago(t, now))
}
