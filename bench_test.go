package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"holdfast/session"
)

// benchText is how many bytes a measured program prints, before its terminal
// makes each line end one byte longer.
const benchText = 60 << 20

// BenchmarkOutput compares two ways to read what cat prints on a terminal of
// its own: by /output?follow=1 of a server process, and straight from the
// terminal. Each operation is one round of both, so that a busy machine slows
// both. The ratio is that of the medians; 1 would be a server for free.
func BenchmarkOutput(b *testing.B) {
	dir := b.TempDir()
	file := filepath.Join(dir, "text")
	line := "The quick brown fox jumps over the lazy dog, and then it sits down.\n"
	text := strings.Repeat(line, benchText/len(line))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	want := int64(len(text) + strings.Count(text, "\n"))
	p := startServerProcess(b, buildHoldfast(b), filepath.Join(dir, "store"), "--log-level", "error")
	b.Cleanup(func() {
		p.Process.Signal(os.Interrupt)
		if err := p.wait(); err != nil {
			b.Errorf("serve: %v", err)
		}
	})
	c := &benchClient{b, p, &http.Client{Transport: &http.Transport{ReadBufferSize: 64 << 10}}}
	defer c.http.CloseIdleConnections()

	var bare, served []time.Duration
	for round := 0; b.Loop(); round++ {
		both := []func(){
			func() { bare = append(bare, timeOutput(b, want, func() int64 { return readBare(b, file) })) },
			func() {
				var id string
				served = append(served, timeOutput(b, want, func() (n int64) { id, n = c.readServed(file); return n }))
				c.request("DELETE", "/sessions/"+id, "")
			},
		}
		if round%2 == 1 {
			slices.Reverse(both)
		}
		for _, measure := range both {
			measure()
		}
	}
	rate := func(d time.Duration) float64 { return float64(want) / 1e6 / d.Seconds() }
	b.ReportMetric(rate(median(bare)), "bare-MB/s")
	b.ReportMetric(rate(median(served)), "served-MB/s")
	b.ReportMetric(median(bare).Seconds()/median(served).Seconds(), "ratio")
}

// timeOutput measures one reading, and checks that it was whole.
func timeOutput(b *testing.B, want int64, read func() int64) time.Duration {
	b.Helper()
	start := time.Now()
	got := read()
	elapsed := time.Since(start)
	if got != want {
		b.Fatalf("read %d bytes, want %d", got, want)
	}
	return elapsed
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

// readBare is the floor: nothing but a read loop on the terminal.
func readBare(b *testing.B, file string) int64 {
	b.Helper()
	cat := exec.CommandContext(b.Context(), "cat", file)
	tty, err := pty.Start(cat)
	if err != nil {
		b.Fatal(err)
	}
	defer tty.Close()
	n := drain(tty)
	if err := cat.Wait(); err != nil {
		b.Fatal(err)
	}
	return n
}

// drain counts the bytes up to any error: a terminal has EIO at its end.
func drain(r io.Reader) (n int64) {
	buf := make([]byte, 64<<10)
	for {
		got, err := r.Read(buf)
		n += int64(got)
		if err != nil {
			return n
		}
	}
}

// A benchClient talks to a server over its port.
type benchClient struct {
	b    *testing.B
	p    *serverProcess
	http *http.Client
}

// readServed makes a session and follows its output to the end of its run.
func (c *benchClient) readServed(file string) (id string, n int64) {
	c.b.Helper()
	spec := fmt.Sprintf(`{"argv":["cat",%q]}`, file)
	var v session.View
	if err := json.NewDecoder(c.request("POST", "/sessions", spec)).Decode(&v); err != nil {
		c.b.Fatal(err)
	}
	return v.ID, drain(c.request("GET", "/sessions/"+v.ID+"/output?follow=1", ""))
}

// request returns the body of an answer; it is closed when the benchmark ends.
func (c *benchClient) request(method, path, body string) io.Reader {
	c.b.Helper()
	r, err := http.NewRequestWithContext(c.b.Context(), method, c.p.url+path, strings.NewReader(body))
	if err != nil {
		c.b.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+c.p.token)
	resp, err := c.http.Do(r)
	if err != nil {
		c.b.Fatal(err)
	}
	c.b.Cleanup(func() { resp.Body.Close() })
	if resp.StatusCode >= 300 {
		c.b.Fatalf("%s %s: %s", method, path, resp.Status)
	}
	return resp.Body
}
