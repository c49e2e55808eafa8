package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"

	"holdfast/session"
)

// A front shows one session of a host on a terminal, and has its keys typed
// there. The command key opens a command line; while that is open nothing of
// the session is read, for its log keeps everything.
//
// It reads the session's stream from a cursor, so that what the terminal gets
// is the log, whatever connections and servers do meanwhile. What is typed
// while the server is away is dropped: it was meant for a program that may be
// gone.
type front struct {
	h     host
	tty   *tty
	guard *guard
	keys  *keys   // nil: no terminal types
	ask   *prompt // of the command line; nil: there is nobody to ask
	mode  frontMode

	view    session.View   // the session that is shown
	at      session.Cursor // what the terminal has had of it
	modes   session.Modes  // what that has made of the terminal
	replay  session.Replay // what it has had since it fell behind
	answers bool           // it answers what the program asks
	inLine  bool           // the output so far ends within a line
	marred  bool           // a notice stands on the screen
	covered [2]int         // size of the terminal whose last row has it
	told    string         // the last notice, where there is no screen
	ran     int            // the last run that was told of on the screen; 0: none
	cleared bool           // the screen is to be empty after the command line
	news    []string       // of a session that a command has made, to be told before its own output
	ended   []session.View // what leaving has ended
	refused bool           // a key was, and who typed it was told why

	foreign atomic.Bool // the session has the size of another terminal

	mu      sync.Mutex              // guards the fields below
	cancel  context.CancelCauseFunc // of what is shown; nil: nothing is
	showing context.Context         // ends with it
	shown   string                  // its id
}

// A frontMode is what a front may do with sessions.
type frontMode int

const (
	holds   frontMode = iota // they are in this process, and end with it
	serves                   // a server has them
	watches                  // nothing is typed or changed
)

// newFront returns a front for this process's terminal, if it has one. It ends
// with ctx.
func newFront(ctx context.Context, h host, mode frontMode) *front {
	f := &front{h: h, tty: openTTY(ctx), mode: mode}
	if !f.tty.typed {
		return f
	}
	f.guard = startGuard(f.tty)
	// The thread that waits in a read of the terminal keeps one of Go's
	// processors. Where that is the last one which does nothing, each key has
	// it taken away and given back.
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
	if !f.tty.interactive() {
		f.keys = watchKeys(f.tty, nil)
		return f
	}
	f.keys = watchKeys(f.tty, func() { f.interrupt(errCommand) })
	f.ask = newPrompt(f.keys, f.tty, f.width, f.completions)
	return f
}

// Why a session is not shown any more.
var (
	errCommand = errors.New("the command key was pressed")
	errSuspend = errors.New("suspended")
	errRepaint = errors.New("the screen is to be painted again")
	errGone    = errors.New("the terminal is gone")
	errWatches = errors.New("a key was pressed where nothing is typed")
)

// run shows f.view from f.at on, or from the end of its log on a clear screen,
// until it is left for good. It returns an ExitStatus when that was the end of
// its program.
func (f *front) run(ctx context.Context, clear bool) error {
	f.guard.arm()
	defer f.guard.dismiss()
	if err := f.tty.raw(); err != nil {
		return fmt.Errorf("the terminal: %w", err)
	}
	err := f.tty.outlast(func() error {
		defer f.leave()
		defer f.watchSignals()()
		if clear {
			f.repaint()
		}
		return f.showAll(ctx)
	})
	if err == errStuck {
		f.tty.cook()
		return context.Cause(ctx)
	}
	return err
}

// showAll shows one session after the other.
func (f *front) showAll(ctx context.Context) error {
	for {
		err := f.show(ctx)
		f.unmar()
		message := ""
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, errGone):
			return hangup
		case errors.Is(err, errSuspend):
			f.suspend()
			f.repaint()
			continue
		case errors.Is(err, errRepaint):
			f.repaint()
			continue
		case errors.Is(err, errCommand):
		case errors.Is(err, errWatches):
			message = f.whyWatches()
		case err == io.EOF:
			f.seeEnd(ctx)
			if f.done(ctx) {
				return statusOf(&f.view)
			}
			message = wayOn(&f.view)
		case f.ask == nil:
			return err
		default:
			message = err.Error()
		}
		if left, err := f.commandLine(ctx, message); left {
			return err
		}
	}
}

// seeEnd asks how the session has ended, if the stream had no word of it: it
// was over before the stream began.
func (f *front) seeEnd(ctx context.Context) {
	if !f.view.Live {
		return
	}
	if v, err := f.h.find(ctx, f.view.ID); err == nil {
		f.view = v
	}
}

// done reports whether the end of the session that is shown leaves nothing to
// do.
func (f *front) done(ctx context.Context) bool {
	if f.ask == nil || f.mode != holds {
		return true
	}
	others, err := f.others(ctx)
	return err != nil || len(others) == 0
}

// show reads the session's stream onto the terminal. It returns io.EOF when the
// session's program has ended and all of its output is shown.
func (f *front) show(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	f.hold(ctx, cancel)
	var typing sync.WaitGroup
	defer func() {
		f.hold(ctx, nil)
		cancel(nil)
		typing.Wait()
	}()
	if f.keys != nil && f.keys.isAsking() { // pressed since the last time
		return errCommand
	}
	stream, err := f.h.stream(ctx, f.view.ID, f.at, f.tty.interactive() && f.mode != watches)
	if err != nil {
		return Explain(f.view.ID, err)
	}
	defer stream.Close()
	f.answers, f.replay = false, session.Replay{}
	f.resize()
	id := f.view.ID
	for typed := false; ; {
		e, err := stream.Next(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err == nil {
			err = f.take(&e)
		}
		if err != nil {
			return err
		}
		if e.Kind != session.KindLive || typed {
			continue
		}
		typed = true
		switch {
		case f.mode == watches && f.keys != nil:
			typing.Go(func() { f.refuseKeys(ctx, cancel) })
		case f.mode == watches:
		case f.keys != nil:
			typing.Go(func() { f.typeKeys(ctx, id, cancel) })
		default:
			go f.typeFed(ctx, id, cancel) // it may wait for a pipe, for which nobody waits
		}
	}
}

// take shows one event.
func (f *front) take(e *session.Event) error {
	f.tellNews(e)
	switch e.Kind {
	case session.KindOutput, session.KindBytes:
		f.modes.Write(e.Data)
		f.at = session.FromOffset(e.Cursor)
		f.inLine = !bytes.HasSuffix(e.Data, []byte("\n"))
		return f.write(e.Data)
	case session.KindRun: // what the run before left on is no longer wanted
		reset := f.modes.Reset()
		f.modes = session.Modes{}
		if f.tty.shown { // a pipe gets the log and nothing else
			err := f.write(reset)
			f.tellRun(e)
			return err
		}
	case session.KindTerminal:
		rest := f.replay.Rest()
		f.answers = e.Answers
		if f.answers {
			return f.write(rest)
		}
	case session.KindGap:
		f.at = session.FromOffset(e.To)
		f.tellGap(e)
	case session.KindSession:
		f.view = *e.View
		cols, rows := f.tty.size()
		f.foreign.Store(cols > 0 && (int(f.view.Cols) != cols || int(f.view.Rows) != rows))
		switch {
		case f.view.StorageError != "":
			f.mar("the store cannot be written, and the program waits: " + f.view.StorageError)
		case f.marred:
			return errRepaint
		}
	case kindAway:
		f.mar("the server is away; this goes on when it is back")
	case session.KindEnd:
		f.view.State, f.view.ExitCode, f.view.Signal, f.view.Live = e.View.State, e.View.ExitCode, e.View.Signal, false
		return io.EOF
	}
	return nil
}

// hold says what is shown, and how to end that.
func (f *front) hold(ctx context.Context, cancel context.CancelCauseFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cancel, f.showing, f.shown = cancel, ctx, f.view.ID
}

// interrupt ends what is shown, if anything is, for a reason.
func (f *front) interrupt(why error) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.cancel == nil {
		return false
	}
	f.cancel(why)
	return true
}

// others are the sessions beside the one shown that would end with this
// process.
func (f *front) others(ctx context.Context) ([]session.View, error) {
	all, err := f.h.list(ctx)
	if err != nil {
		return nil, err
	}
	var live []session.View
	for _, v := range all {
		if v.Live && v.ID != f.view.ID {
			live = append(live, v)
		}
	}
	return live, nil
}
