package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"holdfast/leasefs"
	"holdfast/session"
)

// check compares a server that has just started with what is known. What was
// not answered is known then.
func (w *world) check() {
	w.t.Helper()
	var all map[string]session.View
	w.await("what was interrupted to be resumed", func() (due []string) {
		all = w.list()
		for _, v := range all {
			if w.resumes && v.State == "interrupted" && v.AutoResume && v.Problem == "" {
				due = append(due, v.ID)
			}
		}
		return due
	})
	for id, v := range all {
		k := w.known[id]
		switch {
		case k == nil:
			if k = w.adopt(v); k == nil {
				w.t.Errorf("session %s (%s), which nobody has asked for", id, v.Name)
				continue
			}
		case k.gone:
			w.t.Errorf("%s: it is back", k)
		default:
			if diff := k.differs(v, w.resumes, w.unseen); diff != "" {
				w.t.Errorf("%s: after a restart %s", k, diff)
			}
		}
		k.told(v)
		k.deleting.Store(false)
		w.compare(k)
		w.compareFork(k)
	}
	for _, k := range w.sessions() {
		if _, found := all[k.id]; !found {
			if !k.asked.remove {
				w.t.Errorf("%s: it is gone", k)
			}
			k.gone = true
		}
	}
	for _, c := range w.clients {
		c.cut = nil // what is not there now never will be
	}
	w.unseen = 0
	w.checkBinding(all)
	w.await("leases to be those of the live sessions", w.wrongLeases)
	w.checkPrograms()
	w.checkFiles()
}

// await waits until nothing is wrong.
func (w *world) await(what string, wrong func() []string) {
	w.t.Helper()
	for deadline := time.Now().Add(w.patience); ; {
		list := wrong()
		if len(list) == 0 {
			return
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("waited in vain for %s:\n%s", what, strings.Join(list, "\n"))
		}
		<-time.After(time.Millisecond)
	}
}

// list returns all sessions as the server has them.
func (w *world) list() map[string]session.View {
	w.t.Helper()
	all := make(map[string]session.View)
	for _, v := range must[sessionList](w.ts, w.ts.do("GET", "/sessions", ""), http.StatusOK).Sessions {
		all[v.ID] = v
	}
	return all
}

// adopt gives a client a session that it asked for without an answer.
func (w *world) adopt(v session.View) *known {
	for _, c := range w.clients {
		for i, b := range c.cut {
			if tagged(v, b.tag) {
				c.cut = slices.Delete(c.cut, i, i+1)
				return c.adopt(b, v)
			}
		}
	}
	return nil
}

func tagged(v session.View, tag string) bool { return v.Name == tag || slices.Contains(v.Argv, tag) }

// compare compares what a reader got since the last time with the log.
func (w *world) compare(k *known) {
	w.t.Helper()
	k.reading.Lock()
	defer k.reading.Unlock()
	if got := k.seen[k.compared:]; len(got) > 0 {
		want := w.log(k, k.compared, len(k.seen))
		if !bytes.Equal(got, want) {
			w.t.Errorf("%s: of the log from %d to %d, a reader has got something else from %d on",
				k, k.compared, len(k.seen), k.compared+differ(got, want))
		}
		w.compared += len(got)
		k.compared = len(k.seen)
	}
}

// compareFork checks once that a fork begins as its parent did.
func (w *world) compareFork(k *known) {
	w.t.Helper()
	if k.parent == nil || k.parent.gone || k.parent.asked.remove {
		return
	}
	at := int(*k.view.ForkedAt)
	if got, want := w.log(k, 0, at), w.log(k.parent, 0, at); !bytes.Equal(got, want) {
		w.t.Errorf("%s: differs from its parent at %d of %d", k, differ(got, want), at)
	}
	w.compared += at
	k.parent = nil
}

// log returns a part of the log of a session.
func (w *world) log(k *known, from, to int) []byte {
	w.t.Helper()
	a := w.ts.do("GET", fmt.Sprintf("/sessions/%s/output?from=%d&to=%d", k.id, from, to), "")
	if a.status != http.StatusOK || len(a.body) != to-from {
		w.t.Errorf("%s: log from %d to %d: %d and %d bytes", k, from, to, a.status, len(a.body))
	}
	return []byte(a.body)
}

// checkBinding checks that the session is bound that was, or that would be if
// its request had been answered.
func (w *world) checkBinding(all map[string]session.View) {
	w.t.Helper()
	bound := ""
	if b := must[status](w.ts, w.ts.do("GET", "/status", ""), http.StatusOK).Bound; b != nil {
		bound = *b
	}
	c := w.clients[0]
	if !slices.ContainsFunc(c.bound, func(ref string) bool {
		return ref == bound || ref != "" && bound != "" && tagged(all[bound], ref)
	}) {
		w.t.Errorf("bound is %q (%s), want one of %q", bound, all[bound].Name, c.bound)
	}
	c.bound = []string{bound}
}

// wrongLeases returns the sessions that are live without a lease, or leased
// without being live.
func (w *world) wrongLeases() (wrong []string) {
	w.t.Helper()
	for id, v := range w.list() {
		busy, err := leasefs.Busy(filepath.Join(w.dir, "locks", id+".lock"), w.family)
		if err != nil || busy != v.Live {
			wrong = append(wrong, fmt.Sprintf("%s: state %s, leased %v (%v)", id, v.State, busy, err))
		}
	}
	return wrong
}

// checkPrograms waits until there is no program but those of the live
// sessions, and deaf ones of sessions that were not resumed yet.
func (w *world) checkPrograms() {
	w.t.Helper()
	w.await("programs of dead runs to end", func() (wrong []string) {
		all := w.list()
		for pid, id := range programsOf(w.dir) {
			v, k := all[id], w.known[id]
			sid, err := unix.Getsid(pid)
			switch {
			case err != nil: // it has just ended
			case v.Live && sid == v.PID:
			case k != nil && k.kind == "deaf" && v.State == "interrupted":
			default:
				wrong = append(wrong, fmt.Sprintf("pid %d, kernel session %d: %v, state %q, pid %d", pid, sid, k, v.State, v.PID))
			}
		}
		return wrong
	})
}

// programsOf returns the processes that run in sessions of a store, and the
// ids of those: they have both in their environment.
func programsOf(store string) map[int]string {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	found := make(map[int]string)
	for _, file := range files {
		env, _ := os.ReadFile(file) // it may be gone
		vars := strings.Split(string(env), "\x00")
		if !slices.Contains(vars, "HOLDFAST_STORE="+store) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		for _, v := range vars {
			if id, ok := strings.CutPrefix(v, "HOLDFAST_SESSION="); ok {
				found[pid] = id
			}
		}
	}
	return found
}

// killPrograms ends what a test has left running in sessions of a store.
func killPrograms(store string) {
	for pid := range programsOf(store) {
		unix.Kill(pid, unix.SIGKILL)
	}
}

// storeFile matches what belongs into a store, with the id of its session.
var storeFile = regexp.MustCompile(`^(?:token|server\.json|server\.lock|sock|bound\.json|sessions|locks|trash|` +
	`locks/([-0-9a-f]{36})\.lock|sessions/([-0-9a-f]{36})(?:/session\.json|/journal\.jsonl|/output|/output/\d{20})?)$`)

// checkFiles waits until nothing is in the store that does not belong there.
// A file may be replaced right now.
func (w *world) checkFiles() {
	w.t.Helper()
	w.await("leftover files to be removed", func() (wrong []string) {
		err := fs.WalkDir(os.DirFS(w.dir), ".", func(path string, d fs.DirEntry, err error) error {
			m := storeFile.FindStringSubmatch(path)
			switch {
			case path == ".":
			case m == nil:
				wrong = append(wrong, path)
			case m[1]+m[2] != "":
				if k := w.known[m[1]+m[2]]; k == nil || k.gone {
					wrong = append(wrong, path+" of no session")
				}
			}
			return nil
		})
		if err != nil {
			w.t.Error(err)
		}
		return wrong
	})
}
