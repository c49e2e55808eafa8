package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"holdfast/leasefs"
	"holdfast/session"
)

// A host does what commands ask for: the server of the store, or a controller
// in this process. Both fail with the errors of package session.
type host interface {
	list(ctx context.Context) ([]session.View, error)
	// find returns the session that an id, the beginning of one or a name
	// means. The other methods take ids.
	find(ctx context.Context, ref string) (session.View, error)
	// input types what in has: in one piece, or as it arrives if in is a
	// stream.
	input(ctx context.Context, id string, in io.Reader, stream bool) (session.Receipt, error)
	wait(ctx context.Context, id string, w waitFor) (session.WaitResult, error)
	stop(ctx context.Context, id string) (session.View, error)
	rename(ctx context.Context, id, name string) (session.View, error)
	remove(ctx context.Context, id string) error
	close()

	create(ctx context.Context, s session.Spec) (session.View, error)
	start(ctx context.Context, id string) (session.View, error)
	fork(ctx context.Context, id string, f session.ForkSpec) (session.View, error)
	switchTo(ctx context.Context, id string, s session.SwitchSpec) (session.View, error)
	turns(ctx context.Context, id string) ([]session.Turn, error)
	profiles(ctx context.Context) ([]string, error)
	resize(ctx context.Context, id string, cols, rows int) error

	// stream tells of a session until ctx ends. With answers, a terminal
	// shows it that answers the program's questions.
	stream(ctx context.Context, id string, from session.Cursor, answers bool) (eventStream, error)

	// typist types into a session until ctx ends.
	typist(ctx context.Context, id string) typist
}

// An eventStream is a session.Stream, here or over a connection. Next is called
// with the context that the stream was begun with.
type eventStream interface {
	Next(ctx context.Context) (session.Event, error)
	Close()
}

// A typist types one piece after the other. Write returns when a piece is on
// its way; its error may be that of the piece before, and the next may work
// again.
type typist interface {
	io.Writer

	// writeNow types p if that takes no wait. If it returns false, the next
	// call is a Write of the same bytes, or of the same and more.
	writeNow(p []byte) bool

	// end types what tells a program that its input is over.
	end() error
	Close()
}

// A waitFor is what a wait is for. Its times are within the server's limits.
type waitFor struct {
	spec  session.WaitSpec
	quiet time.Duration // of spec, also if it is not waited for

	// The same in the words of the HTTP interface.
	from, reasons, match string
	timeout              time.Duration
}

const (
	serverPatience = 2 * time.Second // for a server that starts or ends
	serverPoll     = 50 * time.Millisecond
)

// errNoAnswer reports a server that holds the store and cannot be reached.
var errNoAnswer = errors.New("the store's server does not answer on its socket; it may be starting or ending, try again")

// open returns the server of the store, or the store itself if there is none
// on this host.
func (c *command) open(ctx context.Context) (host, error) {
	family, err := leasefs.Probe(filepath.Join(c.store, "locks"))
	if err != nil {
		return c.openLocal() // which says the same of the store, or makes it one
	}
	again := time.NewTicker(serverPoll)
	defer again.Stop()
	for range serverPatience / serverPoll { // less the time of one that is frozen
		served, err := leasefs.Busy(ServerLock(c.store), family)
		if err != nil {
			return nil, err
		}
		if !served {
			return c.openLocal()
		}
		if server := newClient(c.socket); server.answers(ctx) {
			return server, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if holder, err := leasefs.ReadHolder(ServerLock(c.store)); err == nil && Elsewhere(holder) {
			return c.openLocal() // whose sessions can be looked at
		}
		<-again.C
	}
	return nil, errNoAnswer
}

// socket is where the server listens. One that could not write server.json
// still has its socket in the store.
func (c *command) socket() string {
	if f, err := ReadServerFile(c.store); err == nil && f.Socket != "" {
		return f.Socket
	}
	return filepath.Join(c.store, "sock")
}

// answers reports whether the server can be reached. It waits for one that is
// frozen, and says so.
func (c client) answers(ctx context.Context) bool {
	defer time.AfterFunc(serverPatience, func() {
		fmt.Fprintln(os.Stderr, Fitting(os.Stderr, "holdfast: the store's server does not answer; waiting for it; Ctrl-C leaves"))
	}).Stop()
	var ok json.RawMessage // read, so that the connection stays
	return c.do(ctx, http.MethodGet, "/healthz", nil, &ok) == nil
}
