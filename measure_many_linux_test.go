package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"holdfast/session"
	"holdfast/store"
)

// fill makes a store of n sessions that have ended: copies of one that the
// program made.
func (m *measurement) fill(dir string, n int) {
	m.Helper()
	s := m.serve(dir)
	first := s.make("/sessions", "sh", "-c", "echo one of many").ID
	s.end(first)
	s.stop()
	sessions := filepath.Join(dir, "sessions")
	row, err := os.ReadFile(filepath.Join(sessions, first, "session.json"))
	m.must(err)
	lock, err := os.ReadFile(filepath.Join(dir, "locks", first+".lock"))
	m.must(err)
	for range n - 1 {
		id := store.NewID()
		m.must(os.CopyFS(filepath.Join(sessions, id), os.DirFS(filepath.Join(sessions, first))))
		m.must(os.Chmod(filepath.Join(sessions, id), 0o700))
		m.must(os.WriteFile(filepath.Join(sessions, id, "session.json"), bytes.ReplaceAll(row, []byte(first), []byte(id)), 0o600))
		m.must(os.WriteFile(filepath.Join(dir, "locks", id+".lock"), lock, 0o600))
	}
}

// measureStart is the time from the start of the process to its first answer.
func measureStart(m *measurement) {
	dir := m.TempDir()
	few, many, most := m.size(10, 2), m.size(1000, 5), m.size(10_000, 10)
	for _, n := range []int{few, many, most} {
		m.fill(fmt.Sprintf("%s/%d", dir, n), n)
	}
	first := func(n int) float64 {
		start := time.Now()
		s := m.serve(fmt.Sprintf("%s/%d", dir, n))
		s.do("GET", "/healthz", "")
		elapsed := time.Since(start)
		s.http.CloseIdleConnections()
		s.kill()
		return millis(elapsed)
	}
	a := m.line("start to the first answer, 1,000 sessions", "10 sessions", "ms", atMost(1.5, 20))
	b := m.line("start to the first answer, 10,000 sessions", "10 sessions", "ms", atMost(3, 150))
	m.rounds(
		func() {
			bare := first(few)
			a.bare, b.bare = append(a.bare, bare), append(b.bare, bare)
		},
		func() { a.product = append(a.product, first(many)) },
		func() { b.product = append(b.product, first(most)) },
	)
}

// measureList is the time for a list of many sessions.
func measureList(m *measurement) {
	dir := m.TempDir() + "/store"
	n := m.size(10_000, 10)
	m.fill(dir, n)
	s, f := m.serve(dir), m.floor()
	size := len(s.do("GET", "/sessions", ""))
	c := m.client()
	l := m.line(fmt.Sprintf("GET /sessions, %d sessions", n), fmt.Sprintf("GET of %d bytes from memory", size), "ms", atMost(2, 0))
	get := func(c *http.Client, url string) float64 {
		var times []time.Duration
		for range m.size(10, 2) {
			start := time.Now()
			body := m.send(c, "GET", url, s.token, strings.NewReader(""))
			got, err := io.Copy(io.Discard, body)
			m.must(err)
			body.Close()
			times = append(times, time.Since(start))
			if int(got) != size {
				m.Fatalf("%d bytes, want %d", got, size)
			}
		}
		return quantile(times, 0.5) / 1e3
	}
	m.rounds(
		func() { l.bare = append(l.bare, get(c, fmt.Sprintf("%s/page?size=%d", f.url, size))) },
		func() { l.product = append(l.product, get(s.http, s.url+"/sessions")) },
	)
}

// measureMany is what many sessions cost that print a little, each to a reader
// of its own, beside one that prints as many lines to one.
func measureMany(m *measurement) {
	n := m.size(300, 5)
	window := time.Duration(m.size(5000, 200)) * time.Millisecond
	s := m.serve(m.TempDir() + "/store")
	l := m.line(fmt.Sprintf("%d sessions of 10 lines a second, a reader each: CPU of the server", n), "the same lines through one session", "% of one CPU", atMost(3, 0))
	l.unit = "%"
	side := func(sessions, perSecond int) float64 {
		pause := fmt.Sprint(1 / float64(perSecond))
		var all []session.View
		var readers sync.WaitGroup
		for range sessions {
			v := s.make("/sessions", "perl", "-e", `$|=1; while (1) { print "a line of some 60 characters, as programs print them now and then\n"; select(undef, undef, undef, $ARGV[0]) }`, pause)
			all = append(all, v)
			body := s.events(v.ID, "?from=0")
			readers.Go(func() { io.Copy(io.Discard, body) })
		}
		before := s.cpu()
		start := time.Now()
		time.Sleep(window)
		used := 100 * float64(s.cpu()-before) / float64(time.Since(start))
		var removed sync.WaitGroup
		for _, v := range all {
			removed.Go(func() { s.remove(v.ID) })
		}
		removed.Wait()
		readers.Wait()
		return used
	}
	m.rounds(
		func() { l.bare = append(l.bare, side(1, 10*n)) },
		func() { l.product = append(l.product, side(n, 10)) },
	)
}
