//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"holdfast/session"
	"holdfast/store"
)

// An editor is a client of holdfast acp, which runs as a process of its own.
type editor struct {
	t     *testing.T
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines chan []byte // of standard output; closed at its end
	logs  *lockedBuffer
	wait  func() error
	next  int // id of the last request
}

// An acpMessage is what an agent sends.
type acpMessage struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  struct {
		SessionID string `json:"sessionId"`
		Update    struct {
			Kind    string `json:"sessionUpdate"`
			Content struct{ Type, Text string }
		}
	} `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *acpError       `json:"error"`
	raw    []byte
}

type acpError struct {
	Code    int
	Message string
	Data    struct{ Holder *session.Holder }
}

// startEditor runs holdfast acp on a store, as this test binary with its race
// detector, until the test ends.
func startEditor(t *testing.T, dir string, args ...string) *editor {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	e := &editor{t: t, lines: make(chan []byte, 64), logs: new(lockedBuffer)}
	e.cmd = exec.Command(exe, append([]string{"acp", "--store", dir, "--quiet", "400ms"}, args...)...)
	e.cmd.Env = append(os.Environ(), roleEnv+"=main", "PS1=$ ", "SHELL=/bin/sh")
	e.cmd.Stderr = io.MultiWriter(e.logs, t.Output())
	e.cmd.WaitDelay = patience
	stdout, err1 := e.cmd.StdoutPipe()
	stdin, err2 := e.cmd.StdinPipe()
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	e.stdin = stdin
	if err := e.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer close(e.lines)
		in := bufio.NewReader(stdout)
		for {
			line, err := in.ReadBytes('\n')
			if len(line) > 0 {
				e.lines <- line
			}
			if err != nil {
				return
			}
		}
	}()
	e.wait = sync.OnceValue(func() error {
		<-done // all was read
		return e.cmd.Wait()
	})
	t.Cleanup(func() {
		e.cmd.Process.Kill()
		e.drain()
		if logs := e.logs.String(); strings.Contains(logs, "DATA RACE") || strings.Contains(logs, "panic:") {
			t.Errorf("the agent's log:\n%s", logs)
		}
	})
	return e
}

// drain reads what the agent still sends, until it has ended.
func (e *editor) drain() {
	for range e.lines {
	}
	e.wait()
}

// write sends raw bytes.
func (e *editor) write(text string) {
	e.t.Helper()
	if _, err := io.WriteString(e.stdin, text); err != nil {
		e.t.Fatalf("write %.60q: %v", text, err)
	}
}

// line is a request as it is sent, and its id.
func (e *editor) line(method, params string) (line, id string) {
	e.next++
	id = fmt.Sprint(e.next)
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`+"\n", id, method, params), id
}

// read returns the next message. Anything on standard output that is none
// fails the test.
func (e *editor) read() acpMessage {
	e.t.Helper()
	var line []byte
	var ok bool
	select {
	case line, ok = <-e.lines:
	case <-time.After(patience):
	}
	if !ok {
		e.t.Fatalf("no message; the agent's log:\n%s", e.logs)
	}
	var m acpMessage
	if err := json.Unmarshal(line, &m); err != nil || m.Version != "2.0" {
		e.t.Fatalf("standard output has %.200q, %v", line, err)
	}
	m.raw = line
	return m
}

// A reply is an answer, and what came before it.
type reply struct {
	result  string
	err     *acpError
	text    string   // of what the program printed
	updates []string // kind and text of each
}

// await reads up to the answer to a request.
func (e *editor) await(id string) (r reply) {
	e.t.Helper()
	for {
		m := e.read()
		switch {
		case m.Method == "session/update":
			u := m.Params.Update
			r.updates = append(r.updates, u.Kind+": "+u.Content.Text)
			if u.Kind == "agent_message_chunk" {
				r.text += u.Content.Text
			}
		case string(m.ID) == id:
			r.result, r.err = string(m.Result), m.Error
			return r
		default:
			e.t.Fatalf("message %+v while waiting for %s", m, id)
		}
	}
}

// ask sends a request and awaits its answer.
func (e *editor) ask(method, params string) reply {
	e.t.Helper()
	line, id := e.line(method, params)
	e.write(line)
	return e.await(id)
}

// must is ask for what must work.
func (e *editor) must(method, params string) reply {
	e.t.Helper()
	r := e.ask(method, params)
	if r.err != nil {
		e.t.Fatalf("%s %s: %+v", method, params, *r.err)
	}
	return r
}

// open opens a new session.
func (e *editor) open() (id string) {
	e.t.Helper()
	r := e.must("session/new", fmt.Sprintf(`{"cwd":%q,"mcpServers":[]}`, e.t.TempDir()))
	var v struct{ SessionID string }
	if err := json.Unmarshal([]byte(r.result), &v); err != nil || !store.ValidID(v.SessionID) {
		e.t.Fatalf("session/new: %s", r.result)
	}
	return v.SessionID
}

func promptOf(id, text string) string {
	quoted, _ := json.Marshal(text) // a string always can be
	return fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":%s}]}`, id, quoted)
}

func cancelOf(id string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`+"\n", id)
}

func of(id string) string { return fmt.Sprintf(`{"sessionId":%q,"cwd":"/"}`, id) }

// prompt types text and returns what is printed.
func (e *editor) prompt(id, text string) reply {
	e.t.Helper()
	return e.must("session/prompt", promptOf(id, text))
}

// leave ends the agent as an editor does, and wants it to end well.
func (e *editor) leave() {
	e.t.Helper()
	e.stdin.Close()
	e.ended(nil)
}

// ended waits for the end of the agent.
func (e *editor) ended(want error) {
	e.t.Helper()
	e.drain()
	if err := e.wait(); (err == nil) != (want == nil) {
		e.t.Errorf("the agent ends with %v; its log:\n%s", err, e.logs)
	}
}

// look is a session as another process sees it.
func look(t *testing.T, dir, id string) session.View {
	t.Helper()
	s := hold(t, dir, "", "show", id, "--json")
	var v session.View
	if err := json.Unmarshal([]byte(s.Stdout), &v); err != nil {
		t.Fatalf("show %s: %+v", id, s)
	}
	return v
}

// alive reports whether a process runs.
func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }
