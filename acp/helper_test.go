package acp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"testing"
	"time"

	"holdfast/internal/leaks"
	"holdfast/leasefs"
	"holdfast/session"
	"holdfast/session/process"
	"holdfast/store"
)

func TestMain(m *testing.M) {
	os.Exit(leaks.Check(os.Stderr, m.Run(), "holdfast/", leasefs.Held))
}

// A client is the other end of a connection in this process.
type client struct {
	t   *testing.T
	ctl *session.Controller
	in  *io.PipeWriter
	out *bufio.Scanner
	end context.CancelFunc // what a signal does
	// result is what Serve returns.
	result chan error
}

// connect serves a connection until the test ends.
func connect(t *testing.T, argv ...string) *client {
	t.Helper()
	st, err := store.Open(t.TempDir(), store.Options{Boot: process.BootID()})
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	ctl, err := session.Open(session.Config{Store: st, Front: "acp", ShutdownGrace: 500 * time.Millisecond, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	in, stdin := io.Pipe()
	stdout, out := io.Pipe()
	c := &client{t: t, ctl: ctl, in: stdin, out: bufio.NewScanner(stdout), end: end, result: make(chan error, 1)}
	c.out.Buffer(nil, 1<<20)
	go func() {
		c.result <- Serve(ctx, Config{Sessions: ctl, Argv: argv, Quiet: 300 * time.Millisecond, Log: log}, in, out)
	}()
	t.Cleanup(func() {
		stdin.Close()
		end()
		stdout.Close()
		ctl.Close()
	})
	return c
}

// send sends a line.
func (c *client) send(format string, args ...any) {
	c.t.Helper()
	if _, err := fmt.Fprintf(c.in, format+"\n", args...); err != nil {
		c.t.Fatal(err)
	}
}

// read returns the next message.
func (c *client) read() (m map[string]any) {
	c.t.Helper()
	if !c.out.Scan() {
		c.t.Fatalf("no message: %v", c.out.Err())
	}
	if err := json.Unmarshal(c.out.Bytes(), &m); err != nil {
		c.t.Fatalf("%q: %v", c.out.Text(), err)
	}
	return m
}
