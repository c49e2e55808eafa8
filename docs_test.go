package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"holdfast/session"
)

// An example is a http block of a page: a request, and what comes back.
type example struct {
	line         int
	method, path string
	headers      []string
	body         string
	status       int
	wantHeaders  [][2]string
	want         string
}

var statusLine = regexp.MustCompile(`^HTTP/1\.1 (\d+)$`)

func examples(t *testing.T, page string) []example {
	t.Helper()
	var all []example
	lines := strings.Split(page, "\n")
	for i := 0; i < len(lines); i++ {
		if lines[i] != "```http" {
			continue
		}
		end := i + slices.Index(lines[i:], "```")
		block := lines[i+1 : end]
		split := slices.IndexFunc(block, statusLine.MatchString)
		if split < 0 {
			t.Fatalf("line %d: an example without a status", i+1)
		}
		ex := example{line: i + 1}
		ex.method, ex.path, _ = strings.Cut(block[0], " ")
		ex.status, _ = strconv.Atoi(statusLine.FindStringSubmatch(block[split])[1])
		request, body := head(block[1:split])
		for _, h := range request {
			name, value, _ := strings.Cut(h, ": ")
			ex.headers = append(ex.headers, name, value)
		}
		ex.body = strings.TrimSuffix(strings.Join(body, "\n"), "\n")
		answer, want := head(block[split+1:])
		for _, h := range answer {
			name, value, _ := strings.Cut(h, ": ")
			ex.wantHeaders = append(ex.wantHeaders, [2]string{name, value})
		}
		ex.want = strings.Join(want, "\n")
		all = append(all, ex)
		i = end
	}
	return all
}

// head splits a message at its first empty line.
func head(lines []string) (headers, body []string) {
	if i := slices.Index(lines, ""); i >= 0 {
		return lines[:i], lines[i+1:]
	}
	return lines, nil
}

func readPage(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestEveryRouteIsDocumented(t *testing.T) {
	page := readPage(t, "docs/api.md")
	var got, want []string
	for _, m := range regexp.MustCompile(`(?m)^### (.*)$`).FindAllStringSubmatch(page, -1) {
		got = append(got, m[1])
	}
	for _, rt := range new(server).routes() {
		want = append(want, rt.pattern)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("docs/api.md has the routes\n%q\nwant\n%q", got, want)
	}
}

func TestEveryParameterIsDocumented(t *testing.T) {
	sections := strings.Split(readPage(t, "docs/api.md"), "\n### ")
	for _, rt := range new(server).routes() {
		want := ""
		if len(rt.query) > 0 {
			want = "Parameters: `" + strings.Join(rt.query, "`, `") + "`."
		}
		i := slices.IndexFunc(sections, func(s string) bool { return strings.HasPrefix(s, rt.pattern+"\n") })
		if got := regexp.MustCompile(`(?m)^Parameters: .*$`).FindString(sections[i]); got != want {
			t.Errorf("docs/api.md has of %s %q, want %q", rt.pattern, got, want)
		}
	}
}

func TestEveryProblemIsDocumented(t *testing.T) {
	page := readPage(t, "docs/api.md")
	for _, p := range problemTypes {
		row := regexp.MustCompile(fmt.Sprintf("(?m)^\\| %d \\|[^|]*`%s`", p.status, p.name))
		if !row.MatchString(page) {
			t.Errorf("docs/api.md has no %d %s", p.status, p.name)
		}
	}
}

func TestEveryEventIsDocumented(t *testing.T) {
	page := readPage(t, "docs/events.md")
	for _, kind := range []session.EventKind{
		session.KindSession, session.KindOutput, session.KindBytes, session.KindRun, session.KindResize, session.KindGap, session.KindLive, session.KindPing,
		session.KindBind, session.KindSessions, session.KindEnd, session.KindTerminal,
	} {
		if !strings.Contains(page, "\n| `"+string(kind)+"` |") {
			t.Errorf("docs/events.md has no %q", kind)
		}
	}
}

func TestTheExamplesOfTheInterface(t *testing.T) {
	ts := startServer(t, nil)
	for _, ex := range examples(t, readPage(t, "docs/api.md")) {
		ts.try(ex)
	}
}

func TestTheExamplesOfTheEvents(t *testing.T) {
	ts := startServer(t, nil)
	body := `{"name":"demo","argv":["bash","-c","stty -echo; printf 'hello\\n'; read; printf '\\377'; exit 3"]}`
	v := must[session.View](ts, ts.do("POST", "/new", body), http.StatusCreated)
	ts.awaitOutput(v.ID, "hello\r\n")
	ts.do("POST", "/resize", `{"cols":132,"rows":50}`)
	ts.do("POST", "/input?enter=1", "go")
	ts.output(v.ID)
	for _, ex := range examples(t, readPage(t, "docs/events.md")) {
		ts.try(ex)
	}
}

// try runs an example.
func (ts *testServer) try(ex example) {
	t := ts.t
	t.Helper()
	where := fmt.Sprintf("line %d: %s %s", ex.line, ex.method, ex.path)
	if ex.method == "GET" && strings.Contains(ex.path, "/events") {
		s := ts.events(ex.path, ex.headers...)
		defer s.close()
		for _, want := range parseFrames(t, []byte(ex.want+"\n\n")) {
			got, err := s.next()
			for err == nil && got.event == "session" && want.event != "session" {
				got, err = s.next() // whenever it changed
			}
			if err != nil {
				t.Fatalf("%s: stream ends before %+v: %v", where, want, err)
			}
			_, at, _ := strings.Cut(got.id, "/")
			_, wantAt, _ := strings.Cut(want.id, "/")
			if got.event != want.event || at != wantAt {
				t.Fatalf("%s: event %q at %q, want %q at %q", where, got.event, at, want.event, wantAt)
			}
			sameShape(t, where, got.data, want.data)
		}
		return
	}
	a := ts.do(ex.method, ex.path, ex.body, ex.headers...)
	if a.status != ex.status {
		t.Fatalf("%s: status %d, want %d; body: %s", where, a.status, ex.status, a.body)
	}
	for _, h := range ex.wantHeaders {
		if got := a.header.Get(h[0]); got != h[1] {
			t.Errorf("%s: %s = %q, want %q", where, h[0], got, h[1])
		}
	}
	if strings.HasSuffix(a.header.Get("Content-Type"), "json") {
		sameShape(t, where, a.body, ex.want)
	} else if got := strings.TrimSuffix(a.body, "\r\n"); got != ex.want && ex.want != "…" {
		t.Errorf("%s: body %q, want %q", where, got, ex.want)
	}
	// What is typed is printed a moment later; the next example may count on it.
	for path, text := range map[string]string{
		"/new": "hello\r\n", "/input?enter=1": "hello\r\ndate\r\n", "/sessions/demo/input": "hello\r\ndate\r\ndate\r\n",
	} {
		if ex.path == path {
			ts.awaitOutput("demo", text)
		}
	}
}

// exact are the members whose values an example has as they are; of others it
// has the type.
var exact = []string{"type", "title", "name", "state", "cause", "signal", "status", "written", "runs", "bound", "live", "exit_code"}

// sameShape compares two JSON values: the same members of the same types, in
// which "…" stands for any others.
func sameShape(t *testing.T, where, got, want string) {
	t.Helper()
	var g, w any
	if err := json.Unmarshal([]byte(got), &g); err != nil {
		t.Errorf("%s: %q: %v", where, got, err)
	}
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Errorf("%s: in the page: %q: %v", where, want, err)
	}
	compareShape(t, where, g, w)
}

func compareShape(t *testing.T, where string, got, want any) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		got, ok := got.(map[string]any)
		if !ok {
			t.Errorf("%s: not an object, as in the page", where)
			return
		}
		_, open := want["…"]
		delete(want, "…")
		for name, value := range want {
			if _, ok := got[name]; !ok {
				t.Errorf("%s: no member %q, which is in the page", where, name)
			} else if slices.Contains(exact, name) && value != got[name] {
				t.Errorf("%s: %q is %v, in the page %v", where, name, got[name], value)
			} else {
				compareShape(t, where+": "+name, got[name], value)
			}
		}
		for name := range got {
			if _, ok := want[name]; !ok && !open {
				t.Errorf("%s: member %q is not in the page", where, name)
			}
		}
	case []any:
		got, ok := got.([]any)
		if !ok || len(got) < len(want) {
			t.Errorf("%s: not the list of the page", where)
			return
		}
		for i := range want {
			compareShape(t, where, got[i], want[i])
		}
	default:
		if g, w := fmt.Sprintf("%T", got), fmt.Sprintf("%T", want); g != w && got != nil && want != nil {
			t.Errorf("%s: is %s, in the page %s", where, g, w)
		}
	}
}
