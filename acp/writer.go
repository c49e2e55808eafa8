package acp

import (
	"io"
	"sync"
	"time"
)

// A writer writes messages, one at a time, to a pipe whose other end may stall.
// Who sends waits until the message before has been written: nothing queues.
type writer struct {
	out   io.Writer
	lines chan []byte
	stop  chan struct{} // closed by close
	done  chan struct{} // closed when run has ended

	once sync.Once
	dead chan struct{} // closed when nothing is written any more
	err  error         // why; set before dead is closed
}

// newWriter starts the goroutine that writes; close ends it, or leaves it
// behind in a write that never returns.
func newWriter(out io.Writer) *writer {
	w := &writer{
		out: out, lines: make(chan []byte),
		stop: make(chan struct{}), done: make(chan struct{}), dead: make(chan struct{}),
	}
	go w.run()
	return w
}

func (w *writer) run() {
	defer close(w.done)
	for {
		select {
		case line := <-w.lines:
			if _, err := w.out.Write(line); err != nil {
				w.give(err)
				return
			}
		case <-w.stop:
			return
		}
	}
}

// send hands a message over. One that comes too late is dropped.
func (w *writer) send(line []byte) {
	select {
	case w.lines <- line:
	case <-w.dead:
	}
}

// give gives the other end up: whoever sends goes on.
func (w *writer) give(err error) {
	w.once.Do(func() {
		w.err = err
		close(w.dead)
	})
}

// close waits a moment for the message that is being written. Nobody sends any
// more.
func (w *writer) close() {
	close(w.stop)
	select {
	case <-w.done:
	case <-time.After(endGrace):
	}
}
