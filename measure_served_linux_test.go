package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"holdfast/session"
)

// A served is the program at work, in a process of its own.
type served struct {
	*serverProcess
	m    *measurement
	http *http.Client // over the port
}

// serve starts the program on a store, with flags.
func (m *measurement) serve(store string, flags ...string) *served {
	m.Helper()
	p := startServerProcess(m.T, m.exe, store, append([]string{"--log-level", "error", "--keep-output", "0"}, flags...)...)
	return &served{p, m, m.client()}
}

// client is for one server. It opens as many connections as it is asked for.
func (m *measurement) client() *http.Client {
	t := &http.Transport{ReadBufferSize: 64 << 10, MaxIdleConnsPerHost: 16}
	m.Cleanup(t.CloseIdleConnections)
	return &http.Client{Transport: t}
}

// open sends a request; its body is still to be read.
func (s *served) open(method, path, body string) io.ReadCloser {
	s.m.Helper()
	return s.m.send(s.http, method, s.url+path, s.token, strings.NewReader(body))
}

// send is a request that must succeed.
func (m *measurement) send(c *http.Client, method, url, token string, body io.Reader) io.ReadCloser {
	m.Helper()
	r, err := http.NewRequestWithContext(m.Context(), method, url, body)
	m.must(err)
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := c.Do(r)
	m.must(err)
	if resp.StatusCode >= 300 {
		b, _ := io.ReadAll(resp.Body)
		m.Fatalf("%s %s: %s %s", method, url, resp.Status, b)
	}
	return resp.Body
}

// do sends a request and reads the answer.
func (s *served) do(method, path, body string) []byte {
	s.m.Helper()
	answer := s.open(method, path, body)
	defer answer.Close()
	b, err := io.ReadAll(answer)
	s.m.must(err)
	return b
}

// make starts a session that runs argv; path is /sessions or /new.
func (s *served) make(path string, argv ...string) (v session.View) {
	s.m.Helper()
	spec, err := json.Marshal(map[string]any{"argv": argv, "cwd": "/", "auto_resume": false})
	s.m.must(err)
	s.m.must(json.Unmarshal(s.do("POST", path, string(spec)), &v))
	return v
}

func (s *served) remove(id string) { s.do("DELETE", "/sessions/"+id, "") }

// events opens the stream of a session. It has begun when this returns.
func (s *served) events(id, query string) io.ReadCloser {
	s.m.Helper()
	return s.open("GET", "/sessions/"+id+"/events"+query, "")
}

// end waits for the end of the run of a session.
func (s *served) end(id string) {
	s.m.Helper()
	s.do("GET", "/sessions/"+id+"/wait?for=exit&timeout=10m", "")
}

// stop ends the process as its user would.
func (s *served) stop() {
	s.m.Helper()
	s.http.CloseIdleConnections()
	s.Process.Signal(os.Interrupt)
	s.m.must(s.wait())
}

// A reading is one reader of a session's output.
type reading struct {
	path  string // /output?follow=1 or /events
	stuck bool   // it reads nothing
}

// readings are n of the same.
func readings(n int, path string) (all []reading) {
	for range n {
		all = append(all, reading{path: path})
	}
	return all
}

// print lets a session print a file to readers that are there already. It
// returns how long it takes until the last has all of it.
func (s *served) print(file string, want int64, readers []reading) time.Duration {
	s.m.Helper()
	want += 2 // the echo of Enter
	v := s.make("/sessions", "sh", "-c", `read x; exec cat "$0"`, file)
	bodies := make([]io.ReadCloser, len(readers))
	for i, r := range readers {
		bodies[i] = s.open("GET", "/sessions/"+v.ID+r.path, "")
	}
	start := time.Now()
	s.do("POST", "/sessions/"+v.ID+"/input", "\r")
	var wg sync.WaitGroup
	for i, r := range readers {
		if r.stuck {
			continue
		}
		wg.Go(func() {
			n, tail := drain(bodies[i])
			whole := n == want
			if strings.HasPrefix(r.path, "/events") {
				whole = bytes.Contains(tail, fmt.Appendf(nil, "id: %s/%d\nevent: end\n", v.ID, want))
			}
			if !whole {
				s.m.Errorf("%s of %d bytes is not whole: %d bytes, at its end %q", r.path, want, n, tail)
			}
		})
	}
	wg.Wait()
	elapsed := time.Since(start)
	for _, body := range bodies {
		body.Close()
	}
	s.remove(v.ID)
	return elapsed
}

// status returns a figure of /proc/PID/status.
func (s *served) status(name string) float64 {
	s.m.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.Process.Pid))
	s.m.must(err)
	_, after, found := strings.Cut(string(b), "\n"+name+":")
	fields := strings.Fields(after)
	if !found || len(fields) == 0 {
		s.m.Fatalf("no %s in\n%s", name, b)
	}
	n, err := strconv.ParseFloat(fields[0], 64)
	s.m.must(err)
	return n
}

// files counts the descriptors that are open.
func (s *served) files() float64 {
	s.m.Helper()
	list, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", s.Process.Pid))
	s.m.must(err)
	return float64(len(list))
}

// cpu returns the time that the process has used.
func (s *served) cpu() time.Duration {
	s.m.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.Process.Pid))
	s.m.must(err)
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	var ticks int64
	for _, field := range fields[11:13] { // utime and stime
		n, err := strconv.ParseInt(field, 10, 64)
		s.m.must(err)
		ticks += n
	}
	return time.Duration(ticks) * time.Second / 100
}
