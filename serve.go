package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"holdfast/cli"
	"holdfast/leasefs"
	"holdfast/session"
	"holdfast/session/process"
	"holdfast/static"
	"holdfast/store"
)

const (
	headerTimeout = 10 * time.Second // for a request's header to arrive
	idleTimeout   = 2 * time.Minute  // between two requests of a connection
	maxHeader     = 32 << 10         // bytes of a request's header
	stallTimeout  = 30 * time.Second // of a write; see server.stall

	// endGrace is how long requests in flight may take when the process
	// ends. Streams have none.
	endGrace = 5 * time.Second
)

// serve runs the server until ctx ends. There is one for each store.
func serve(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f, err := parseServe(args, stdout)
	if err != nil {
		return err
	}
	if f.resume != "" || f.latest {
		if err := cli.CheckStore(f.store, cli.NothingToResume); err != nil {
			return err
		}
	}
	super, err := takeSupervisor()
	if err != nil {
		return err
	}
	defer super.close()
	if err := super.apply(f); err != nil {
		return err
	}
	lines := newLogQueue(stderr)
	defer lines.close()
	log := slog.New(slog.NewTextHandler(lines, &slog.HandlerOptions{Level: f.level}))
	st, err := store.Open(f.store, store.Options{Boot: process.BootID(), Keep: int64(f.keep)})
	if err != nil {
		return err
	}
	lease, family, err := claim(st)
	if err != nil {
		return err
	}
	defer lease.Release()
	if err := store.Sweep(st.Dir()); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if !family.Local() {
		go watchLease(ctx, lease, cancel)
	}
	return f.serveStore(ctx, st, super, stdout, log)
}

// serveStore serves the sessions of a store that this process is the server
// of.
func (f *serveFlags) serveStore(ctx context.Context, st *store.Store, super *supervisor, stdout io.Writer, log *slog.Logger) error {
	token, err := loadToken(st.Dir())
	if err != nil {
		return err
	}
	ls, err := f.open(st.Dir(), super)
	if err != nil {
		return err
	}
	defer ls.close()
	ctl, err := session.Open(session.Config{Store: st, Front: "serve", Addr: ls.url, KeepBinding: true, IdleAfter: f.idle, Log: log})
	if err != nil {
		return err
	}
	defer ctl.Close()
	if err := begin(ctx, ctl, f); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	srv, err := f.server(ctx, ctl, ls.url, token, log)
	if err != nil {
		return err
	}
	if err := ls.announce(st.Dir()); err != nil {
		log.Warn("address not saved", "err", err) // a full disk is freed by deleting sessions here
	}
	resumed := ctl.AutoResume(ctx, f.most)
	hello := newLogQueue(stdout) // a reader that stalls must not stop the server
	fmt.Fprintf(hello, "listening on %s/#token=%s\n", ls.url, token)
	defer hello.close()
	if !process.Supported {
		log.Warn("no programs on this system", "system", runtime.GOOS)
	}
	log.Info("serving", "addr", ls.url, "socket", ls.socket, "pid", os.Getpid())
	super.ready(ls.url, log)
	err = listen(ctx, srv, ls, f)
	super.stopping(log)
	if errors.Is(context.Cause(ctx), errCutOff) {
		ls.disown()
		err = errCutOff
	}
	cancel()
	end(srv, ctl, log)
	<-resumed
	log.Info("server ended", "pid", os.Getpid())
	return err
}

// claim takes the lease that makes this process the server of a store.
func claim(st *store.Store) (*leasefs.Lease, leasefs.Family, error) {
	family, err := leasefs.Probe(filepath.Join(st.Dir(), "locks"))
	if err != nil {
		return nil, family, err
	}
	me := process.Self()
	host, _ := os.Hostname()
	lease, err := leasefs.Acquire(cli.ServerLock(st.Dir()), leasefs.Options{
		Family: family,
		Self:   leasefs.Holder{PID: me.PID, Start: me.Start, Boot: me.Boot, Host: host, Front: "serve"},
	})
	if held, ok := errors.AsType[*leasefs.HeldError](err); ok {
		return nil, family, servedElsewhere(st.Dir(), held)
	}
	return lease, family, err
}

// errCutOff is why a server ends that another one may have taken the place of.
var errCutOff = errors.New("the lease on the store was lost, as where a host is cut off from it; another server may have the store now")

// watchEvery is how often the lease on the store is looked after that may be
// lost without a word.
const watchEvery = 5 * time.Second

// watchLease ends the server when the lease on its store is lost. It returns
// when ctx ends.
func watchLease(ctx context.Context, lease *leasefs.Lease, end context.CancelCauseFunc) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if errors.Is(lease.Check(), leasefs.ErrLost) {
			end(errCutOff)
			return
		}
	}
}

// begin makes the store true, and starts what the command line names.
func begin(ctx context.Context, ctl *session.Controller, f *serveFlags) error {
	if _, err := ctl.Profiles(); err != nil {
		return err
	}
	if err := ctl.CheckAll(); err != nil {
		return err
	}
	switch {
	case f.resume != "":
		v, err := cli.Called(ctx, ctl, f.resume)
		if err != nil {
			return err
		}
		_, err = ctl.Resume(v.ID)
		return cli.Explain(f.resume, err)
	case f.latest:
		return resumeNewest(ctl)
	case len(f.argv) > 0:
		_, err := ctl.New(session.Spec{Argv: f.argv})
		return cli.Explain("", err)
	}
	return nil
}

// resumeNewest resumes the newest session, of this folder if there is any.
func resumeNewest(ctl *session.Controller) error {
	views, err := ctl.List(session.Filter{})
	if err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		dir = "" // no session is from a folder that is gone
	}
	v, ok := session.Newest(views, dir, false)
	if !ok {
		return errors.New("there is no session to continue; start one with holdfast serve -- PROGRAM")
	}
	if _, err = ctl.Resume(v.ID); err != nil {
		return fmt.Errorf("%s: %w", cmp.Or(v.Name, v.ID), cli.Explain(v.ID, err))
	}
	return nil
}

// server builds the HTTP server. Its streams end with ctx.
func (f *serveFlags) server(ctx context.Context, ctl *session.Controller, url, token string, log *slog.Logger) (*http.Server, error) {
	host, _ := os.Hostname()
	s := &server{
		ctl: ctl, log: log, closing: ctx, key: newCredentials(token), hosts: f.hosts, page: static.FS,
		about:   status{Version: version(), PID: os.Getpid(), Host: host, Address: url, StartedAt: time.Now().UTC()},
		streams: make(chan struct{}, maxStreams), stall: stallTimeout,
	}
	h, err := s.handler()
	if err != nil {
		return nil, err
	}
	return &http.Server{
		Handler:                      h,
		ReadHeaderTimeout:            headerTimeout,
		IdleTimeout:                  idleTimeout,
		MaxHeaderBytes:               maxHeader,
		DisableGeneralOptionsHandler: true,
		ConnState:                    s.countConn,
		ErrorLog:                     slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}, nil
}

// listen serves both listeners until ctx ends or one of them fails.
func listen(ctx context.Context, srv *http.Server, ls *listeners, f *serveFlags) error {
	failed := make(chan error, 2)
	go func() { failed <- srv.Serve(newLimitListener(ls.unix, maxConns)) }()
	go func() {
		var tcp net.Listener = newLimitListener(ls.tcp, maxConns)
		if f.cert != "" {
			failed <- srv.ServeTLS(tcp, f.cert, f.key)
		} else {
			failed <- srv.Serve(tcp)
		}
	}()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
		return nil
	}
}

// end closes the server in an orderly way, after its streams were told to end.
// Nobody is let in any more while the sessions end, and requests that wait for
// a session get their answer from its end.
func end(srv *http.Server, ctl *session.Controller, log *slog.Logger) {
	var wg sync.WaitGroup
	wg.Go(func() {
		grace, cancel := context.WithTimeout(context.Background(), endGrace)
		defer cancel()
		if err := srv.Shutdown(grace); err != nil {
			log.Warn("requests cut short", "err", err)
			srv.Close()
		}
	})
	ctl.Close()
	wg.Wait()
}
