package main

import (
	"bytes"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"time"
)

// measureHistory is the time until a reader has caught up that did not ask for
// all there is.
func measureHistory(m *measurement) {
	s := m.serve(m.TempDir() + "/store")
	l := m.line("attach to 1 GB of history, until live", "to 1 MB", "ms", atMost(1.2, 0))
	long := s.printed(m.size(1000<<20, 2<<20))
	short := s.printed(1 << 20)
	until := func(id string) float64 {
		var times []time.Duration
		for range m.size(20, 2) {
			start := time.Now()
			body := s.events(id, "")
			for r := newEventReader(body); ; {
				e, err := r.next()
				m.must(err)
				if e.event == "live" {
					break
				}
			}
			times = append(times, time.Since(start))
			body.Close()
		}
		return quantile(times, 0.5) / 1e3
	}
	m.rounds(
		func() { l.bare = append(l.bare, until(short)) },
		func() { l.product = append(l.product, until(long)) },
	)
}

// printed makes a session that has printed about n bytes and waits for more.
func (s *served) printed(n int) (id string) {
	s.m.Helper()
	file, printed := s.m.text(min(n, 100<<20))
	times := max(1, int64(n)/printed)
	v := s.make("/sessions", "sh", "-c", `for i in $(seq "$1"); do cat "$0"; done; printf '\ndone'; read x`, file, fmt.Sprint(times))
	body := s.open("GET", "/sessions/"+v.ID+"/output?follow=1", "")
	defer body.Close()
	n64, err := io.CopyN(io.Discard, body, times*printed+2+4)
	if err != nil {
		s.m.Fatalf("%d of %d bytes: %v", n64, times*printed, err)
	}
	return v.ID
}

// measureReplay is how fast old output comes.
func measureReplay(m *measurement) {
	s, f := m.serve(m.TempDir()+"/store"), m.floor()
	l := m.line("replay 100 MB from the start, event stream", "bare event stream of the same file", "MB/s", atLeast(0.8))
	id := s.printed(m.size(100<<20, 1<<20))
	s.do("POST", "/sessions/"+id+"/input", "\r")
	s.end(id)
	log := m.TempDir() + "/log"
	text := s.do("GET", "/sessions/"+id+"/output", "")
	m.must(os.WriteFile(log, text, 0o600))
	last := fmt.Appendf(nil, "id: %s/%d\nevent: end\n", id, len(text))
	m.rounds(
		func() {
			start := time.Now()
			n, _ := drain(m.send(m.client(), "GET", f.url+"/file?path="+url.QueryEscape(log), "", strings.NewReader("")))
			l.bare = append(l.bare, float64(len(text))/1e6/time.Since(start).Seconds())
			if n < int64(len(text)) {
				m.Errorf("the floor sends %d of %d bytes", n, len(text))
			}
		},
		func() {
			start := time.Now()
			_, tail := drain(s.events(id, "?from=0"))
			l.product = append(l.product, float64(len(text))/1e6/time.Since(start).Seconds())
			if !bytes.Contains(tail, last) {
				m.Errorf("%q at the end, want %q", tail, last)
			}
		},
	)
}

// measureFork is what a fork of a long session costs.
func measureFork(m *measurement) {
	s := m.serve(m.TempDir() + "/store")
	l := m.line("fork a session with 200 MB", "with 1 MB", "ms", atMost(1.5, 0))
	long, short := s.printed(m.size(200<<20, 2<<20)), s.printed(1<<20)
	fork := func(id string) float64 {
		var times []time.Duration
		for range m.size(10, 1) {
			start := time.Now()
			answer := s.do("POST", "/sessions/"+id+"/fork", `{"argv":["true"]}`)
			times = append(times, time.Since(start))
			_, child, _ := strings.Cut(string(answer), `"id":"`)
			s.remove(child[:36])
		}
		return quantile(times, 0.5) / 1e3
	}
	m.rounds(
		func() { l.bare = append(l.bare, fork(short)) },
		func() { l.product = append(l.product, fork(long)) },
	)
}
