package main

import (
	"encoding/json"
	"os"
	"time"

	"holdfast/session"
)

// measureNew is the time until a new session has printed its first byte.
func measureNew(m *measurement) {
	s := m.serve(m.TempDir() + "/store")
	l := m.line("POST /new to the first byte of output", "spawn, and the writes that must be durable before", "ms", atMost(1.5, 0))
	argv := []string{"sh", "-c", "echo x; read y"}
	dir := m.TempDir()
	n := m.size(50, 2)
	half := func(once func() time.Duration) (ms float64) {
		var times []time.Duration
		for range n {
			times = append(times, once())
		}
		return quantile(times, 0.5) / 1e3
	}
	bound := newEventReader(s.open("GET", "/events?watch=1", ""))
	m.rounds(
		func() { l.bare = append(l.bare, half(func() time.Duration { return m.bareNew(dir, argv) })) },
		func() {
			l.product = append(l.product, half(func() time.Duration {
				start := time.Now()
				id := s.make("/new", argv...).ID
				m.heard(bound, "x")
				elapsed := time.Since(start)
				s.remove(id)
				return elapsed
			}))
		},
	)
}

// bareNew writes what a new session needs and starts its program: the row of
// a start in flight in a new folder that gets its name at the end, the row of
// a session that runs, and the binding.
func (m *measurement) bareNew(dir string, argv []string) time.Duration {
	m.Helper()
	row, err := json.Marshal(session.View{Argv: argv})
	m.must(err)
	start := time.Now()
	building, folder := dir+"/new", dir+"/session"
	m.must(os.Mkdir(building, 0o700))
	m.must(os.Mkdir(building+"/output", 0o700))
	m.bareReplace(building, "session.json", row)
	m.must(os.Rename(building, folder))
	m.bareSync(dir)
	tty, cmd := m.terminal(argv...)
	m.bareReplace(folder, "session.json", row)
	m.bareReplace(dir, "bound.json", row[:80])
	m.await(tty, "x")
	elapsed := time.Since(start)
	endProgram(tty, cmd)
	m.must(os.RemoveAll(folder))
	return elapsed
}

func (m *measurement) bareReplace(dir, name string, data []byte) {
	m.Helper()
	f, err := os.OpenFile(dir+"/.tmp", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	m.must(err)
	f.Write(data)
	m.must(f.Sync())
	f.Close()
	m.must(os.Rename(dir+"/.tmp", dir+"/"+name))
	m.bareSync(dir)
}

func (m *measurement) bareSync(dir string) {
	m.Helper()
	d, err := os.Open(dir)
	m.must(err)
	m.must(d.Sync())
	d.Close()
}
