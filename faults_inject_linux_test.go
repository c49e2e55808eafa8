package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"holdfast/session"
)

// Whatever the disk refuses, the server lives, says what was not done, and
// works when the disk does; and no output is missing.
func TestFailingDisk(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup
	var mu sync.Mutex
	var total tally
	both, some := []string{"ENOSPC", "EIO"}, []string{"1+1", "2+3"}
	for _, c := range []struct {
		calls   string
		errnos  []string
		whens   []string
		printed int
	}{
		{"pwrite64", both, some, 20000},
		{"fsync", both, append(some[:2:2], "4+4"), 20000},
		{"openat", both, some, 20000},
		{"/^rename", both, some, 20000},
		{"/^mkdir", both, some, 20000},
		{"ftruncate", both, some, 20000},
		{"copy_file_range", both, some, 20000},
		{"/^link", both, some[:1], sealing + 1},
		{"write", []string{"EFBIG"}, some[:1], 20000},
	} {
		all.Go(func() {
			t.Run(strings.Trim(c.calls, "/^"), func(t *testing.T) {
				d := newDisk(t, "size=256m")
				s := d.serve()
				s.untidy = c.calls == "openat" // which a removal needs
				var sum tally
				for _, errno := range c.errnos {
					for _, when := range c.whens {
						r := &round{diskServer: s, fault: fault{c.calls, errno, when}, printed: c.printed}
						r.run()
						t.Logf("%v: %v", r.fault, r.tally)
						sum.add(r.tally)
						if t.Failed() {
							return
						}
					}
				}
				s.Process.Signal(os.Interrupt)
				if err := s.ended(); err != nil {
					t.Errorf("serve ends with %v", err)
				}
				d.serve().wantWhole("after a restart")
				if sum.faults == 0 {
					t.Errorf("no call of %s failed, the test shows nothing", c.calls)
				}
				mu.Lock()
				defer mu.Unlock()
				total.add(sum)
			})
		})
	}
	all.Wait()
	t.Logf("in all: %v", total)
}

// A round is everything that can be done, once with a fault and once without.
type round struct {
	*diskServer
	fault

	printed int             // how far the program counts while the disk fails
	made    map[string]bool // sessions that were answered with success
	tally
}

// sealing is how far a program must count to print more than a segment. Only
// sealed segments are linked.
const sealing = 1_300_000

// A tally is what happened in some rounds.
type tally struct{ faults, requests, refused, compared int }

func (t *tally) add(more tally) {
	t.faults, t.requests = t.faults+more.faults, t.requests+more.requests
	t.refused, t.compared = t.refused+more.refused, t.compared+more.compared
}

func (t tally) String() string {
	return fmt.Sprintf("%d faults, %d of %d requests refused, %d bytes compared", t.faults, t.refused, t.requests, t.compared)
}

func (r *round) run() {
	t := r.t
	t.Helper()
	id, ended, doomed := r.counts("counter"), r.stopped("ended"), r.counts("doomed")
	r.made = map[string]bool{id: true, ended: true, doomed: true}
	stream := listenTo(t, r.events("/sessions/"+id+"/events?from=0"))

	if r.printed > sealing {
		r.typed(id, fmt.Sprint("1 ", r.printed))
		r.settled(id, len(count(1, r.printed))+len("ready\r\n"))
	}
	end := r.begin(r.diskServer)
	if r.printed <= sealing {
		r.typedIfLive(id, fmt.Sprint("1 ", r.printed))
	}
	names := map[string]string{"/sessions/" + id: "counter", "/sessions/" + ended: "ended"}
	for _, op := range everything(id, ended, doomed) {
		if ok := r.attempt(op); ok && op.method == "PATCH" {
			names[op.path] = "renamed"
		}
	}
	if list := r.do("GET", "/sessions", ""); list.status == http.StatusOK && !strings.Contains(list.body, id) {
		t.Errorf("%v: session %s is not in the list: %s", r.fault, id, list.body)
	}
	r.faults = end()
	for path, want := range names {
		if got := must[session.View](r.testServer, r.do("GET", path, ""), http.StatusOK).Name; got != want {
			t.Errorf("%v: a name is %q, want %q: a change was refused and made, or the other way round", r.fault, got, want)
		}
	}
	for id, v := range r.list() {
		if !r.made[id] {
			t.Errorf("%v: there is a session that nobody was told of: %s, %s, %q", r.fault, id, v.State, v.Argv)
		}
	}
	r.compare(id, stream)
	r.wantWhole(r.fault.String())

	ended, doomed = r.stopped("ended again"), r.counts("doomed again")
	for _, op := range everything(id, ended, doomed) {
		if a := r.do(op.method, op.path, op.body); a.status >= 300 {
			t.Errorf("after %v: %s %s = %d %s", r.fault, op.method, op.path, a.status, a.body)
		}
	}
	for id := range r.list() {
		if a := r.do("DELETE", "/sessions/"+id, ""); a.status != http.StatusNoContent {
			t.Errorf("after %v: DELETE = %d %s", r.fault, a.status, a.body)
		}
	}
	r.wantWhole("after " + r.fault.String())
}

// An op is a request.
type op struct{ method, path, body string }

// everything is what can be asked for with a live session, an ended one, and one
// that nobody will miss.
func everything(id, ended, doomed string) []op {
	return []op{
		{"GET", "/sessions/" + id, ""},
		{"PATCH", "/sessions/" + id, `{"name":"renamed"}`},
		{"PATCH", "/sessions/" + ended, `{"name":"renamed"}`},
		{"POST", "/sessions/" + id + "/resize", `{"cols":100,"rows":30}`},
		{"POST", "/new", `{"argv":["sleep","600"]}`},
		{"POST", "/sessions", `{"argv":["sleep","600"]}`},
		{"POST", "/sessions/" + id + "/fork", ""},
		{"POST", "/sessions/" + id + "/fork", `{"at":5}`}, // which copies
		{"POST", "/sessions/" + ended + "/start", ""},
		{"POST", "/sessions/" + ended + "/stop", ""},
		{"POST", "/resume", `{"id":"` + ended + `"}`},
		{"POST", "/switch", `{"argv":["sleep","601"]}`},
		{"DELETE", "/sessions/" + doomed, ""},
		{"GET", "/sessions/" + id + "/turns", ""},
		{"GET", "/sessions/" + id + "/output?from=-1", ""},
		{"GET", "/profiles", ""},
	}
}

// attempt sends a request that may fail: with a problem that says why. It
// reports whether it did not.
func (r *round) attempt(op op) bool {
	r.t.Helper()
	a := r.do(op.method, op.path, op.body)
	r.requests++
	if a.status < 300 {
		if a.status == http.StatusCreated {
			r.made[must[session.View](r.testServer, a, http.StatusCreated).ID] = true
		}
		return true
	}
	r.refused++
	var p problem
	if err := json.Unmarshal([]byte(a.body), &p); err != nil || p.Detail == "" || p.Status != a.status {
		r.t.Errorf("%v: %s %s = %d %s; want a problem with its reason", r.fault, op.method, op.path, a.status, a.body)
	}
	return false
}

// compare lets the program of the round go on, and compares the log and what
// its reader was sent with what it printed. If the lease was lost meanwhile the
// program was ended early, and is started again.
func (r *round) compare(id string, stream <-chan heard) {
	t := r.t
	t.Helper()
	want := append([]byte("ready\r\n"), count(1, r.printed)...)
	r.settled(id, len(want))
	r.typedIfLive(id, "1 3")
	want = append(want, count(1, 3)...)
	r.settled(id, len(want))
	v := must[session.View](r.testServer, r.do("POST", "/sessions/"+id+"/stop", ""), http.StatusOK)
	log := r.log(id)
	switch {
	case v.State == "stopped":
		wantSame(t, r.fault.String()+": the log", log, want)
	case v.State != "interrupted" || len(log) > len(want):
		t.Fatalf("%v: state %q after a stop, with %d bytes", r.fault, v.State, len(log))
	default:
		wantSame(t, r.fault.String()+": the log", log, want[:len(log)])
	}
	h := <-stream
	seen := h.output
	if len(seen) < len(log) && len(seen) > 0 { // it was cut off, and comes back
		last := fmt.Sprintf("%s/%d", id, len(seen))
		again := <-listenTo(t, r.events("/sessions/"+id+"/events", "Last-Event-ID", last))
		seen = append(seen, again.output...)
	}
	wantSame(t, r.fault.String()+": what the reader has", seen, log)
	r.compared = len(log) + len(seen)
	must[session.View](r.testServer, r.do("POST", "/sessions/"+id+"/start", ""), http.StatusOK)
	waitFor(t, "the next run", func() bool { return strings.HasSuffix(string(r.log(id)), string(log)+"ready\r\n") })
}

// typedIfLive sends a line to a session whose lease may have been lost.
func (r *round) typedIfLive(id, line string) {
	r.t.Helper()
	if a := r.do("POST", "/sessions/"+id+"/input?enter=1", line); a.status != http.StatusOK {
		wantProblem(r.t, a, http.StatusConflict, "not-live")
	}
}

// settled waits until a session has printed so much, or has ended.
func (r *round) settled(id string, printed int) {
	r.t.Helper()
	waitFor(r.t, "all output", func() bool {
		v := r.get(id)
		return !v.Live || v.StorageError == "" && v.Cursor == int64(printed)
	})
}
