// Package acp lets an editor drive sessions: it is an agent that speaks the
// Agent Client Protocol, version 1, on standard input and output.
//
// What the editor calls an agent is a program on a terminal. A prompt is typed
// into it, and what it prints until it is quiet is the answer.
//
// # What it promises
//
//   - Requests of one session are handled, and answered, in the order in which
//     they came. Those that name no session have an order of their own.
//   - An update is sent before the answer of the request that it belongs to, and
//     none is sent at another time.
//   - A cancel is seen by every prompt of its session that came before it, also
//     in the same write. It ends a prompt within seconds, whatever the program
//     does.
//   - A program's output is sent as the text that a person would have seen.
//     Nothing that was seen is left out but the echo of the prompt, what a
//     full-screen program drew over, and what a client is told is left out.
//   - Leases are those of package session: a session that another process has
//     is refused with the code -32010, and nothing is registered.
//   - Memory is bounded: messages, requests that wait, and the text of an update
//     have limits, and output stays in the log until the client reads on. A
//     client that does not read delays its own connection only; programs go on.
//   - What is written to the output is whole messages of the protocol, nothing
//     else.
//
// # What it does not
//
// It hands no files, terminals or MCP servers of the editor on to a program,
// and asks for no permissions: a terminal has no place for them. It cannot know
// whether a program that is quiet has finished. Of a program that echoes what is
// typed in other words than it was typed, the echo is sent too.
//
// # Concurrency
//
// One goroutine reads, one writes, and each session with requests has one that
// handles them. The goroutine that reads starts requests and cancels them, and
// waits for none. No mutex is held while anything waits.
package acp

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"holdfast/session"
)

// Config is what an agent needs to know.
type Config struct {
	Sessions *session.Controller
	Argv     []string      // what new sessions run; empty: their profile
	Profile  string        // of new sessions; empty without Argv: shell
	Quiet    time.Duration // a program that prints nothing for so long has answered
	Version  string        // of this program
	Log      *slog.Logger  // nil: discard
}

// endGrace is how long the end of a connection waits for a client that reads
// nothing.
const endGrace = time.Second

// errEnded is why requests end with their connection.
var errEnded = errors.New("connection has ended")

// Serve is one connection. It returns when in ends, when out cannot be written
// any more, or when ctx ends; then all requests are over. Sessions that the
// client opened are still live: the caller closes the Controller.
//
// A Read of in or a Write of out that never returns is left behind.
func Serve(ctx context.Context, cfg Config, in io.Reader, out io.Writer) error {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	c := newConn(cfg, newWriter(out))
	cfg.Log.Info("connection begun")
	read := make(chan error, 1)
	go func() { read <- c.read(newLines(in, maxMessage)) }()
	var err error
	select {
	case err = <-read:
	case <-c.out.dead:
		err = c.out.err
	case <-ctx.Done():
	}
	c.end()
	if err == nil || errors.Is(err, io.EOF) {
		cfg.Log.Info("connection ended")
		return nil
	}
	cfg.Log.Info("connection ended", "err", err)
	return err
}
