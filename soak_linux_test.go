package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// soakFor is set by scripts/bench soak.
var soakFor = flag.Duration("soak", 6*time.Second, "how long TestSoak works on a server")

// maxSoaked is with how many sessions clients begin another wave, at most. One
// makes about as many again, each has a reader, and a server has 512 streams.
const maxSoaked = 150

// TestSoak lets clients work on a server, as TestKilledAgainAndAgain does, with
// more sessions, with readers that come and go, and with one that stalls: half
// of the time the server is killed and started again, half of it one server
// has to bear it. That has, after each wave of work whose sessions are all
// gone, no more descriptors and no more memory than it had before.
func TestSoak(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	clients, answers := uint64(8), int64(150)
	if *soakFor >= time.Minute {
		clients, answers = 40, 1500
	}
	t.Logf("seed %d", seed)
	w := newWorld(t, seed, clients)
	w.exe, w.patience = buildHoldfast(t), 6*patience // some hundred sessions are to be resumed, a few at a time
	began := time.Now()
	for time.Since(began) < *soakFor/2 {
		w.start(w.rnd.IntN(3) > 0)
		w.check()
		if t.Failed() {
			t.FailNow()
		}
		if len(w.sessions()) > maxSoaked {
			w.endAll()
		}
		leave := w.visit()
		w.work(answers)
		leave()
		w.forget()
	}
	w.start(true)
	w.check()
	w.endAll()
	used := []usage{w.usage(math.MaxInt)}
	for wave := 0; !t.Failed() && (wave < 3 || time.Since(began) < *soakFor); wave++ {
		leave := w.visit()
		over := w.act(min(answers, 400)) // many small waves show best what grows
		w.resting.Store(true)
		<-over
		w.resting.Store(false)
		leave()
		w.endAll()
		w.forget()
		used = append(used, w.usage(used[0].files))
	}
	w.end()
	if t.Failed() {
		t.FailNow()
	}
	w.checkFlat(used)
	t.Logf("%d kills, %d requests, %d bytes compared; after each wave: %v", w.kills, w.requests.Load(), w.compared, used)
}

// visit reads sessions here and there until leave is called. One visitor
// never takes what it asked for.
func (w *world) visit() (leave func()) {
	ctx, cancel := context.WithCancel(w.t.Context())
	var visitors sync.WaitGroup
	for i := range len(w.clients) {
		visitors.Go(func() {
			for ctx.Err() == nil {
				<-time.After(time.Millisecond)
				for _, id := range w.ids() {
					visit, over := context.WithTimeout(ctx, time.Duration(i)*10*time.Millisecond)
					if i == 0 {
						visit, over = context.WithCancel(ctx)
					}
					resp, err := w.ts.unix.Do(w.ts.request("GET", "/sessions/"+id+"/events?from=0", "").WithContext(visit))
					if err == nil && i == 0 {
						<-ctx.Done()
					}
					if err == nil {
						io.Copy(io.Discard, resp.Body)
						resp.Body.Close()
					}
					if err == nil && resp.StatusCode == http.StatusServiceUnavailable {
						<-time.After(10 * time.Millisecond)
					}
					over()
				}
			}
		})
	}
	return func() { cancel(); visitors.Wait() }
}

// ids returns the ids of all sessions, those that are deleted too.
func (w *world) ids() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Keys(w.known))
}

// forget drops the sessions that are gone.
func (w *world) forget() {
	maps.DeleteFunc(w.known, func(_ string, k *known) bool { return k.gone })
}

// A usage is what a server without sessions needs.
type usage struct {
	files  int
	memory int // KiB
}

func (u usage) String() string { return fmt.Sprintf("%d files, %d KiB", u.files, u.memory) }

// usage is what the server needs once it has at most so many files open, and no
// connection.
func (w *world) usage(most int) usage {
	w.t.Helper()
	w.ts.unix.CloseIdleConnections()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", w.p.Process.Pid))
	if err != nil {
		w.t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(status), "\nVmRSS:")
	kib, err := strconv.Atoi(strings.Fields(after)[0])
	if err != nil {
		w.t.Fatal(err)
	}
	var u usage
	eventually(w.t, "the end of all connections, and of all files", func() bool {
		files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", w.p.Process.Pid))
		u = usage{len(files), kib}
		sockets := 0
		for _, f := range files {
			if to, _ := os.Readlink(f); strings.HasPrefix(to, "socket:") {
				sockets++
			}
		}
		return len(files) <= most && sockets <= 2 // those that listen
	})
	return u
}

// checkFlat compares the first and the last waves: what the first of them
// needed stays, since memory that is free is kept for a while.
func (w *world) checkFlat(used []usage) {
	w.t.Helper()
	waves := used[1:]
	first, last := waves[:(len(waves)+2)/3], waves[len(waves)-(len(waves)+2)/3:]
	memory := func(all []usage) (kib []int) {
		for _, u := range all {
			kib = append(kib, u.memory)
		}
		return kib
	}
	if before, after := slices.Max(memory(first)), slices.Min(memory(last)); after > before+before/4+4096 {
		w.t.Errorf("memory of the server grows from %d to %d KiB", before, after)
	}
}
