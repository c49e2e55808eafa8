package main

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// measureMemory is what the server needs when nothing happens, and how that
// grows with live sessions and with readers.
func measureMemory(m *measurement) {
	n := m.size(200, 5)
	idle := m.line("memory of an idle server", "", "MiB", atMost(0, 12))
	session := m.line("memory of each live session", "", "KiB", atMost(0, 64))
	reader := m.line("memory of each reader", "", "KiB", atMost(0, 64))
	lines := []*tableLine{
		m.line("descriptors of each live session", "", "", limit{}),
		m.line("descriptors of each reader", "", "", limit{}),
		m.line("goroutines of each live session", "", "", limit{}),
		m.line("goroutines of each reader", "", "", limit{}),
		m.line("threads of a server with all of them", "", "", limit{}),
	}
	m.rounds(func() {
		none := m.sized(0, 0, n)
		sessions := m.sized(n, 0, n)
		readers := m.sized(n, n, n)
		idle.product = append(idle.product, none.memory/1024)
		session.product = append(session.product, (sessions.memory-none.memory)/float64(n))
		reader.product = append(reader.product, (readers.memory-sessions.memory)/float64(n))
		for i, figure := range []float64{
			(sessions.files - none.files) / float64(n), (readers.files - sessions.files) / float64(n),
			(sessions.goroutines - none.goroutines) / float64(n), (readers.goroutines - sessions.goroutines) / float64(n),
			readers.threads,
		} {
			lines[i].product = append(lines[i].product, figure)
		}
	})
}

// A sized is what a process needs.
type sized struct{ memory, files, goroutines, threads float64 } // memory in KiB

// goroutine begins a stack in what a Go program prints when it is told to quit.
var goroutine = regexp.MustCompile(`(?m)^goroutine \d+`)

// sized measures a server of its own.
func (m *measurement) sized(sessions, readers, n int) (r sized) {
	m.Helper()
	s := m.serve(m.TempDir() + "/store")
	for i := range sessions {
		id := s.make("/sessions", "sh", "-c", "printf ready; read x").ID
		body := s.events(id, "?from=0")
		m.heard(newEventReader(body), "ready")
		if i >= readers {
			body.Close()
		}
	}
	s.http.CloseIdleConnections()
	time.Sleep(time.Duration(m.size(2000, 50)) * time.Millisecond) // what was closed is given back, and fsyncs are over
	r = sized{memory: s.status("VmRSS"), files: s.files(), threads: s.status("Threads")}
	s.Process.Signal(syscall.SIGQUIT)
	s.wait()
	r.goroutines = float64(len(goroutine.FindAllString(s.logs.String(), -1)))
	return r
}

// measureCalls runs the Go benchmarks of what goes to the file system, beside
// those of the bare system calls.
func measureCalls(m *measurement) {
	lease := m.line("acquire and release a lease", "the system calls of its protocol", "us", atMost(1.3, 0))
	replace := m.line("replace a file, durable", "the system calls", "us", atMost(1.1, 0))
	dir := m.TempDir()
	benchmark := func(pkg, name string, times int) float64 {
		cmd := exec.CommandContext(m.Context(), dir+"/"+pkg, "-test.run=^$", "-test.bench=^Benchmark"+strings.ReplaceAll(name, "/", "$/^")+"$", "-test.benchtime="+strconv.Itoa(m.size(times, 1))+"x")
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		found := regexp.MustCompile(`(\S+) ns/op`).FindSubmatch(out)
		if err != nil || found == nil {
			m.Fatalf("%v: %v\n%s", cmd, err, out)
		}
		ns, err := strconv.ParseFloat(string(found[1]), 64)
		m.must(err)
		return ns / 1e3
	}
	for _, pkg := range []string{"leasefs", "store"} {
		out, err := exec.CommandContext(m.Context(), "go", "test", "-c", "-o", dir+"/"+pkg, "./"+pkg).CombinedOutput()
		if err != nil {
			m.Fatalf("%v\n%s", err, out)
		}
	}
	m.rounds(
		func() { lease.bare = append(lease.bare, benchmark("leasefs", "Lease/side=bare", 5000)) },
		func() { lease.product = append(lease.product, benchmark("leasefs", "Lease/side=holdfast", 5000)) },
		func() {
			replace.bare = append(replace.bare, benchmark("store", "ReplaceFile/durable=true/side=bare", 300))
		},
		func() {
			replace.product = append(replace.product, benchmark("store", "ReplaceFile/durable=true/side=holdfast", 300))
		},
	)
}

// measureBinary is the size of the program.
func measureBinary(m *measurement) {
	l := m.line("binary, stripped", "", "MB", atMost(0, 12))
	file := m.TempDir() + "/holdfast"
	cmd := exec.CommandContext(m.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", file, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		m.Fatalf("%v\n%s", err, out)
	}
	info, err := os.Stat(file)
	m.must(err)
	l.product = append(l.product, float64(info.Size())/1e6)
}
