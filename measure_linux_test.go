package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"
)

// What scripts/bench sets. Without it TestMeasure takes each figure once, with
// little data, only to see that it can.
var (
	measureRounds = flag.Int("rounds", 1, "how often each figure of TestMeasure is taken")
	measureFull   = flag.Bool("full", false, "TestMeasure works on as much data as the table says, and prints it")
	measurePage   = flag.String("page", "", "the page in which TestMeasure replaces the table")
)

// TestMeasure measures the program beside the bare system calls that do the
// same work, in the same run: rounds take turns, so that a busy machine slows
// both, and the ratio of the medians is what counts.
func TestMeasure(t *testing.T) {
	var table []*tableLine
	for _, row := range []struct {
		name    string
		measure func(*measurement)
	}{
		{"output", measureOutput},
		{"fanout", measureFanOut},
		{"stalled", measureStalled},
		{"keys", measureKeys},
		{"attach", measureAttach},
		{"new", measureNew},
		{"history", measureHistory},
		{"replay", measureReplay},
		{"fork", measureFork},
		{"start", measureStart},
		{"list", measureList},
		{"memory", measureMemory},
		{"calls", measureCalls},
		{"many", measureMany},
		{"binary", measureBinary},
	} {
		t.Run(row.name, func(t *testing.T) {
			m := &measurement{T: t, name: row.name, exe: buildHoldfast(t)}
			row.measure(m)
			for _, l := range m.lines {
				if len(l.product) == 0 {
					t.Errorf("%s: figures %v", l.work, l.product)
				}
				if *measureFull {
					fmt.Println(l)
				}
			}
			table = append(table, m.lines...)
		})
	}
	if *measurePage != "" && !t.Failed() {
		if err := replaceTable(*measurePage, table); err != nil {
			t.Error(err)
		}
	}
}

// A measurement takes the figures of one row.
type measurement struct {
	*testing.T
	name  string
	exe   string // the program as it is built for users
	lines []*tableLine
}

// line adds a line to the table.
func (m *measurement) line(work, floor, unit string, limit limit) *tableLine {
	l := &tableLine{row: m.name, work: work, floor: floor, unit: unit, limit: limit}
	m.lines = append(m.lines, l)
	return l
}

// rounds calls all sides in turn, in another order each time.
func (m *measurement) rounds(sides ...func()) {
	for range *measureRounds {
		for _, side := range sides {
			side()
		}
		slices.Reverse(sides)
	}
}

// size is full, or little in a run that measures nothing.
func (m *measurement) size(full, little int) int {
	if *measureFull {
		return full
	}
	return little
}

// must ends the measuring if there is an error.
func (m *measurement) must(err error) {
	m.Helper()
	if err != nil {
		m.Fatal(err)
	}
}

// text makes a file of n bytes that prints as another number of them: a
// terminal makes each line end one byte longer.
func (m *measurement) text(n int) (file string, printed int64) {
	m.Helper()
	const line = "The quick brown fox jumps over the lazy dog, and then it sits down.\n"
	file = m.TempDir() + "/text"
	f, err := os.Create(file)
	m.must(err)
	defer f.Close()
	for range n / (1000 * len(line)) {
		for range 1000 {
			f.WriteString(line)
		}
		printed += 1000 * int64(len(line)+1)
	}
	return file, printed
}
