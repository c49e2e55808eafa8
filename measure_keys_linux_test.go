package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"
)

// measureKeys is the time from a key to its echo as a page sees it: one
// request, one event.
func measureKeys(m *measurement) {
	store := m.TempDir() + "/store"
	m.fill(store, m.size(100, 3))
	s, f := m.serve(store), m.floor()
	id := s.make("/sessions", "sh", "-c", rawCat).ID
	stream := newEventReader(s.events(id, "?from=0"))
	m.heard(stream, "ready")
	tty, _ := m.terminal("sh", "-c", rawCat)
	defer tty.Close()
	m.await(tty, "ready")

	half := m.line("key to echo: POST, event; 100 other sessions; p50", "bare POST, then bare terminal", "us", atMost(1.4, 0))
	most := m.line("the same, p99", half.floor, "us", atMost(2, 0))
	n := m.size(1000, 10)
	side := func(half, most *[]float64, c *http.Client, url, token string, echo func()) func() {
		return func() {
			var times []time.Duration
			for range n {
				start := time.Now()
				answer := m.send(c, "POST", url, token, strings.NewReader("x"))
				io.Copy(io.Discard, answer)
				answer.Close()
				echo()
				times = append(times, time.Since(start))
			}
			*half, *most = append(*half, quantile(times, 0.5)), append(*most, quantile(times, 0.99))
		}
	}
	m.rounds(
		side(&half.bare, &most.bare, m.client(), f.url+"/key", "", func() { m.echo(tty) }),
		side(&half.product, &most.product, s.http, s.url+"/sessions/"+id+"/input", s.token, func() { m.heard(stream, "x") }),
	)
}

// heard reads a stream until it has output with text.
func (m *measurement) heard(r *eventReader, text string) {
	m.Helper()
	for {
		e, err := r.next()
		m.must(err)
		if e.event == "output" && strings.Contains(e.data, text) {
			return
		}
	}
}

// measureAttach is the same as a person sees it: on a terminal.
func measureAttach(m *measurement) {
	s, f := m.serve(m.TempDir()+"/store"), m.floor()
	n := m.size(1000, 10)
	tty, _ := m.terminal("sh", "-c", rawCat)
	defer tty.Close()
	m.await(tty, "ready")
	socket := m.unix(f)
	l := m.line("key to echo: holdfast attach; p50", "bare terminal, then bare unix socket", "us", atMost(1.5, 0))
	other := m.line("the same", "dtach", "us", atMost(1, 0))
	id := s.make("/sessions", "sh", "-c", rawCat).ID
	p50 := func(rw io.ReadWriter) float64 { return quantile(m.echoes(rw, n), 0.5) }
	// It ends by itself: who keeps it would not tell us how to end it.
	program := strings.Replace(rawCat, "cat", fmt.Sprintf("dd bs=64 count=%d status=none", n+n/10+1), 1)
	m.rounds(
		func() { l.bare = append(l.bare, p50(tty)+p50(socket)) },
		func() {
			us := m.onTerminal(n, m.exe, "attach", "--store", s.store, id)
			l.product, other.product = append(l.product, us), append(other.product, us)
		},
		func() {
			other.bare = append(other.bare, m.onTerminal(n, "dtach", "-A", m.TempDir()+"/dtach", "-r", "none", "sh", "-c", program))
		},
		func() {
			other.peer("tmux", m.onTerminal(n, "tmux", "-S", m.TempDir()+"/tmux", "-f", "/dev/null", "new-session", program))
		},
	)
}

// onTerminal returns the median time of a key through a program that shows
// rawCat on a terminal, and ends that program.
func (m *measurement) onTerminal(n int, argv ...string) float64 {
	m.Helper()
	tty, cmd := m.terminal(argv...)
	defer endProgram(tty, cmd)
	m.await(tty, "ready")
	m.echoes(tty, n/10+1)
	return quantile(m.echoes(tty, n), 0.5)
}

func endProgram(tty *os.File, cmd *exec.Cmd) {
	tty.Close()
	cmd.Process.Kill()
	cmd.Wait()
}
