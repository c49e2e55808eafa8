package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"holdfast/session"
)

// A badRequest is a request that must change nothing.
type badRequest struct {
	name         string
	method, path string
	body         string
	status       int
	problem      string // last part of the type
	detail       string // part of the detail
}

// Every route that takes a session refuses the same bad ones.
func badSessions() (bad []badRequest) {
	routes := []struct{ method, path, body string }{
		{"GET", "", ""}, {"PATCH", "", `{"name":"x"}`}, {"DELETE", "", ""}, {"POST", "/start", ""}, {"POST", "/stop", ""}, {"POST", "/fork", ""},
		{"POST", "/input", "x"}, {"POST", "/input?stream=1", "x"}, {"POST", "/resize", `{"cols":80,"rows":24}`}, {"POST", "/signal", `{"signal":"INT"}`},
		{"GET", "/events", ""}, {"GET", "/output", ""},
	}
	for _, rt := range routes {
		for _, id := range []string{
			"nothing", "1234567", "00000000-0000-4000-8000-000000000000", strings.Repeat("a", 300), strings.Repeat("é", 300),
			"..%2f..%2fetc%2fpasswd", "%2e%2e", "..%5c..", "a%00b", "%ff", "locks", "*", "%20",
		} {
			bad = append(bad, badRequest{"no such session", rt.method, "/sessions/" + id + rt.path, rt.body, 404, "no-such-session", "there is no session"})
		}
		for _, id := range []string{"../../etc/passwd", "..", "./x", "a//b"} {
			bad = append(bad, badRequest{"traversal", rt.method, "/sessions/" + id + rt.path, rt.body, 404, "no-such-path", "nothing is at"})
		}
		bad = append(bad, badRequest{"ambiguous", rt.method, "/sessions/twin" + rt.path, rt.body, 409, "ambiguous", `"twin" fits 2 sessions`})
	}
	return bad
}

// Every route that takes JSON refuses the same bad JSON.
func badJSON() (bad []badRequest) {
	routes := []struct {
		method, path string
		needed       bool // the body
		member       string
	}{
		{"POST", "/new", false, "argv"}, {"POST", "/sessions", false, "cwd"}, {"POST", "/resume", true, "id"}, {"POST", "/fork", false, "at"},
		{"POST", "/switch", true, "profile"}, {"POST", "/resize", true, "cols"}, {"POST", "/signal", true, "signal"}, {"POST", "/stop", false, ""},
		{"POST", "/login", true, "token"}, {"PATCH", "/sessions/victim", true, "name"}, {"POST", "/sessions/victim/start", false, ""},
		{"POST", "/sessions/victim/stop", false, ""}, {"POST", "/sessions/victim/fork", false, "argv"}, {"DELETE", "/sessions/victim", false, ""},
		{"POST", "/sessions/victim/resize", true, "rows"}, {"POST", "/sessions/victim/signal", true, "signal"},
		{"POST", "/input json", true, "text"}, {"POST", "/sessions/victim/input json", true, "text"},
	}
	const name = "malformed-request"
	for _, rt := range routes {
		add := func(what, body, detail string) {
			bad = append(bad, badRequest{what, rt.method, rt.path, body, 400, name, detail})
		}
		if rt.needed {
			add("empty", "", "the body is empty")
		}
		add("only white space", " \n", "the body is empty")
		add("truncated", `{"a`, "has no end")
		add("truncated after a member", `{"name":"a"`, "has no end")
		add("no JSON", `argv=bash`, "not a JSON object")
		add("an array", `[]`, "not a JSON object")
		add("null", `null`, "not a JSON object")
		add("unknown member", `{"colour":"red"}`, `unknown member "colour"`)
		add("trailing data", `{} {}`, "something follows")
		add("trailing text", `{}x`, "something follows")
		add("not UTF-8", "{\"name\":\"\xff\"}", "not valid UTF-8")
		if rt.member != "" {
			add("wrong type", `{"`+rt.member+`":{"a":1.5}}`, `"`+rt.member+`" is an object; it must be`)
		}
		if !strings.HasSuffix(rt.path, " json") {
			bad = append(bad, badRequest{"too large", rt.method, rt.path, `{"name":"` + strings.Repeat("x", maxJSON) + `"}`, 413, "body-too-large", "65536 bytes"})
		}
	}
	return bad
}

// badValues are well formed and cannot be done. folder has what they name.
func badValues(folder string) []badRequest {
	return slices.Concat(badSpecs(folder), badForBound(""), badForBound("/sessions/victim"), badForAll)
}

// badSpecs are sessions that cannot be made.
func badSpecs(folder string) (bad []badRequest) {
	missing, plain := filepath.Join(folder, "missing"), filepath.Join(folder, "plain")
	quote := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	for _, path := range []string{"/new", "/sessions"} {
		add := func(what, body, detail string) {
			bad = append(bad, badRequest{what, "POST", path, body, 422, "invalid-value", detail})
		}
		add("no such program", `{"argv":["no-such-program-here"]}`, "no such program")
		add("no such path", `{"argv":[`+quote(missing)+`]}`, "no such program")
		add("not executable", `{"argv":[`+quote(plain)+`]}`, "not executable")
		add("a folder as program", `{"argv":[`+quote(folder)+`]}`, "argv")
		add("empty program", `{"argv":[""]}`, "names no program")
		add("NUL in an argument", `{"argv":["echo","a\u0000b"]}`, "NUL")
		add("no such folder", `{"cwd":`+quote(missing)+`}`, "no such folder")
		add("a file as folder", `{"cwd":`+quote(plain)+`}`, "not a folder")
		add("relative folder", `{"cwd":"src"}`, "absolute")
		add("no such profile", `{"profile":"emacs"}`, "no such profile")
		add("size 0", `{"cols":0}`, "from 1 to 65535")
		add("size 70000", `{"rows":70000}`, "from 1 to 65535")
		add("size below 0", `{"rows":-1}`, "from 1 to 65535")
		add("variable without a name", `{"env":{"":"x"}}`, "env")
		add("long name", `{"name":"`+strings.Repeat("n", 201)+`"}`, "longer than 200 bytes")
		add("control characters in the name", `{"name":"a\u001b[2J"}`, "control characters")
	}
	return bad
}

// badForBound are requests to a session at a path, or to the bound one.
func badForBound(at string) []badRequest {
	return []badRequest{
		{"size 0", "POST", at + "/resize", `{"cols":0,"rows":24}`, 422, "invalid-value", `cols "0"`},
		{"size 70000", "POST", at + "/resize", `{"cols":80,"rows":70000}`, 422, "invalid-value", `rows "70000"`},
		{"a size that is no int", "POST", at + "/resize", `{"cols":80,"rows":1e99}`, 400, "malformed-request", "rows"},
		{"half a size", "POST", at + "/resize", `{"cols":80}`, 400, "malformed-request", "both needed"},
		{"unknown signal", "POST", at + "/signal", `{"signal":"BANANA"}`, 422, "unknown-signal", "BANANA"},
		{"no signal", "POST", at + "/signal", `{}`, 422, "unknown-signal", ""},
		{"fork past the end", "POST", at + "/fork", `{"at":99999999}`, 422, "invalid-value", "the log has"},
		{"fork before the beginning", "POST", at + "/fork", `{"at":-1}`, 422, "invalid-value", "the log has"},
		{"fork at no such turn", "POST", at + "/fork", `{"turn":99}`, 422, "invalid-value", "no such turn"},
		{"fork at both", "POST", at + "/fork", `{"at":0,"turn":1}`, 422, "invalid-value", "together"},
		{"nothing to type", "POST", at + "/input", ``, 400, "malformed-request", "nothing to type"},
		{"too much to type", "POST", at + "/input", strings.Repeat("x", maxInput+1), 413, "body-too-large", "1048576 bytes"},
		{"a stream with enter", "POST", at + "/input?stream=1&enter=1", `x`, 400, "malformed-request", "raw bytes"},
		{"a switch that is none", "POST", at + "/input?enter=yes", `x`, 400, "malformed-request", `enter is "yes"`},
		{"a cursor that is none", "GET", at + "/events?from=tomorrow", "", 400, "malformed-request", `from is "tomorrow"`},
		{"a huge cursor", "GET", at + "/events?from=99999999999999999999", "", 416, "no-such-range", "past the end"},
		{"past the end", "GET", at + "/events?from=99999999", "", 416, "no-such-range", "past the end"},
		{"a watch that is none", "GET", at + "/events?watch=2", "", 400, "malformed-request", "watch"},
		{"a tail that is none", "GET", at + "/events?tail=0", "", 400, "malformed-request", "tail"},
		{"a terminal that is none", "GET", at + "/events?terminal=yes", "", 400, "malformed-request", "terminal"},
		{"a query that is none", "GET", at + "/events?from=%zz", "", 400, "malformed-request", "query"},
	}
}

// badForAll are the others.
var badForAll = []badRequest{
	{"unknown id", "POST", "/resume", `{"id":"nothing"}`, 404, "no-such-session", `there is no session "nothing"`},
	{"no id", "POST", "/resume", `{}`, 400, "malformed-request", "id is missing"},
	{"traversal", "POST", "/resume", `{"id":"../../etc"}`, 404, "no-such-session", "../../etc"},
	{"long id", "POST", "/resume", `{"id":"` + strings.Repeat("a", 300) + `"}`, 404, "no-such-session", "…"},
	{"ambiguous id", "POST", "/resume", `{"id":"twin"}`, 409, "ambiguous", "2 sessions"},
	{"unknown id", "POST", "/fork", `{"id":"nothing"}`, 404, "no-such-session", "nothing"},
	{"switch to nothing", "POST", "/switch", `{}`, 422, "invalid-value", "name a profile or an argv"},
	{"switch to no program", "POST", "/switch", `{"argv":["no-such-program-here"]}`, 422, "invalid-value", "no such program"},
	{"start of a live one", "POST", "/sessions/victim/start", "", 409, "already-live", "already live"},
	{"long name", "PATCH", "/sessions/victim", `{"name":"` + strings.Repeat("n", 201) + `"}`, 422, "invalid-value", "200 bytes"},
	{"unknown state", "GET", "/sessions?state=asleep", "", 400, "malformed-request", `state is "asleep"; it is one of pending, running, idle, stopped, ended, interrupted, unreadable, live`},
	{"past the end", "GET", "/sessions/victim/output?from=99999999", "", 416, "no-such-range", "ends at"},
	{"backwards", "GET", "/sessions/victim/output?from=5&to=2", "", 400, "malformed-request", "before from"},
	{"no number", "GET", "/sessions/victim/output?to=0x10", "", 400, "malformed-request", `to is "0x10"`},
	{"wrong token", "POST", "/login", `{"token":"guess"}`, 401, "unauthorized", "not this server's"},
}

func TestBadInputIsRefusedAndChangesNothing(t *testing.T) {
	ts := startServer(t, nil)
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "plain"), []byte("data"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"twin", "twin", "victim"} {
		v := must[session.View](ts, ts.do("POST", "/new", `{"argv":["bash","-c","printf 0123456789; exec cat"],"name":"`+name+`"}`), http.StatusCreated)
		ts.awaitOutput(v.ID, "0123456789")
	}
	before := ts.do("GET", "/sessions", "").body
	all := append(badSessions(), append(badJSON(), badValues(folder)...)...)
	for _, bad := range all {
		path, asJSON := strings.CutSuffix(bad.path, " json")
		kind := "application/x-www-form-urlencoded" // what curl says of anything
		if asJSON {
			kind = "application/json"
		}
		a := ts.do(bad.method, path, bad.body, "Content-Type", kind)
		p := wantProblem(t, a, bad.status, bad.problem)
		if !strings.Contains(p.Detail, bad.detail) {
			t.Errorf("detail = %q, want it to have %q", p.Detail, bad.detail)
		}
		if bad.problem == "ambiguous" && (len(p.Candidates) != 2 || p.Candidates[0].Name != "twin") {
			t.Errorf("candidates = %+v, want the two", p.Candidates)
		}
		after := ts.do("GET", "/sessions", "").body
		if after != before {
			t.Errorf("sessions changed (-before +after):\n%s", cmp.Diff(before, after))
			before = after
		}
		if t.Failed() {
			t.Fatalf("at %s: %s %.80s with %.80q", bad.name, bad.method, bad.path, bad.body)
		}
	}
	t.Logf("%d bad requests", len(all))
}

// With nothing bound, the routes of the binding say so, after what is wrong
// with the request itself.
func TestNothingIsBound(t *testing.T) {
	ts := startServer(t, nil)
	for path, body := range map[string]string{
		"/fork": `{}`, "/switch": `{"profile":"shell"}`, "/stop": "", "/resize": `{"cols":80,"rows":24}`, "/signal": `{"signal":"INT"}`, "/input": "x",
		"/input?stream=1": "x",
	} {
		wantProblem(t, ts.do("POST", path, body), http.StatusConflict, "nothing-bound")
	}
}

// What needs a program says that there is none.
func TestAnEndedSessionTakesNothing(t *testing.T) {
	ts := startServer(t, nil)
	v := ts.bind("true")
	ts.output(v.ID)
	for path, body := range map[string]string{
		"/input": "x", "/input?stream=1": "x", "/resize": `{"cols":80,"rows":24}`, "/signal": `{"signal":"INT"}`,
	} {
		wantProblem(t, ts.do("POST", path, body), http.StatusConflict, "not-live")
	}
	// A stop of what has ended is no error, and changes nothing.
	if got := must[session.View](ts, ts.do("POST", "/stop", ""), http.StatusOK); got.State != "ended" {
		t.Errorf("state after the stop = %q, want ended", got.State)
	}
}
