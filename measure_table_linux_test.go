package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// A tableLine is one figure of the program, taken once in each round,
// and that of the floor in the same rounds.
type tableLine struct {
	row, work, floor string
	unit             string
	limit            limit
	product, bare    []float64
	beside           map[string][]float64 // what other programs need for the same
}

// A limit is what a figure should reach: a ratio to the floor, and something
// on top of that. Without a ratio it is a figure by itself; a zero limit is
// none.
type limit struct {
	least bool // more is better
	ratio float64
	plus  float64
}

func atLeast(ratio float64) limit      { return limit{least: true, ratio: ratio} }
func atMost(ratio, plus float64) limit { return limit{ratio: ratio, plus: plus} }

// peer adds a figure of another program.
func (l *tableLine) peer(name string, figure float64) {
	if l.beside == nil {
		l.beside = make(map[string][]float64)
	}
	l.beside[name] = append(l.beside[name], figure)
}

// ratio is 0 where there is no floor.
func (l *tableLine) ratio() float64 {
	if len(l.bare) == 0 {
		return 0
	}
	return median(l.product) / median(l.bare)
}

// reached reports whether the medians keep to the limit.
func (l *tableLine) reached() bool {
	allowed := l.limit.plus
	if len(l.bare) > 0 {
		allowed += l.limit.ratio * median(l.bare)
	}
	if l.limit.least {
		return median(l.product) >= allowed
	}
	return median(l.product) <= allowed
}

// String is the line as scripts/bench prints it.
func (l *tableLine) String() string {
	c := l.cells()
	return fmt.Sprintf("%-8s %-58s %12s  floor %12s  ratio %6s  limit %-15s %-4s %s", l.row, c[0], c[1], c[3], c[4], c[5], c[6], c[7])
}

// cells are the columns of the table.
func (l *tableLine) cells() []string {
	bare, ratio, reached := "", "", ""
	if len(l.bare) > 0 {
		bare, ratio = figure(median(l.bare), l.unit), fmt.Sprintf("%.2f", l.ratio())
	}
	if l.limit != (limit{}) {
		reached = "no"
		if l.reached() {
			reached = "yes"
		}
	}
	var beside []string
	for name, figures := range l.beside {
		beside = append(beside, name+" "+figure(median(figures), l.unit))
	}
	slices.Sort(beside)
	return []string{l.work, figure(median(l.product), l.unit), l.floor, bare, ratio, l.limit.text(l.unit), reached, strings.Join(beside, ", ")}
}

func (l limit) text(unit string) string {
	sign := "≤"
	if l.least {
		sign = "≥"
	}
	switch {
	case l == (limit{}):
		return ""
	case l.ratio == 0:
		return sign + " " + figure(l.plus, unit)
	case l.plus == 0:
		return fmt.Sprintf("%s %gx", sign, l.ratio)
	}
	return fmt.Sprintf("%s %gx + %s", sign, l.ratio, figure(l.plus, unit))
}

// figure has three digits that count.
func figure(f float64, unit string) string {
	digits := 0
	for limit := 100.0; digits < 2 && f < limit && f != float64(int64(f)); limit /= 10 {
		digits++
	}
	return strings.TrimSpace(fmt.Sprintf("%.*f %s", digits, f, unit))
}

func median(figures []float64) float64 {
	sorted := slices.Sorted(slices.Values(figures))
	return sorted[len(sorted)/2]
}

// quantile returns the figure that a part q of all does not exceed, in
// microseconds.
func quantile(times []time.Duration, q float64) float64 {
	sorted := slices.Sorted(slices.Values(times))
	return float64(sorted[int(q*float64(len(sorted)-1))].Nanoseconds()) / 1e3
}

func millis(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

// The table of a page is between these.
const tableBegins, tableEnds = "<!-- scripts/bench -->\n", "<!-- end -->\n"

// replaceTable puts lines into a page.
func replaceTable(page string, lines []*tableLine) error {
	old, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, found1 := strings.Cut(string(old), tableBegins)
	_, after, found2 := strings.Cut(rest, tableEnds)
	if !found1 || !found2 {
		return errors.New(page + " has no place for the table")
	}
	var b strings.Builder
	b.WriteString(before + tableBegins + "\n| work | holdfast | floor | | ratio | limit | reached | beside |\n|---|---|---|---|---|---|---|---|\n")
	for _, l := range lines {
		b.WriteString("| " + strings.Join(l.cells(), " | ") + " |\n")
	}
	b.WriteString("\n" + tableEnds + after)
	return os.WriteFile(page, []byte(b.String()), 0o666)
}
