package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// read reads a session from where its reader was last, in the background,
// until its run is over, it is deleted, or the server dies.
func (w *world) read(k *known) {
	seed := w.requests.Load()
	w.readers.Go(func() {
		if !k.reading.TryLock() {
			return // it is being read
		}
		defer k.reading.Unlock()
		rnd := rand.New(rand.NewPCG(uint64(len(k.seen)), uint64(seed)))
		for {
			follow := w.readEvents
			if rnd.IntN(3) == 0 {
				follow = w.readOutput
			}
			limit := rnd.Int64N(1 << (8 + rnd.IntN(16))) // of bytes until the connection drops
			over, err := follow(k, limit)
			switch {
			case errors.Is(err, errBusy):
				<-time.After(10 * time.Millisecond)
			case err != nil:
				if !w.dying.Load() && !k.deleting.Load() {
					w.t.Errorf("%s: reader at %d: %v", k, len(k.seen), err)
				}
				return
			case over:
				return
			}
		}
	})
}

// errBusy reports that a server has all the streams that it takes: those that
// readers have just left are among them.
var errBusy = errors.New("too many streams")

// open begins to read; without an error the answer is 200 or 204.
func (w *world) open(k *known, path string, headers ...string) (*http.Response, error) {
	resp, err := w.ts.unix.Do(w.ts.request("GET", "/sessions/"+k.id+path, "", headers...))
	if err == nil && resp.StatusCode >= 300 {
		b, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode == http.StatusServiceUnavailable {
			return nil, errBusy
		}
		return nil, fmt.Errorf("GET %s: %d %s", path, resp.StatusCode, b)
	}
	return resp, err
}

// readOutput reads up to limit bytes of what is printed.
func (w *world) readOutput(k *known, limit int64) (over bool, err error) {
	from := strconv.Itoa(len(k.seen))
	resp, err := w.open(k, "/output?follow=1&from="+from)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	if got := resp.Header.Get("Holdfast-From"); got != from {
		return false, fmt.Errorf("output begins at %s, want %s", got, from)
	}
	var got bytes.Buffer
	n, err := io.Copy(&got, io.LimitReader(resp.Body, limit))
	k.seen = append(k.seen, got.Bytes()...)
	return n < limit, err
}

// readEvents reads up to limit bytes of a stream.
func (w *world) readEvents(k *known, limit int64) (over bool, err error) {
	resp, err := w.open(k, "/events", "Last-Event-ID", k.cursor())
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusNoContent {
		return true, nil
	}
	body := &io.LimitedReader{R: resp.Body, N: limit}
	for r := newEventReader(body); ; {
		e, err := r.next()
		switch {
		case err != nil && body.N <= 0:
			return false, nil
		case err != nil:
			return false, err
		case e.event == "end":
			return true, nil
		case e.event == "gap":
			return false, fmt.Errorf("gap %s", e.data)
		case e.event != "output" && e.event != "bytes":
			continue
		}
		b, err := e.decode()
		if err != nil {
			return false, err
		}
		k.seen = append(k.seen, b...)
		if e.id != k.cursor() {
			return false, fmt.Errorf("id %q after what makes %d bytes", e.id, len(k.seen))
		}
	}
}

// cursor is the id of the last event that a reader has seen.
func (k *known) cursor() string { return fmt.Sprintf("%s/%d", k.id, len(k.seen)) }
