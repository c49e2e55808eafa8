package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// measureOutput is how fast a program can print: to one reader of each kind,
// and to nobody.
func measureOutput(m *measurement) {
	file, printed := m.text(m.size(100<<20, 1<<20))
	rate := func(d time.Duration) float64 { return float64(printed) / 1e6 / d.Seconds() }
	s := m.serve(m.TempDir() + "/store")
	raw := m.line("print to one reader of /output", "bare reader of a terminal", "MB/s", atLeast(0.9))
	sse := m.line("print to one event stream", raw.floor, "MB/s", atLeast(0.8))
	alone := m.line("print with nobody attached", raw.floor, "MB/s", atLeast(0.9))
	floored := m.lines
	other := m.line("the same", "dtach", "MB/s", atLeast(1))
	sides := []func(){
		func() {
			bare := rate(m.readBare(file, printed))
			for _, l := range floored {
				l.bare = append(l.bare, bare)
			}
		},
		func() {
			raw.product = append(raw.product, rate(s.print(file, printed, readings(1, "/output?follow=1"))))
		},
		func() { sse.product = append(sse.product, rate(s.print(file, printed, readings(1, "/events?from=0")))) },
		func() {
			argv, result := m.timed(file)
			id := s.make("/sessions", argv...).ID
			figure := rate(m.result(result))
			alone.product, other.product = append(alone.product, figure), append(other.product, figure)
			s.end(id)
			s.remove(id)
		},
	}
	for _, keeper := range [][]string{
		{"dtach", "-n", "SOCKET"},
		{"tmux", "-S", "SOCKET", "-f", "/dev/null", "new-session", "-d"},
	} {
		sides = append(sides, func() {
			argv, result := m.timed(file)
			command := append(slices.Clone(keeper), argv...)
			command[slices.Index(command, "SOCKET")] = m.TempDir() + "/sock"
			cmd := exec.Command(command[0], command[1:]...)
			if out, err := cmd.CombinedOutput(); err != nil {
				m.Fatalf("%v: %v\n%s", cmd, err, out)
			}
			if figure := rate(m.result(result)); keeper[0] == "dtach" {
				other.bare = append(other.bare, figure)
			} else {
				other.peer(keeper[0], figure)
			}
		})
	}
	m.rounds(sides...)
}

// timed returns a program that prints a file, and the file in which it leaves
// how many nanoseconds that took.
func (m *measurement) timed(file string) (argv []string, result string) {
	m.Helper()
	result = m.TempDir() + "/result"
	script := fmt.Sprintf(`start=$(date +%%s%%N); cat '%s'; end=$(date +%%s%%N); echo $((end-start)) >'%s.new'; mv '%[2]s.new' '%[2]s'`, file, result)
	return []string{"sh", "-c", script}, result
}

// result waits for what timed leaves.
func (m *measurement) result(file string) time.Duration {
	m.Helper()
	var b []byte
	for err := fs.ErrNotExist; err != nil; b, err = os.ReadFile(file) {
		select {
		case <-time.After(5 * time.Millisecond):
		case <-m.Context().Done():
		}
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	m.must(err)
	return time.Duration(n)
}

// measureFanOut is what more readers cost.
func measureFanOut(m *measurement) {
	file, printed := m.text(m.size(100<<20, 1<<20))
	s := m.serve(m.TempDir() + "/store")
	rate := func(readers int) float64 {
		return float64(readers) * float64(printed) / 1e6 / s.print(file, printed, readings(readers, "/events?from=0")).Seconds()
	}
	ten := m.line("print to 10 event streams, sum", "one event stream", "MB/s", atLeast(7))
	hundred := m.line("print to 100 event streams, sum", ten.floor, "MB/s", atLeast(15))
	m.rounds(
		func() {
			one := rate(1)
			ten.bare, hundred.bare = append(ten.bare, one), append(hundred.bare, one)
		},
		func() { ten.product = append(ten.product, rate(10)) },
		func() { hundred.product = append(hundred.product, rate(100)) },
	)
}

// measureStalled is what a reader that does not read costs the others.
func measureStalled(m *measurement) {
	file, printed := m.text(m.size(100<<20, 1<<20))
	s := m.serve(m.TempDir() + "/store")
	speed := m.line("print to 9 event streams beside one that stalls, each", "10 event streams, each", "MB/s", atLeast(0.95))
	memory := m.line("memory of the server after that", "with 10 event streams", "MiB", atMost(1.05, 0))
	side := func(readers []reading, rates, sizes *[]float64) func() {
		return func() {
			*rates = append(*rates, float64(printed)/1e6/s.print(file, printed, readers).Seconds())
			*sizes = append(*sizes, s.status("VmRSS")/1024)
		}
	}
	m.rounds(
		side(readings(10, "/events?from=0"), &speed.bare, &memory.bare),
		side(append(readings(9, "/events?from=0"), reading{path: "/events?from=0", stuck: true}), &speed.product, &memory.product),
	)
}
