package main

import (
	"bytes"
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

const (
	// logLines is how many lines of the log may wait for whoever reads it.
	logLines = 1024

	// logGrace is how long the end of the process waits for them.
	logGrace = time.Second
)

// A logQueue writes lines to a pipe or a file that may stall, and never makes
// anybody wait for it: lines that do not fit are dropped and counted.
type logQueue struct {
	out     io.Writer
	lines   chan []byte
	dropped atomic.Int64
	stop    chan struct{} // closed by close
	done    chan struct{} // closed when everything was written
}

// newLogQueue starts the goroutine that writes; close ends it, or leaves it
// behind in a write that never returns.
func newLogQueue(out io.Writer) *logQueue {
	q := &logQueue{out: out, lines: make(chan []byte, logLines), stop: make(chan struct{}), done: make(chan struct{})}
	go q.run()
	return q
}

func (q *logQueue) run() {
	defer close(q.done)
	for {
		select {
		case line := <-q.lines:
			q.write(line)
			continue
		default:
		}
		select {
		case line := <-q.lines:
			q.write(line)
		case <-q.stop:
			return // and no line is left
		}
	}
}

// write ignores errors: a reader that is gone is no reason to stop.
func (q *logQueue) write(line []byte) {
	if n := q.dropped.Swap(0); n > 0 {
		fmt.Fprintf(q.out, "holdfast: %d log lines were dropped, nobody read them\n", n)
	}
	q.out.Write(line)
}

// Write implements io.Writer. It keeps a copy of p, one line, and never fails.
func (q *logQueue) Write(p []byte) (int, error) {
	select {
	case q.lines <- bytes.Clone(p):
	default:
		q.dropped.Add(1)
	}
	return len(p), nil
}

// close waits a moment for the lines that are left. What is written after that
// is lost.
func (q *logQueue) close() {
	close(q.stop)
	select {
	case <-q.done:
	case <-time.After(logGrace):
	}
}
