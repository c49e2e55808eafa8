//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// repl is a program that answers each line; "bye" ends it.
const repl = `while printf '> ' && read -r l; do [ "$l" = bye ] && { echo goodbye; exit 3; }; echo "you said: $l"; done`

// refusals are lines that an agent refuses, with the id and the code of its
// answer. OPEN is a session of the connection, CLOSED one that is not open in it.
var refusals = []struct {
	line string
	id   string
	code int
}{
	{`{"jsonrpc":"2.0","id":1,"method":"initialize"`, "null", -32700},
	{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", "null", -32700},
	{`hello`, "null", -32700},
	{`[{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}]`, "null", -32600},
	{`7`, "null", -32600},
	{`null`, "null", -32600},
	{`{"id":"a","method":"session/list"}`, `"a"`, -32600},
	{`{"jsonrpc":"1.0","id":"a","method":"session/list"}`, `"a"`, -32600},
	{`{"jsonrpc":"2.0","id":{},"method":"session/list"}`, "null", -32600},
	{`{"jsonrpc":"2.0","id":5}`, "5", -32600},
	{`{"jsonrpc":"2.0","id":5,"method":7}`, "5", -32600},
	{`{"jsonrpc":"2.0","id":null,"method":"nonesuch"}`, "null", -32601},
	{`{"jsonrpc":"2.0","id":"b","method":"nonesuch","params":{}}`, `"b"`, -32601},
	{`{"jsonrpc":"2.0","id":-1,"method":"session/set_mode","params":{}}`, `-1`, -32601},
	{`{"jsonrpc":"2.0","id":6,"method":"session/list","params":[]}`, "6", -32602},
	{`{"jsonrpc":"2.0","id":6,"method":"initialize","params":{}}`, "6", -32602},
	{`{"jsonrpc":"2.0","id":6,"method":"initialize","params":{"protocolVersion":"one"}}`, "6", -32602},
	{`{"jsonrpc":"2.0","id":6,"method":"session/new"}`, "6", -32602},
	{`{"jsonrpc":"2.0","id":6,"method":"session/new","params":{"cwd":"relative","mcpServers":[]}}`, "6", -32602},
	{`{"jsonrpc":"2.0","id":6,"method":"session/new","params":{"cwd":"/nonexistent/folder","mcpServers":[]}}`, "6", -32602},
	{`{"jsonrpc":"2.0","id":6,"method":"session/new","params":{"cwd":7}}`, "6", -32602},
	{`{"jsonrpc":"2.0","id":6,"method":"session/load","params":{"cwd":"/"}}`, "6", -32602},
	{`{"jsonrpc":"2.0","id":6,"method":"session/load","params":{"sessionId":"x"}}`, "6", -32602},
	{`{"jsonrpc":"2.0","id":6,"method":"session/load","params":{"sessionId":"x","cwd":"/"}}`, "6", -32002},
	{`{"jsonrpc":"2.0","id":6,"method":"session/resume","params":{"sessionId":"../../etc","cwd":"/"}}`, "6", -32002},
	{`{"jsonrpc":"2.0","id":6,"method":"session/fork","params":{"sessionId":"00000000-0000-4000-8000-000000000000","cwd":"/"}}`, "6", -32002},
	{`{"jsonrpc":"2.0","id":6,"method":"session/close","params":{"sessionId":"x"}}`, "6", -32002},
	{`{"jsonrpc":"2.0","id":6,"method":"session/prompt","params":{"sessionId":"x","prompt":[]}}`, "6", -32002},
	{`{"jsonrpc":"2.0","id":6,"method":"session/prompt","params":{"sessionId":"OPEN"}}`, "6", -32602},
	{`{"jsonrpc":"2.0","id":6,"method":"session/prompt","params":{"sessionId":"OPEN","prompt":[{"type":"image","data":"","mimeType":"image/png"}]}}`, "6", -32602},
	{`{"jsonrpc":"2.0","id":6,"method":"session/prompt","params":{"sessionId":"OPEN","prompt":[{"type":"text"}]}}`, "6", -32602},
	{`{"jsonrpc":"2.0","id":6,"method":"session/prompt","params":{"sessionId":"CLOSED","prompt":[]}}`, "6", -32600},
	{`{"jsonrpc":"2.0","id":6,"method":"session/prompt","params":{"sessionId":"OPEN","prompt":[{"type":"text","text":"` + strings.Repeat("x", 1<<20+1) + `"}]}}`, "6", -32602},
	{`{"jsonrpc":"2.0","id":6,"method":"session/prompt","params":{"sessionId":"OPEN","prompt":[{"type":"text","text":"` + strings.Repeat("x", 5000) + `"}]}}`, "6", -32602},
	{`{"jsonrpc":"2.0","id":6,"method":"session/set_config_option","params":{"sessionId":"OPEN","configId":"mood","value":"x"}}`, "6", -32602},
	{`{"jsonrpc":"2.0","id":6,"method":"session/set_config_option","params":{"sessionId":"OPEN","configId":"profile","value":"x"}}`, "6", -32602},
	{`{"jsonrpc":"2.0","id":6,"method":"session/set_config_option","params":{"sessionId":"OPEN","configId":"profile","value":true}}`, "6", -32602},
	{`{"jsonrpc":"2.0","id":6,"method":"session/set_config_option","params":{"sessionId":"CLOSED","configId":"profile","value":"shell"}}`, "6", -32600},
	{`{"jsonrpc":"2.0","id":6,"method":"session/list","params":{"cursor":"x"}}`, "6", -32602},
	{`{"jsonrpc":"2.0","id":6,"method":"session/list","params":{"cwd":"relative"}}`, "6", -32602},
	{`{"jsonrpc":"2.0","id":6,"method":"session/cancel","params":{"sessionId":"OPEN"}}`, "6", -32601},
}

func TestACPRefusals(t *testing.T) {
	t.Parallel()
	dir := shortStore(t)
	e := startEditor(t, dir, "--", "cat")
	open := e.open()
	other := startEditor(t, dir, "--", "true")
	closed := other.open()
	other.leave()
	for _, tt := range refusals {
		e.write(strings.NewReplacer("OPEN", open, "CLOSED", closed).Replace(tt.line) + "\n")
		if r := e.await(tt.id); r.err == nil || r.err.Code != tt.code || r.err.Message == "" {
			t.Errorf("%.200s is answered by %s %+v; want %d", tt.line, r.result, r.err, tt.code)
		}
	}
	// What is not asked is not answered, and what is not known is ignored.
	e.write("\n \r\n" +
		`{"jsonrpc":"2.0","method":"nonesuch"}` + "\n" +
		`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"nonesuch"}}` + "\n" +
		`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":7}}` + "\n" +
		`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":99}}` + "\n" +
		`{"jsonrpc":"2.0","id":1,"result":{}}` + "\n")
	e.must("session/list", `{"_meta":{"x":1},"unknown":[1,2],"cwd":null,"cursor":null}`)
	e.must("session/delete", of("nonesuch"))
	e.leave()
}

func TestACPSaysWhatItCanDo(t *testing.T) {
	t.Parallel()
	e := startEditor(t, shortStore(t), "--", "cat")
	var got any
	if err := json.Unmarshal([]byte(e.must("initialize", `{"protocolVersion":9,"clientCapabilities":{"terminal":true}}`).result), &got); err != nil {
		t.Fatal(err)
	}
	none := map[string]any{}
	want := map[string]any{
		"protocolVersion": 1.0,
		"agentCapabilities": map[string]any{
			"loadSession":         true,
			"promptCapabilities":  map[string]any{"image": false, "audio": false, "embeddedContext": false},
			"mcpCapabilities":     map[string]any{"http": false, "sse": false},
			"sessionCapabilities": map[string]any{"list": none, "resume": none, "fork": none, "close": none, "delete": none},
		},
		"authMethods": []any{},
		"agentInfo":   map[string]any{"name": "holdfast", "title": "holdfast", "version": version()},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("initialize (-want +got):\n%s", diff)
	}
	e.leave()
}

func TestACPMessagesHaveALimit(t *testing.T) {
	t.Parallel()
	e := startEditor(t, shortStore(t), "--", "cat")
	e.write(`{"jsonrpc":"2.0","id":1,"method":"session/list","params":{"x":"` + strings.Repeat("x", 32<<20) + `"}}` + "\n")
	if r := e.await("null"); r.err == nil || r.err.Code != -32600 {
		t.Errorf("a message of more than 32 MiB is answered by %s %+v; want -32600", r.result, r.err)
	}
	e.must("session/list", `{"x":"`+strings.Repeat("x", 4<<20)+`"}`)
	e.leave()
}

func TestACPPrompts(t *testing.T) {
	t.Parallel()
	e := startEditor(t, shortStore(t), "--", "sh", "-c", repl)
	id := e.open()
	first := e.prompt(id, "hello")
	if first.text != "> \nyou said: hello\n> " || first.result != `{"stopReason":"end_turn"}` {
		t.Errorf("first prompt: %q, %s", first.text, first.result)
	}
	if got := e.prompt(id, "again"); got.text != "you said: again\n> " {
		t.Errorf("second prompt: %q", got.text)
	}
	r := e.must("session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":"see "},`+
		`{"type":"resource_link","name":"a","uri":"file:///a%%20b/c"},{"type":"text","text":"and"},{"type":"resource_link","name":"x","uri":"https://x/y"}]}`, id))
	if r.text != "you said: see /a b/c and https://x/y\n> " {
		t.Errorf("links: %q", r.text)
	}
	if got := e.prompt(id, "no \x1b[31mkeys\x03\x04 in it\u0085"); got.text != "you said: no [31mkeys in it\n> " {
		t.Errorf("control characters: %q", got.text)
	}
	e.leave()
}

func TestACPOutputIsCollapsed(t *testing.T) {
	t.Parallel()
	bar := `read l; for i in 1 2 3 4 5 6 7 8 9; do printf '\r\033[32m%d0%%\033[0m' $i; sleep 0.05; done; printf '\r100%%\n'; cat`
	e := startEditor(t, shortStore(t), "--quiet", "2s", "--", "sh", "-c", bar) // a busy machine pauses too
	if got := e.prompt(e.open(), "go").text; got != "100%\n" {
		t.Errorf("a progress bar is told as %q; want its end", got)
	}
	e.leave()
}

func TestACPUpdatesAreBounded(t *testing.T) {
	t.Parallel()
	e := startEditor(t, shortStore(t), "--", "sh", "-c", `read l; awk 'BEGIN { for (i = 0; i < 20000; i++) print "€€€€€€€€€€ line " i }'; cat`)
	r := e.prompt(e.open(), "go")
	if n := strings.Count(r.text, "€€€€€€€€€€ line "); n != 20000 || !strings.HasSuffix(r.text, " 19999\n") {
		t.Errorf("%d lines of 20000 came; the last are %q", n, r.text[max(0, len(r.text)-60):])
	}
	for _, u := range r.updates {
		if len(u) > 17<<10 || strings.Contains(u, "\uFFFD") {
			t.Errorf("an update of %d bytes, with broken characters: %t", len(u), strings.Contains(u, "\uFFFD"))
		}
	}
	e.leave()
}

func TestACPPastesWhereTheProgramAskedForIt(t *testing.T) {
	t.Parallel()
	e := startEditor(t, shortStore(t), "--", "sh", "-c", `stty raw -echo; printf '\033[?2004hready '; exec cat -v`)
	id := e.open()
	if got := e.prompt(id, "one\ntwo").text; got != "ready ^[[200~one^Mtwo^[[201~^M" {
		t.Errorf("the program gets %q; want a paste and Enter", got)
	}
	if got := e.prompt(id, "\x1b[201~rm").text; got != "^[[200~[201~rm^[[201~^M" {
		t.Errorf("the program gets %q; want no end of the paste in it", got)
	}
	e.leave()
	plain := startEditor(t, shortStore(t), "--", "sh", "-c", `stty raw -echo; printf '\033[?2004h\033[?2004lready '; exec cat -v`)
	if got := plain.prompt(plain.open(), "one\ntwo").text; got != "ready one^Mtwo^M" {
		t.Errorf("the program gets %q; want no paste", got)
	}
	plain.leave()
}

func TestACPCancelInTheSameWrite(t *testing.T) {
	t.Parallel()
	e := startEditor(t, shortStore(t), "--", "sh", "-c", repl)
	id := e.open()
	for i := range 50 {
		line, n := e.line("session/prompt", promptOf(id, "hello"))
		cancel := cancelOf(id)
		if i%2 == 1 {
			cancel = fmt.Sprintf(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":%s}}`+"\n", n)
		}
		e.write(line + cancel)
		if r := e.await(n); r.result != `{"stopReason":"cancelled"}` {
			t.Fatalf("prompt %d with its cancel: %s %+v", i, r.result, r.err)
		}
	}
	if got := e.prompt(id, "still here"); got.result != `{"stopReason":"end_turn"}` || !strings.HasSuffix(got.text, "you said: still here\n> ") {
		t.Errorf("the prompt after them: %q, %s", got.text, got.result)
	}
	e.leave()
}

func TestACPCancelInterruptsTheProgram(t *testing.T) {
	t.Parallel()
	e := startEditor(t, shortStore(t), "--quiet", "2s", "--", "sh", "-c", `trap 'echo caught' INT; while read -r l; do echo started; while :; do sleep 0.1; printf .; done; done`)
	id := e.open()
	line, n := e.line("session/prompt", promptOf(id, "go"))
	e.write(line)
	for e.read().Params.Update.Content.Text == "" {
	}
	busy, second := e.line("session/prompt", promptOf(id, "too"))
	e.write(busy)
	if r := e.await(second); r.err == nil || r.err.Code != -32600 {
		t.Errorf("a second prompt: %s %+v; want -32600", r.result, r.err)
	}
	e.write(cancelOf(id))
	if r := e.await(n); r.result != `{"stopReason":"cancelled"}` || !strings.Contains(r.text, "caught") {
		t.Errorf("cancelled prompt: %q, %s", r.text, r.result)
	}
	e.leave()
}

func TestACPCancelOfEndlessOutput(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"that obeys":    `read l; yes "a line without end"`,
		"that does not": `trap '' INT; read l; yes "a line without end"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := startEditor(t, shortStore(t), "--", "sh", "-c", script)
			id := e.open()
			line, n := e.line("session/prompt", promptOf(id, "go"))
			e.write(line)
			for e.read().Params.Update.Content.Text == "" {
			}
			e.write(cancelOf(id))
			if r := e.await(n); r.result != `{"stopReason":"cancelled"}` {
				t.Errorf("cancelled prompt: %s %+v", r.result, r.err)
			}
			if r := e.ask("session/close", of(id)); r.err != nil {
				t.Errorf("close: %+v", *r.err)
			}
			e.leave()
		})
	}
}

func TestACPProgramThatExits(t *testing.T) {
	t.Parallel()
	dir := shortStore(t)
	e := startEditor(t, dir, "--", "sh", "-c", repl)
	id := e.open()
	r := e.prompt(id, "bye")
	if r.result != `{"stopReason":"end_turn"}` || !strings.HasSuffix(r.text, "goodbye\n") {
		t.Errorf("the prompt that ends the program: %q, %s", r.text, r.result)
	}
	if r := e.ask("session/prompt", promptOf(id, "hello")); r.err == nil || r.err.Code != -32600 {
		t.Errorf("a prompt without a program: %s %+v; want -32600", r.result, r.err)
	}
	if v := look(t, dir, id); v.State != "ended" || *v.ExitCode != 3 || v.Holder != nil {
		t.Errorf("session is %+v; want it ended with status 3, and held by nobody", v)
	}
	e.must("session/resume", of(id))
	if r := e.prompt(id, "hello"); !strings.HasSuffix(r.text, "you said: hello\n> ") {
		t.Errorf("after a resume: %q", r.text)
	}
	e.leave()
}
