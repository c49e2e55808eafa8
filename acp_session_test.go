//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestACPLoadTellsEverything(t *testing.T) {
	t.Parallel()
	dir := shortStore(t)
	e := startEditor(t, dir, "--", "sh", "-c", repl)
	id := e.open()
	e.prompt(id, "one")
	e.prompt(id, "two")
	pid := look(t, dir, id).PID
	want := []string{
		"agent_message_chunk: > ",
		"user_message_chunk: one", "agent_message_chunk: you said: one\n> ",
		"user_message_chunk: two", "agent_message_chunk: you said: two\n> ",
	}
	if got := e.must("session/load", of(id)); !slices.Equal(got.updates, want) {
		t.Errorf("load of an open session: %q, want %q", got.updates, want)
	}
	if got := e.must("session/resume", of(id)); len(got.updates) > 0 {
		t.Errorf("resume tells %q", got.updates)
	}
	if now := look(t, dir, id); now.PID != pid || now.Runs != 1 {
		t.Errorf("load and resume made run %d with pid %d of run 1 with pid %d", now.Runs, now.PID, pid)
	}
	e.leave()

	again := startEditor(t, dir, "--", "cat")
	if got := again.must("session/load", of(id)); !slices.Equal(got.updates, want) {
		t.Errorf("load by another connection: %q, want %q", got.updates, want)
	}
	if got := again.prompt(id, "three").text; got != "> \nyou said: three\n> " && got != "\n> \nyou said: three\n> " {
		t.Errorf("prompt after it: %q", got)
	}
	again.leave()

	third := startEditor(t, dir, "--", "cat")
	if got := third.must("session/resume", of(id)); len(got.updates) > 0 {
		t.Errorf("resume by another connection tells %q", got.updates)
	}
	third.must("session/close", of(id))
	if r := third.ask("session/prompt", promptOf(id, "x")); r.err == nil || r.err.Code != -32600 {
		t.Errorf("a prompt after close: %s %+v", r.result, r.err)
	}
	third.leave()
}

func TestACPForkGoesOnBesideItsParent(t *testing.T) {
	t.Parallel()
	dir := shortStore(t)
	e := startEditor(t, dir, "--", "sh", "-c", repl)
	id := e.open()
	e.prompt(id, "one")
	var v struct{ SessionID string }
	if err := json.Unmarshal([]byte(e.must("session/fork", of(id)).result), &v); err != nil || v.SessionID == id {
		t.Fatalf("fork is %q, %v", v.SessionID, err)
	}
	if got := e.prompt(v.SessionID, "two"); !strings.HasSuffix(got.text, "you said: two\n> ") || strings.Contains(got.text, "one") {
		t.Errorf("the fork prints %q", got.text)
	}
	if got := e.prompt(id, "three").text; got != "you said: three\n> " {
		t.Errorf("the parent prints %q", got)
	}
	if got := e.must("session/load", of(v.SessionID)).updates; !slices.Contains(got, "user_message_chunk: one") {
		t.Errorf("the fork's history is %q; want its parent's too", got)
	}
	e.leave()
}

func TestACPProfileIsAnOption(t *testing.T) {
	t.Parallel()
	dir := shortStore(t)
	e := startEditor(t, dir, "--", "sh", "-c", repl)
	id := e.open()
	e.prompt(id, "one")
	r := e.must("session/set_config_option", fmt.Sprintf(`{"sessionId":%q,"configId":"profile","value":"shell"}`, id))
	if !strings.Contains(r.result, `"currentValue":"shell"`) {
		t.Errorf("the option is set: %s", r.result)
	}
	if got := e.prompt(id, "echo $((6*7))").text; !strings.HasSuffix(got, "42\n$ ") {
		t.Errorf("the shell prints %q", got)
	}
	if v := look(t, dir, id); v.Profile != "shell" || v.Runs != 2 {
		t.Errorf("session is %+v; want its second run, with the profile", v)
	}
	if err := os.WriteFile(filepath.Join(dir, "profiles.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	r = e.ask("session/set_config_option", fmt.Sprintf(`{"sessionId":%q,"configId":"profile","value":"claude"}`, id))
	if r.err == nil || !strings.HasPrefix(r.err.Message, "profiles.json, line 1: ") {
		t.Errorf("the option with a broken file: %+v, want an error that names the line", r)
	}
	if r := e.must("session/load", of(id)); !strings.Contains(r.result, `"currentValue":"shell","options":[{"value":"shell","name":"shell"}]`) {
		t.Errorf("the options with a broken file are %s; want what is chosen, alone", r.result)
	}
	e.leave()
}

func TestACPEndsWithItsClient(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		end  func(e *editor)
	}{
		{"standard input ends", func(e *editor) { e.stdin.Close() }},
		{"in half a message", func(e *editor) { e.write(`{"jsonrpc":"2.0","id":9,"method":"session/del`); e.stdin.Close() }},
		{"SIGTERM", func(e *editor) { e.cmd.Process.Signal(syscall.SIGTERM) }},
		{"SIGHUP", func(e *editor) { e.cmd.Process.Signal(syscall.SIGHUP) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := shortStore(t)
			e := startEditor(t, dir, "--quiet", "1h", "--", "sh", "-c", `read -r l; while :; do echo "$l"; sleep 0.1; done`)
			id := e.open()
			line, n := e.line("session/prompt", promptOf(id, "one"))
			e.write(line)
			for e.read().Params.Update.Content.Text == "" {
			}
			v := look(t, dir, id)
			if v.Holder == nil || v.Holder.PID != e.cmd.Process.Pid {
				t.Errorf("holder is %+v; want the agent, %d", v.Holder, e.cmd.Process.Pid)
			}
			tt.end(e)
			if r := e.await(n); r.result != `{"stopReason":"cancelled"}` {
				t.Errorf("the prompt under way is answered by %s %+v", r.result, r.err)
			}
			e.ended(nil)
			if alive(v.PID) {
				t.Errorf("the program, %d, is still there", v.PID)
			}
			if v := look(t, dir, id); v.State != "interrupted" || v.Cause != "gateway_shutdown" || v.Holder != nil {
				t.Errorf("session is %+v; want it interrupted, and held by nobody", v)
			}
		})
	}
}

func TestACPThatIsKilledHoldsNothing(t *testing.T) {
	t.Parallel()
	dir := shortStore(t)
	e := startEditor(t, dir, "--", "sh", "-c", repl)
	id := e.open()
	e.prompt(id, "one")
	e.cmd.Process.Kill()
	e.drain()
	if v := look(t, dir, id); v.State != "interrupted" || v.Cause != "gateway_crash" || v.Holder != nil {
		t.Errorf("session is %+v; want it interrupted by a crash", v)
	}
	again := startEditor(t, dir, "--", "cat")
	if got := again.must("session/load", of(id)).updates; !slices.Contains(got, "user_message_chunk: one") {
		t.Errorf("load tells %q", got)
	}
	again.leave()
}

// A client that does not read stops its own connection, and that can be ended.
func TestACPClientThatDoesNotRead(t *testing.T) {
	t.Parallel()
	dir := shortStore(t)
	e := startEditor(t, dir, "--", "sh", "-c", `read -r l; yes "a line without end"`)
	id := e.open()
	line, _ := e.line("session/prompt", promptOf(id, "go"))
	e.write(line)
	for len(e.lines) < cap(e.lines) { // then the pipe fills
		<-time.After(time.Millisecond)
	}
	pid := look(t, dir, id).PID
	e.cmd.Process.Signal(syscall.SIGTERM)
	v := look(t, dir, id)
	for v.Holder != nil {
		v = look(t, dir, id)
	}
	if v.State != "interrupted" || alive(pid) {
		t.Errorf("session is %s, its program alive: %t", v.State, alive(pid))
	}
	e.ended(nil)
}

func TestACPAndServeRefuseEachOther(t *testing.T) {
	t.Parallel()
	dir := shortStore(t)
	p := startServerProcess(t, "", dir)
	ts := p.client(t)
	served := create(ts, "served", repl)
	e := startEditor(t, dir, "--", "sh", "-c", repl)
	for _, method := range []string{"session/load", "session/resume", "session/delete"} {
		r := e.ask(method, of(served.ID))
		if r.err == nil || r.err.Code != -32010 || !strings.HasPrefix(r.err.Message, fmt.Sprintf("session is in use by pid %d", p.Process.Pid)) {
			t.Fatalf("%s of a served session: %s %+v", method, r.result, r.err)
		}
		if h := r.err.Data.Holder; h == nil || h.PID != p.Process.Pid || h.Host == "" || h.Since == nil {
			t.Errorf("%s: the holder is %+v", method, h)
		}
	}
	if r := e.ask("session/prompt", promptOf(served.ID, "x")); r.err == nil || r.err.Code != -32600 {
		t.Errorf("a prompt of a refused session: %s %+v; want it not open", r.result, r.err)
	}
	if got := e.must("session/list", `{}`).result; !strings.Contains(got, served.ID) {
		t.Errorf("the list has no served session: %s", got)
	}
	var fork struct{ SessionID string }
	if err := json.Unmarshal([]byte(e.must("session/fork", of(served.ID)).result), &fork); err != nil {
		t.Fatal(err)
	}
	e.prompt(fork.SessionID, "mine")

	id := e.open()
	e.prompt(id, "one")
	for method, path := range map[string]string{"POST": "/sessions/" + id + "/start", "DELETE": "/sessions/" + id} {
		if a := ts.do(method, path, ""); a.status != 409 || !strings.Contains(a.body, fmt.Sprintf(`"pid":%d`, e.cmd.Process.Pid)) {
			t.Errorf("%s %s while the editor has it: %d %s", method, path, a.status, a.body)
		}
	}
	e.must("session/close", of(id))
	if a := ts.do("POST", "/sessions/"+id+"/start", ""); a.status != 200 {
		t.Errorf("start of a closed session: %d %s", a.status, a.body)
	}
	e.must("session/delete", of(fork.SessionID))
	if a := ts.do("GET", "/sessions/"+fork.SessionID, ""); a.status != 404 {
		t.Errorf("a deleted session: %d %s", a.status, a.body)
	}
	e.leave()
	p.endOrderly()
}
