package acp

import (
	"slices"
	"strings"
	"unicode"
)

// Sizes of a screen, in character cells. Terminals may be larger; what is
// written beyond a side is as good as wrapped or scrolled.
const maxCols, maxRows = 1000, 300

// A screen is a terminal as far as its text goes: no colours, no scrollback. It
// tells the text in the order in which it came to stand, as a person would have
// seen it: what was overwritten before it was told is not. See told.go.
type screen struct {
	decoder
	cols, rows int

	grid        []*row // from the top, as far as they were reached
	x, y        int
	full        bool // the last column was written: the next character wraps
	top, bottom int  // rows of the scroll region
	noWrap      bool
	lineDrawing bool
	last        rune // the last character put
	saved       position
	main        *mainScreen // while the alternate screen is shown

	teller
}

// A row is a line of the screen.
type row struct {
	cells []string // characters; empty behind a wide one
	above *row     // the row that wraps into this one; nil: none does
	wraps bool     // it goes on in the next one

	seen string // its text when a program that draws was looked at last
	told bool   // it was told
	said string // as what
}

type position struct{ x, y int }

// A mainScreen is what comes back when a full-screen program ends.
type mainScreen struct {
	grid  []*row
	saved position
}

func newScreen() *screen {
	s := new(screen)
	s.to = s
	s.resize(80, 24)
	return s
}

// resize sets the size. Lines are not wrapped anew.
func (s *screen) resize(cols, rows int) {
	s.cols, s.rows = min(max(cols, 1), maxCols), min(max(rows, 1), maxRows)
	for len(s.grid) > s.rows {
		s.scrollOff()
		s.y--
	}
	if s.main != nil && len(s.main.grid) > s.rows {
		s.main.grid = s.main.grid[len(s.main.grid)-s.rows:]
	}
	s.top, s.bottom = 0, s.rows-1
	s.move(s.x, s.y)
}

// reset is what a new program finds: the modes of the last one are gone.
func (s *screen) reset() {
	s.showMain()
	s.state, s.noWrap, s.lineDrawing = inText, false, false
	s.top, s.bottom = 0, s.rows-1
}

// at is a row of the screen.
func (s *screen) at(y int) *row {
	for len(s.grid) <= y {
		s.grid = append(s.grid, new(row))
	}
	return s.grid[y]
}

func (s *screen) move(x, y int) {
	s.x, s.y, s.full = min(max(x, 0), s.cols-1), min(max(y, 0), s.rows-1), false
}

// put writes a character at the cursor.
func (s *screen) put(r rune) {
	if s.lineDrawing {
		if i := strings.IndexRune("jklmnqtuvwx", r); i >= 0 {
			r = []rune("┘┐┌└┼─├┤┴┬│")[i]
		}
	}
	w := width(r)
	if w == 0 {
		s.combine(r)
		return
	}
	s.last = r
	if s.full || s.x+w > s.cols {
		s.wrap()
	}
	s.at(s.y).set(s.x, w, string(r))
	if s.x += w; s.x >= s.cols {
		s.x, s.full = s.cols-1, true
	}
}

// combine adds a character of no width to the one before the cursor.
func (s *screen) combine(r rune) {
	x := s.x
	if !s.full {
		x--
	}
	line := s.at(s.y)
	for x > 0 && x < len(line.cells) && line.cells[x] == "" {
		x--
	}
	if x >= 0 && x < len(line.cells) && len(line.cells[x]) < 64 {
		line.cells[x] += string(r)
	}
}

// wrap goes on in the next row.
func (s *screen) wrap() {
	if s.full = false; s.noWrap {
		return
	}
	above := s.at(s.y)
	above.wraps = true
	s.x = 0
	s.lineFeed()
	s.at(s.y).above = above
}

// set writes a character that takes w cells. What is left of a wide one that
// it covers half is blank.
func (l *row) set(x, w int, char string) {
	for len(l.cells) < x+w {
		l.cells = append(l.cells, " ")
	}
	if l.cells[x] == "" {
		l.cells[x-1] = " "
	}
	if x+w < len(l.cells) && l.cells[x+w] == "" {
		l.cells[x+w] = " "
	}
	l.cells[x] = char
	if w == 2 {
		l.cells[x+1] = ""
	}
}

// erase blanks the cells from one column to before another.
func (l *row) erase(from, to int) {
	for x := from; x < min(to, len(l.cells)); x++ {
		l.cells[x] = " "
	}
	if to >= len(l.cells) {
		l.cells = l.cells[:min(from, len(l.cells))]
		l.wraps = false
	}
	if len(l.cells) == 0 {
		l.above = nil
	}
}

// text is what stands in a row, without the blanks at its end, but at least
// atLeast columns.
func (l *row) text(atLeast int) string {
	s := strings.Join(l.cells, "")
	if l.goesOn() {
		return s
	}
	keep := len(strings.Join(l.cells[:min(atLeast, len(l.cells))], ""))
	return s[:max(keep, len(strings.TrimRight(s, " ")))]
}

// goesOn reports whether the text goes on in the next row. Shells fill a line
// with blanks to get to the next one.
func (l *row) goesOn() bool {
	return l.wraps && len(l.cells) > 0 && !slices.Equal(l.cells[max(0, len(l.cells)-8):], slices.Repeat([]string{" "}, 8))
}

// lineFeed moves down, and scrolls at the end of the region.
func (s *screen) lineFeed() {
	s.full = false
	switch {
	case s.y == s.bottom:
		s.scrollUp(1)
	case s.y < s.rows-1:
		s.y++
	}
}

// scrollUp moves the lines of the scroll region up. What leaves the screen at
// its top is told.
func (s *screen) scrollUp(n int) {
	for range min(n, s.bottom-s.top+1) {
		s.at(s.bottom)
		if s.top == 0 {
			s.scrollOff()
		} else {
			s.grid = slices.Delete(s.grid, s.top, s.top+1)
		}
		s.grid = slices.Insert(s.grid, s.bottom, new(row))
	}
}

func (s *screen) scrollOff() {
	if s.main == nil {
		s.tell(s.grid[0], 0)
	}
	s.grid = slices.Delete(s.grid, 0, 1)
}

// scrollDown moves the lines of the region from y on down.
func (s *screen) scrollDown(y, n int) {
	for range min(n, s.bottom-y+1) {
		s.at(s.bottom)
		s.grid = slices.Delete(s.grid, s.bottom, s.bottom+1)
		s.grid = slices.Insert(s.grid, y, new(row))
	}
}

// deleteLines takes lines of the region out, from y on.
func (s *screen) deleteLines(y, n int) {
	for range min(n, s.bottom-y+1) {
		s.at(s.bottom)
		s.grid = slices.Delete(s.grid, y, y+1)
		s.grid = slices.Insert(s.grid, s.bottom, new(row))
	}
}

// showAlternate is what a full-screen program begins with.
func (s *screen) showAlternate() {
	if s.main == nil {
		n := s.y
		if s.at(n).text(0) != "" {
			n++
		}
		s.tellRows(n)
		s.main = &mainScreen{s.grid, position{s.x, s.y}}
		s.grid = nil
	}
}

func (s *screen) showMain() {
	if s.main != nil {
		s.grid = s.main.grid
		s.move(s.main.saved.x, s.main.saved.y)
		s.main = nil
	}
}

// wide are the ranges of characters that take two cells.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x1100, 0x115f, 1}, {0x231a, 0x231b, 1}, {0x23e9, 0x23ec, 1}, {0x2614, 0x2615, 1}, {0x26a1, 0x26a1, 1},
		{0x2705, 0x2705, 1}, {0x274c, 0x274c, 1}, {0x2728, 0x2728, 1}, {0x2e80, 0x303e, 1}, {0x3041, 0xa4cf, 1},
		{0xa960, 0xa97f, 1}, {0xac00, 0xd7a3, 1}, {0xf900, 0xfaff, 1}, {0xfe30, 0xfe6f, 1}, {0xff00, 0xff60, 1}, {0xffe0, 0xffe6, 1},
	},
	R32: []unicode.Range32{
		{0x1f18e, 0x1f18e, 1}, {0x1f191, 0x1f19a, 1}, {0x1f200, 0x1f320, 1}, {0x1f32d, 0x1f64f, 1}, {0x1f680, 0x1f6ff, 1},
		{0x1f7e0, 0x1f7eb, 1}, {0x1f900, 0x1faff, 1}, {0x20000, 0x3fffd, 1},
	},
}

// width is how many cells a character takes. It counts for where lines wrap.
func width(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}
