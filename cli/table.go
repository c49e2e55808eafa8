package cli

import (
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// A screen is where a table is printed.
type screen struct {
	io.Writer
	width  int // cells; 0: no terminal, there is no limit
	colour bool
}

func screenOf(w io.Writer) screen {
	s := screen{Writer: w}
	if !isTerminal(w) {
		return s
	}
	s.width = 80
	if cols, _, err := term.GetSize(int(w.(*os.File).Fd())); err == nil && cols > 0 {
		s.width = cols
	}
	s.colour = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return s
}

// A table is rows of cells, the first being the head. What is too wide is cut
// in the last column, then in the second, then at the edge.
type table [][]string

const (
	columnGap   = 2
	leastColumn = 8 // what a cut leaves of a column
)

// print writes the table. The colour of a cell is the parameter of an SGR
// sequence, or empty; it is not asked for the head.
func (t table) print(s screen, colour func(row, column int) string) error {
	widths, over := t.fit(s.width)
	var b strings.Builder
	for i, row := range t {
		var line strings.Builder
		for j, cell := range row {
			cell = cut(cell, widths[j])
			pad := strings.Repeat(" ", widths[j]-cells(cell)+columnGap)
			if j == len(row)-1 {
				pad = ""
			}
			if s.colour && over == 0 && i > 0 {
				if code := colour(i, j); code != "" {
					cell = "\x1b[" + code + "m" + cell + "\x1b[0m"
				}
			}
			line.WriteString(cell + pad)
		}
		text := line.String()
		if over > 0 {
			text = cut(text, s.width)
		}
		b.WriteString(text + "\n")
	}
	_, err := io.WriteString(s, b.String())
	return err
}

// fit returns the widths of the columns, and by how much they are still too
// wide. A limit of 0 is none.
func (t table) fit(limit int) (widths []int, over int) {
	widths = make([]int, len(t[0]))
	for _, row := range t {
		for j, cell := range row {
			widths[j] = max(widths[j], cells(cell))
		}
	}
	if limit == 0 {
		return widths, 0
	}
	over = columnGap*(len(widths)-1) - limit
	for _, w := range widths {
		over += w
	}
	for _, j := range []int{len(widths) - 1, 1} {
		by := max(0, min(over, widths[j]-leastColumn))
		widths[j] -= by
		over -= by
	}
	return widths, max(0, over)
}
