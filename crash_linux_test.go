package main

import (
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdfast/leasefs"
	"holdfast/session"
)

// rounds is how often the server is killed while it works. It is also killed
// while it starts.
const rounds = 50

// Clients make sessions, type, resize, fork, switch, rename, stop, start and
// delete them, and read all output, when the server is killed at any moment.
// After its restart all that they were told is true, what they were not told
// is done or not done, and readers go on where they were.
func TestKilledAgainAndAgain(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	w := newWorld(t, seed, 4)
	for round := range rounds {
		if w.rnd.IntN(5) == 0 {
			w.killTheStart()
		}
		w.start(w.rnd.IntN(3) > 0)
		w.check()
		if t.Failed() {
			t.Fatalf("round %d", round)
		}
		w.work(60)
	}
	w.start(true)
	w.check()
	w.endAll()
	w.end()
	t.Logf("%d kills, %d requests, %d sessions, %d bytes compared", w.kills, w.requests.Load(), len(w.known), w.compared)
}

// A world is a store whose server is killed again and again, and all that
// clients were told meanwhile.
type world struct {
	t   *testing.T
	rnd *rand.Rand
	dir string // of the store
	cwd string // of the programs
	exe string // of the server; see startServerProcess

	patience time.Duration // for what must come after a restart

	family  leasefs.Family
	p       *serverProcess
	ts      *testServer // for requests to p
	resumes bool        // p resumes what was interrupted
	unseen  int         // starts of a server that may have resumed, since the last check
	clients []*client

	left     atomic.Int64 // requests that are answered before the kill
	requests atomic.Int64
	dying    atomic.Bool // the server is being killed: any request may fail
	resting  atomic.Bool // clients begin nothing more
	readers  sync.WaitGroup

	kills    int
	compared int // bytes

	mu    sync.Mutex        // guards known while clients work; its values have owners
	known map[string]*known // by id
}

func newWorld(t *testing.T, seed uint64, clients uint64) *world {
	t.Helper()
	w := &world{
		t: t, rnd: rand.New(rand.NewPCG(seed, 0)),
		dir: filepath.Join(t.TempDir(), "store"), cwd: t.TempDir(), known: make(map[string]*known), patience: patience,
	}
	if err := os.WriteFile(filepath.Join(w.cwd, "text"), mixedOutput(w.rnd, 6000), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range clients {
		w.clients = append(w.clients, &client{w: w, binds: i == 0, number: i, rnd: rand.New(rand.NewPCG(seed, i+1))})
	}
	var err error
	if w.family, err = leasefs.Probe(w.cwd); err != nil {
		t.Fatal(err)
	}
	w.clients[0].bound = []string{""}
	t.Cleanup(func() { killPrograms(w.dir) })
	return w
}

// start starts the server and waits until it has resumed what it resumes.
func (w *world) start(resumes bool) {
	w.t.Helper()
	w.launch(resumes)
	if err := w.p.announced(); err != nil {
		w.t.Fatal(err)
	}
	w.ts = w.p.client(w.t)
	w.dying.Store(false)
}

func (w *world) launch(resumes bool) {
	w.resumes = resumes
	args := []string{"--log-level", "error"}
	if !resumes {
		args = append(args, "--no-auto-resume")
	}
	w.p = launch(w.t, w.exe, w.dir, args...)
}

func (w *world) kill() {
	w.dying.Store(true)
	w.p.kill()
	w.kills++
}

// killTheStart kills a server while it starts: a crash in the recovery from a
// crash is one too.
func (w *world) killTheStart() {
	w.launch(true)
	<-time.After(time.Duration(w.rnd.IntN(200)) * time.Millisecond)
	w.kill()
	w.unseen++
}

// work lets the clients at the server until it is killed: in the middle of
// what they do after some number of answers, most at most.
func (w *world) work(most int64) {
	over := w.act(w.rnd.Int64N(most))
	<-time.After(time.Duration(w.rnd.IntN(5000)) * time.Microsecond)
	w.kill()
	<-over
	w.readers.Wait()
	w.ts.unix.CloseIdleConnections()
}

// act lets the clients at the server, and returns after so many answers. They
// go on until the server dies or they are to rest; then over is closed.
func (w *world) act(answers int64) (over <-chan struct{}) {
	w.left.Store(answers)
	for _, k := range w.sessions() {
		w.read(k)
	}
	enough, done := make(chan struct{}), make(chan struct{})
	var clients sync.WaitGroup
	for _, c := range w.clients {
		clients.Go(func() {
			for !w.resting.Load() && c.act() {
				w.requests.Add(1)
				if w.left.Add(-1) == -1 {
					close(enough)
				}
			}
		})
	}
	go func() { clients.Wait(); close(done) }()
	select {
	case <-enough:
	case <-done: // each has found an error
	}
	return done
}

// sessions returns all that are not deleted, as far as is known.
func (w *world) sessions() []*known {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []*known
	for _, k := range w.known {
		if !k.gone {
			all = append(all, k)
		}
	}
	return all
}

// endAll starts and stops every session, reads all of them to the end, and
// deletes them.
func (w *world) endAll() {
	w.t.Helper()
	for _, k := range w.sessions() {
		path := "/sessions/" + k.id
		if k.view.State == "interrupted" {
			must[session.View](w.ts, w.ts.do("POST", path+"/start", ""), http.StatusOK)
		}
		k.view = must[session.View](w.ts, w.ts.do("POST", path+"/stop", ""), http.StatusOK)
		w.read(k)
	}
	w.readers.Wait()
	w.checkPrograms()
	for _, k := range w.sessions() {
		k.compared = 0 // once more, all of it
		w.compare(k)
		if got, want := int64(len(k.seen)), w.ts.get(k.id).Cursor; got != want {
			w.t.Errorf("%s: a reader that goes to the end has %d bytes, want %d", k, got, want)
		}
		if a := w.ts.do("DELETE", "/sessions/"+k.id, ""); a.status != http.StatusNoContent {
			w.t.Errorf("%s: delete: %d %s", k, a.status, a.body)
		}
		k.gone = true
	}
	w.checkPrograms()
}

// end ends the server. Nothing is left then but what each store has.
func (w *world) end() {
	w.t.Helper()
	w.p.Process.Signal(os.Interrupt)
	if err := w.p.wait(); err != nil {
		w.t.Errorf("serve: %v", err)
	}
	w.checkFiles()
}
