package main

import (
	"net/http"
	"strings"
	"testing"
)

// A query is done as it was meant, or not at all: a parameter that is ignored
// looks like one that works, as does a key.
func TestEveryRouteRefusesWhatItDoesNotHave(t *testing.T) {
	ts := startServer(t, nil)
	for _, rt := range ts.s.routes() {
		method, path, _ := strings.Cut(rt.pattern, " ")
		path = strings.ReplaceAll(path, "{id}", "nothing")
		if rt.public {
			continue
		}
		refused := map[string]string{
			"?colour=red":     `unknown query parameter "colour"; `,
			"?colour":         `unknown query parameter "colour"; `,
			"?=1":             `unknown query parameter ""; `,
			"?colour=%zz":     "the query of the URL is not valid",
			"?colour=1;a=2":   "the query of the URL is not valid",
			"?Colour=1&from=": `unknown query parameter "Colour"; `,
		}
		for _, name := range rt.query {
			refused["?"+name+"=1&"+name+"=1"] = name + " stands twice in the query"
		}
		for query, detail := range refused {
			p := wantProblem(t, ts.do(method, path+query, ""), http.StatusBadRequest, "malformed-request")
			if !strings.Contains(p.Detail, detail) {
				t.Errorf("%s%s: detail = %q, want it to have %q", rt.pattern, query, p.Detail, detail)
			}
		}
		if method != "POST" || strings.HasSuffix(path, "/input") {
			continue
		}
		p := wantProblem(t, ts.do(method, path, "", "Idempotency-Key", "k1"), http.StatusBadRequest, "malformed-request")
		if want := "of what is posted only input takes an Idempotency-Key; to make a session once, "; !strings.HasPrefix(p.Detail, want) {
			t.Errorf("%s with a key: detail = %q, want it to begin with %q", rt.pattern, p.Detail, want)
		}
	}
	for path, want := range map[string]string{
		"/sessions/x/output?form=3": `unknown query parameter "form"; there are from, to, follow; did you mean "from"?`,
		"/sessions/x/recording?a=1": `unknown query parameter "a"; the only one is format`,
		"/status?verbose=1":         `unknown query parameter "verbose"; this request has none; docs/api.md says what it takes`,
	} {
		if p := wantProblem(t, ts.do("GET", path, ""), http.StatusBadRequest, "malformed-request"); p.Detail != want {
			t.Errorf("%s: detail = %q, want %q", path, p.Detail, want)
		}
	}
}

// A request that can be repeated by itself may have a key.
func TestAKeyThatDoesNotMatter(t *testing.T) {
	ts := startServer(t, nil)
	if r := ts.do("GET", "/sessions", "", "Idempotency-Key", "k1"); r.status != http.StatusOK {
		t.Errorf("GET /sessions with a key = %d, want 200", r.status)
	}
}

// What needs no token is asked for by browsers and health checks, which add
// what they like against caches; and who has no token learns nothing.
func TestAQueryThatDoesNotMatter(t *testing.T) {
	ts := startServer(t, nil)
	for _, path := range []string{"/?colour=red", "/app.js?v=2&v=3", "/healthz?1700000000"} {
		if a := ts.do("GET", path, ""); a.status != http.StatusOK {
			t.Errorf("GET %s: status %d, want 200", path, a.status)
		}
	}
	if a := ts.do("POST", "/login?colour=red", `{"token":"`+testToken+`"}`); a.status != http.StatusNoContent {
		t.Errorf("login with a query: status %d, want 204", a.status)
	}
	wantProblem(t, ts.doTCP("GET", "/status?colour=red", ""), http.StatusUnauthorized, "unauthorized")
}
