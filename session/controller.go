package session

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"holdfast/leasefs"
	"holdfast/session/process"
	"holdfast/store"
)

// Config is what a Controller needs to know. Its durations are for this
// process's own sessions.
type Config struct {
	Store *store.Store
	Front string // the kind of front end: serve, run, acp; part of the holder record
	Addr  string // where others can attach, without a token; empty: nowhere

	KeepBinding bool // the binding outlives this process; for the store's one server

	IdleAfter     time.Duration // quiet time until a session is idle; 0: 30 s; negative: never
	StopGrace     time.Duration // between SIGTERM and SIGKILL of a stop; 0: 5 s
	ShutdownGrace time.Duration // the same at Close; 0: 2 s
	InputTimeout  time.Duration // for a program to take an input; 0: 10 s

	Log *slog.Logger // nil: discard
}

// A Controller owns the live sessions of one process, their leases and the
// binding. Its methods may be called from any goroutine.
type Controller struct {
	cfg     Config
	store   *store.Store
	log     *slog.Logger
	self    leasefs.Holder
	family  leasefs.Family
	changes changes
	shelf   atomic.Pointer[shelf]

	terminals terminals
	hook      func(step string) // tests pause a step; nil otherwise
	meter     Meter

	// bindMu makes New, Resume, Fork and Switch happen one at a time. It is
	// the first in the lock order; see the package comment.
	bindMu sync.Mutex
	bound  atomic.Pointer[binding] // changed only under bindMu

	mu       sync.Mutex // guards the fields below; a leaf
	closing  bool
	reserved map[string]*reservation
	live     map[string]*live
	past     pastReceipts
	due      map[string]bool // sessions that AutoResume has still to start
	looking  bool            // AutoResume does not know them yet
}

// Open returns a Controller for the store, with the binding that the store
// remembers. The caller must Close it.
//
// It returns leasefs.ErrUnsafe or leasefs.ErrReadOnly if the store's file
// system cannot be written safely.
func Open(cfg Config) (*Controller, error) {
	setDefault(&cfg.IdleAfter, 30*time.Second)
	setDefault(&cfg.StopGrace, 5*time.Second)
	setDefault(&cfg.ShutdownGrace, 2*time.Second)
	setDefault(&cfg.InputTimeout, 10*time.Second)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	family, err := leasefs.Probe(filepath.Join(cfg.Store.Dir(), "locks"))
	if err != nil {
		return nil, err
	}
	host, _ := os.Hostname()
	me := process.Self()
	c := &Controller{
		cfg: cfg, store: cfg.Store, log: cfg.Log,
		self:     leasefs.Holder{PID: me.PID, Start: me.Start, Boot: me.Boot, Host: host, Front: cfg.Front, Addr: cfg.Addr},
		family:   family,
		reserved: make(map[string]*reservation),
		live:     make(map[string]*live),
		due:      make(map[string]bool),
	}
	c.restoreBinding()
	return c, nil
}

func setDefault(d *time.Duration, value time.Duration) {
	if *d == 0 {
		*d = value
	}
}

// Close ends all live sessions of this process in an orderly way: programs
// get the shutdown grace, rows become interrupted by a gateway shutdown (a
// session whose stop was asked for before becomes stopped), leases are free
// when it returns. Every later request is refused with ErrClosing.
func (c *Controller) Close() {
	c.mu.Lock()
	c.closing = true
	live := make([]*live, 0, len(c.live))
	for _, l := range c.live {
		live = append(live, l)
	}
	c.mu.Unlock()
	var wg sync.WaitGroup
	for _, l := range live {
		wg.Go(func() {
			if <-l.ready; l.err == nil {
				l.proc.Stop(c.cfg.ShutdownGrace)
			}
			<-l.done
		})
	}
	wg.Wait()
}

func (c *Controller) isClosing() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closing
}

// lookup returns the live session with an id, or nil.
func (c *Controller) lookup(id string) *live {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.live[id]
}

// running returns the live session with an id once it has its program. It
// waits for a start in flight and for the release of a run that has ended, so
// that what follows acts on what is there. Nil means that it is not live here.
func (c *Controller) running(id string) *live {
	for {
		l := c.lookup(id)
		if l == nil {
			return nil
		}
		<-l.ready
		if l.err == nil && l.w.Row().State.Live() {
			return l
		}
		<-l.done
	}
}

// lease acquires the lease of a session that exists and opens its writer.
func (c *Controller) lease(id string) (*leasefs.Lease, *store.Writer, error) {
	return c.acquire(id, false, func() (*store.Writer, error) { return c.store.OpenWriter(id) })
}

// leaseNew makes the session of row, as a copy of from or empty, under its
// lease.
func (c *Controller) leaseNew(row *store.Row, from *store.Source) (*leasefs.Lease, *store.Writer, error) {
	return c.acquire(row.ID, true, func() (*store.Writer, error) { return c.store.Create(row, from) })
}

func (c *Controller) acquire(id string, isNew bool, open func() (*store.Writer, error)) (*leasefs.Lease, *store.Writer, error) {
	var w *store.Writer
	lease, err := leasefs.Acquire(c.store.LockPath(id), leasefs.Options{
		Family: c.family,
		Self:   c.self,
		New:    isNew,
		Claim: func() (err error) {
			w, err = open()
			return err
		},
	})
	if err != nil {
		if w != nil {
			w.Close()
		}
		return nil, nil, storageError(err)
	}
	return lease, w, nil
}

// reopen opens a session for writing and closes it again, which clears away
// what a crash left unfinished in its files.
func (c *Controller) reopen(id string) error {
	lease, w, err := c.lease(id)
	if err != nil {
		return err
	}
	return errors.Join(w.Close(), lease.Release())
}

// step calls the test hook.
func (c *Controller) step(name string) {
	if c.hook != nil {
		c.hook(name)
	}
}

// storageError marks what is neither about this session nor about its lease
// as a failure of the store.
func storageError(err error) error {
	for _, known := range []error{
		store.ErrNotFound, store.ErrDamaged, store.ErrFenced, store.ErrClosed, leasefs.ErrHeld, leasefs.ErrReadOnly, leasefs.ErrUnsafe, leasefs.ErrTimeout,
	} {
		if errors.Is(err, known) {
			return err
		}
	}
	return fmt.Errorf("%w: %s", ErrStorage, cause(err))
}
