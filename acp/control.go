package acp

import "slices"

// c0 obeys a control character.
func (s *screen) c0(b byte) {
	switch b {
	case '\r':
		s.x, s.full = 0, false
	case '\n', '\v', '\f':
		s.lineFeed()
	case '\b':
		s.move(s.x-1, s.y)
	case '\t':
		s.move((s.x/8+1)*8, s.y)
	}
}

// esc obeys an escape sequence of one character.
func (s *screen) esc(b byte) {
	switch b {
	case '7':
		s.saved = position{s.x, s.y}
	case '8':
		s.move(s.saved.x, s.saved.y)
	case 'D':
		s.lineFeed()
	case 'E':
		s.x = 0
		s.lineFeed()
	case 'M':
		if s.y == s.top {
			s.scrollDown(s.top, 1)
		} else {
			s.move(s.x, s.y-1)
		}
	case 'c':
		s.reset()
		s.erase(0, s.rows)
		s.move(0, 0)
	}
}

// csi obeys a control sequence. Those that only change how text looks, or that
// ask the terminal something, have nothing to do with what it says.
func (s *screen) csi(private, final byte, params []int) {
	if private == '?' && (final == 'h' || final == 'l') {
		for _, p := range params {
			s.mode(p, final == 'h')
		}
		return
	}
	if private != 0 {
		return
	}
	param := func(i, otherwise int) int {
		if i < len(params) && params[i] > 0 {
			return params[i]
		}
		return otherwise
	}
	n := param(0, 1)
	switch final {
	case 'A':
		s.move(s.x, s.y-n)
	case 'B', 'e':
		s.move(s.x, s.y+n)
	case 'C', 'a':
		s.move(s.x+n, s.y)
	case 'D':
		s.move(s.x-n, s.y)
	case 'E':
		s.move(0, s.y+n)
	case 'F':
		s.move(0, s.y-n)
	case 'G', '`':
		s.move(n-1, s.y)
	case 'd':
		s.move(s.x, n-1)
	case 'H', 'f':
		s.move(param(1, 1)-1, n-1)
	case 's':
		s.saved = position{s.x, s.y}
	case 'u':
		s.move(s.saved.x, s.saved.y)
	case 'r':
		s.region(n-1, min(param(1, s.rows), s.rows)-1)
	default:
		s.edit(final, n, param(0, 0))
	}
}

// edit obeys the control sequences that change text: n is their parameter as
// a count, kind as a choice.
func (s *screen) edit(final byte, n, kind int) {
	switch final {
	case 'J':
		switch kind {
		case 0:
			s.at(s.y).erase(s.x, s.cols)
			s.erase(s.y+1, s.rows)
		case 1:
			s.erase(0, s.y)
			s.at(s.y).erase(0, s.x+1)
		case 2:
			s.erase(0, s.rows)
		}
	case 'K':
		switch kind {
		case 0:
			s.at(s.y).erase(s.x, s.cols)
		case 1:
			s.at(s.y).erase(0, s.x+1)
		case 2:
			s.at(s.y).erase(0, s.cols)
		}
		s.full = false
	case 'X':
		s.at(s.y).erase(s.x, min(s.x+n, s.cols))
	case 'P':
		l := s.at(s.y)
		if s.x < len(l.cells) {
			l.cells = slices.Delete(l.cells, s.x, min(s.x+n, len(l.cells)))
			if s.x < len(l.cells) && l.cells[s.x] == "" {
				l.cells[s.x] = " "
			}
		}
	case '@':
		l := s.at(s.y)
		if s.x < len(l.cells) {
			l.cells = slices.Insert(l.cells, s.x, slices.Repeat([]string{" "}, min(n, s.cols-s.x))...)
			l.cells = l.cells[:min(len(l.cells), s.cols)]
		}
	case 'L':
		if s.inRegion() {
			s.scrollDown(s.y, n)
		}
	case 'M':
		if s.inRegion() {
			s.deleteLines(s.y, n)
		}
	case 'S':
		s.scrollUp(n)
	case 'T':
		s.scrollDown(s.top, n)
	case 'b':
		for range min(n, s.cols) {
			if s.last != 0 {
				s.put(s.last)
			}
		}
	}
}

// erase blanks the rows from one to before another.
func (s *screen) erase(from, to int) {
	for y := from; y < min(to, len(s.grid)); y++ {
		s.grid[y].erase(0, s.cols)
	}
}

func (s *screen) inRegion() bool { return s.y >= s.top && s.y <= s.bottom }

func (s *screen) region(top, bottom int) {
	if top < bottom {
		s.top, s.bottom = top, bottom
		s.move(0, 0)
	}
}

// mode sets a private mode of DEC or xterm.
func (s *screen) mode(n int, on bool) {
	switch n {
	case 7:
		s.noWrap = !on
	case 47, 1047, 1049:
		if on {
			s.showAlternate()
		} else {
			s.showMain()
		}
	}
}
