package acp

import "strings"

// A teller has what a screen has told. Rows are told from the top, when they
// leave the screen, when they are steady, and when the program pauses. One that
// changes after that is told again: its new end if that was all, else whole.
type teller struct {
	out  strings.Builder // text that was not sent yet
	open bool            // the text has an unfinished line
	line *row            // what was told last
	echo echo
}

// pause tells the rows above the cursor. A full-screen program is left to draw.
func (s *screen) pause() {
	if s.main == nil {
		s.tellRows(s.y)
	}
}

// steady tells the rows above the cursor that are as they were at the last call:
// for a program that draws all the time.
func (s *screen) steady() {
	if s.main != nil {
		return
	}
	same := true
	for y := range s.y {
		l := s.at(y)
		text := l.text(0)
		if text != l.seen {
			l.seen, same = text, false
		}
		if same {
			s.tell(l, 0)
		}
	}
}

// quiet tells all that the screen shows. The cursor of a full-screen program
// is parked anywhere.
func (s *screen) quiet() {
	n := s.y + 1
	if s.main != nil {
		n = 0
	}
	for y := n; y < len(s.grid); y++ {
		if s.grid[y].text(0) != "" {
			n = y + 1
		}
	}
	s.tellRows(n)
}

func (s *screen) tellRows(n int) {
	for y := range n {
		column := 0
		if y == s.y {
			column = s.x
		}
		s.tell(s.at(y), column)
	}
}

// tell tells what is new in a row, at least up to a column.
func (s *screen) tell(l *row, column int) {
	text := l.text(column)
	if l.told && (text == "" || strings.TrimRight(text, " ") == strings.TrimRight(l.said, " ")) {
		l.said = text
		return
	}
	part := text
	more := l.told && l == s.line && strings.HasPrefix(text, l.said)
	if more {
		part = text[len(l.said):]
	}
	more = more || l.above != nil && l.above == s.line && s.line.goesOn()
	l.told, l.said, s.line = true, text, l
	if s.echo.drop(part, l.goesOn()) {
		return
	}
	if !more && s.open {
		s.out.WriteByte('\n')
	}
	s.out.WriteString(part)
	s.open = s.open || part != "" // a message has no empty lines at its beginning
}

// note tells something that is not output.
func (s *screen) note(text string) {
	if s.open {
		s.out.WriteByte('\n')
	}
	s.out.WriteString("[" + text + "]\n")
	s.open, s.line = false, nil
}

// begin is called when a message begins: what is told next is at the beginning
// of a line.
func (s *screen) begin() { s.open = false }

// take returns the text that is to be sent, and forgets it.
func (s *screen) take() string {
	text := s.out.String()
	s.out.Reset()
	return text
}

// expect says that a text was typed, which the terminal or the program is about
// to show where the cursor is. A loose text has spaces for its line ends.
func (s *screen) expect(text string, loose bool) {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t")
	}
	s.echo = echo{strings.Join(lines, "\n"), loose}
}

// An echo is typed text that is still to be shown. It is over with the first
// line that is something else.
type echo struct {
	rest  string
	loose bool
}

// drop reports whether what is new in a row is the next part of the echo.
func (e *echo) drop(part string, wraps bool) bool {
	if !wraps {
		part = strings.TrimRight(part, " ")
	}
	if part == "" && !strings.HasPrefix(e.rest, "\n") {
		return false
	}
	rest, ok := cutShown(e.rest, part)
	switch {
	case e.rest == "" || !ok:
	case wraps || rest == "":
		e.rest = rest
		return true
	case rest[0] == '\n' || e.loose && rest[0] == ' ':
		e.rest = rest[1:]
		return true
	}
	e.rest = ""
	return false
}

// cutShown cuts what a terminal shows as part off the beginning of a text. A
// tab, with the spaces beside it, is shown as spaces.
func cutShown(text, part string) (rest string, ok bool) {
	for part != "" && text != "" {
		blank := len(text) - len(strings.TrimLeft(text, " \t"))
		shown := len(part) - len(strings.TrimLeft(part, " "))
		switch {
		case shown > 0 && strings.Contains(text[:blank], "\t"):
			text, part = text[blank:], part[shown:]
		case text[0] != part[0]:
			return text, false
		default:
			text, part = text[1:], part[1:]
		}
	}
	return text, part == ""
}
