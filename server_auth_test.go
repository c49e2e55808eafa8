package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"holdfast/session"
)

func bearer(token string) []string { return []string{"Authorization", "Bearer " + token} }

// Everything but the page, its login and the health check needs the token.
func TestWithoutATokenNothingIsDone(t *testing.T) {
	ts := startServer(t, nil)
	v := ts.bind("cat")
	tries := [][]string{
		nil,
		bearer(""),
		bearer("guess"),
		bearer(testToken + "x"),
		bearer(testToken[:42]),
		bearer(strings.ToLower(testToken)),
		{"Authorization", testToken},
		{"Authorization", "Basic " + testToken},
		{"Cookie", cookieOf(ts) + "=" + testToken}, // the cookie is not the token
		{"Cookie", "holdfast_1=" + ts.s.key.cookie},
	}
	for _, rt := range ts.s.routes() {
		method, path, _ := strings.Cut(rt.pattern, " ")
		path = strings.ReplaceAll(path, "{id}", v.ID)
		for _, headers := range tries {
			a := ts.doTCP(method, path, "", headers...)
			if rt.public {
				if a.header.Get("WWW-Authenticate") != "" {
					t.Errorf("%s is asked for a token", rt.pattern)
				}
				continue
			}
			wantProblem(t, a, http.StatusUnauthorized, "unauthorized")
			if got := a.header.Get("WWW-Authenticate"); !strings.HasPrefix(got, "Bearer") {
				t.Errorf("%s: WWW-Authenticate = %q, want Bearer", rt.pattern, got)
			}
		}
	}
	for _, path := range []string{"/nope", "/sessions/x/nope"} {
		wantProblem(t, ts.doTCP("GET", path, ""), http.StatusUnauthorized, "unauthorized")
	}
	wantProblem(t, ts.doTCP("PUT", "/sessions", ""), http.StatusUnauthorized, "unauthorized")
	if after := ts.get(v.ID); after.State != "running" || after.Turns != 0 {
		t.Errorf("session changed: %+v", after)
	}
	for token, want := range map[string]string{
		"":      "send the token as \"Authorization: Bearer TOKEN\": it is in the file \"token\" of the server's store, and behind #token= in the URL",
		"guess": "the token that came is not this server's; the right one is in the file \"token\" of the server's store, and in the URL",
	} {
		a := ts.doTCP("GET", "/sessions", "", bearer(token)...)
		if p := wantProblem(t, a, http.StatusUnauthorized, "unauthorized"); !strings.Contains(p.Detail, want) || strings.Contains(a.body, testToken) {
			t.Errorf("with the token %q: detail = %q, want %q", token, p.Detail, want)
		}
	}
	// A query is no place for a token: it would be in logs and histories.
	wantProblem(t, ts.doTCP("GET", "/sessions?token="+testToken, ""), http.StatusUnauthorized, "unauthorized")
	if a := ts.doTCP("GET", "/sessions", "", bearer(testToken)...); a.status != http.StatusOK {
		t.Errorf("with the token: status %d, want 200", a.status)
	}
	if a := ts.doTCP("GET", "/sessions", "", "Authorization", "bearer "+testToken); a.status != http.StatusOK {
		t.Errorf("with the scheme in lower case: status %d, want 200", a.status)
	}
}

func cookieOf(ts *testServer) string {
	u, err := url.Parse(ts.url)
	if err != nil {
		ts.t.Fatal(err)
	}
	return "holdfast_" + u.Port()
}

func TestThePageLogsInWithTheToken(t *testing.T) {
	ts := startServer(t, nil)
	wantProblem(t, ts.doTCP("POST", "/login", `{"token":"guess"}`), http.StatusUnauthorized, "unauthorized")
	a := ts.doTCP("POST", "/login", `{"token":"`+testToken+`"}`, "Sec-Fetch-Site", "same-origin")
	if a.status != http.StatusNoContent {
		t.Fatalf("login: %d %s", a.status, a.body)
	}
	c, err := http.ParseSetCookie(a.header.Get("Set-Cookie"))
	if err != nil {
		t.Fatal(err)
	}
	if c.Name != cookieOf(ts) || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Secure {
		t.Errorf("cookie = %v, want %s, HttpOnly, SameSite=Strict, Path=/", c, cookieOf(ts))
	}
	if strings.Contains(c.Value, testToken) || len(c.Value) < 43 {
		t.Errorf("cookie value %q, want a long one that is not the token", c.Value)
	}
	if a := ts.doTCP("GET", "/sessions", "", "Cookie", c.Name+"="+c.Value); a.status != http.StatusOK {
		t.Errorf("with the cookie: status %d, want 200", a.status)
	}
	// Behind a forwarded port the name is the one that the browser knows.
	a = ts.doTCP("POST", "/login", `{"token":"`+testToken+`"}`, "Host", "localhost:8123")
	if got := a.header.Get("Set-Cookie"); !strings.HasPrefix(got, "holdfast_8123=") {
		t.Errorf("cookie by a forwarded port = %q, want holdfast_8123", got)
	}
}

func TestAnotherTokenEndsOldCookies(t *testing.T) {
	if newCredentials("a").cookie == newCredentials("b").cookie {
		t.Error("two tokens have the same cookie")
	}
}

// A name that points here and is not ours is how DNS rebinding looks.
func TestHostNames(t *testing.T) {
	ts := startServer(t, nil)
	ts.s.hosts = []string{"build7.example"}
	port := ts.url[strings.LastIndexByte(ts.url, ':'):]
	for host, ours := range map[string]bool{
		"127.0.0.1" + port: true, "localhost" + port: true, "localhost": true, "LOCALHOST" + port: true, "localhost." + port: true,
		"[::1]" + port: true, "[::1]": true, "127.0.0.2:1": true, "localhost:9999": true, "build7.example": true, "Build7.Example:443": true,
		"evil.example" + port: false, "127.0.0.1.evil.example": false, "localhost.evil.example": false, "build7.example.evil": false,
		"xbuild7.example": false, "10.0.0.1" + port: false, "0.0.0.0" + port: false, "2130706433": false, "[::]": false, "a b": false,
	} {
		for _, path := range []string{"/", "/healthz", "/sessions", "/nope", "/a//b"} {
			a := ts.doTCP("GET", path, "", append(bearer(testToken), "Host", host)...)
			if a.status == http.StatusBadRequest && strings.Contains(host, " ") {
				continue // net/http itself refuses it
			}
			if got := a.status != http.StatusMisdirectedRequest; got != ours {
				t.Errorf("GET %s of host %q: status %d; want it let in: %v", path, host, a.status, ours)
			}
			if !ours {
				p := wantProblem(t, a, http.StatusMisdirectedRequest, "unknown-host")
				if !strings.Contains(p.Detail, "--allow-host") {
					t.Errorf("detail = %q, want the flag that helps", p.Detail)
				}
			}
		}
	}
	if a := ts.do("GET", "/sessions", "", "Host", "evil.example"); a.status != http.StatusOK {
		t.Errorf("by the unix socket: status %d, want any host let in", a.status)
	}
}

// A page of another origin cannot do anything, even if a browser sends the
// cookie along with its request.
func TestCrossOriginRequestsAreRefused(t *testing.T) {
	ts := startServer(t, nil)
	v := ts.bind("cat")
	cookie := []string{"Cookie", cookieOf(ts) + "=" + ts.s.key.cookie}
	for _, headers := range [][]string{
		{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"}, {"Origin", "null"},
		{"Origin", "http://localhost:1"},
	} {
		for _, path := range []string{"/new", "/input", "/login", "/sessions/" + v.ID + "/stop"} {
			a := ts.doTCP("POST", path, "x", append(cookie, headers...)...)
			wantProblem(t, a, http.StatusForbidden, "cross-origin")
		}
	}
	a := ts.doTCP("GET", "/sessions", "", append(cookie, "Origin", "https://evil.example")...)
	for name := range a.header {
		if strings.HasPrefix(name, "Access-Control-") {
			t.Errorf("answer has %s: no other origin may read it", name)
		}
	}
	if got, want := a.header.Get("Cross-Origin-Resource-Policy"), "same-origin"; got != want {
		t.Errorf("Cross-Origin-Resource-Policy = %q, want %q", got, want)
	}
	for _, headers := range [][]string{
		{"Sec-Fetch-Site", "same-origin"}, {"Origin", ts.url}, nil,
	} {
		if a := ts.doTCP("POST", "/input", "x", append(cookie, headers...)...); a.status != http.StatusOK {
			t.Errorf("with %q: status %d %s, want 200", headers, a.status, a.body)
		}
	}
}

// What a log may be read for must not open the server, nor show what a
// program printed or was given.
func TestNothingSecretIsLogged(t *testing.T) {
	const secret = "cHJpdmF0ZS1ieXRlcw"
	ts := startServer(t, nil)
	t.Setenv("INHERITED", secret+"-inherited")
	body := `{"argv":["bash","-c","echo ` + secret + `-argv; exec cat"],"env":{"PASSWORD":"` + secret + `-env"},"name":"a name"}`
	v := must[session.View](ts, ts.doTCP("POST", "/new", body, bearer(testToken)...), http.StatusCreated)
	ts.awaitOutput(v.ID, secret+"-argv")
	cookie := cookieOf(ts) + "=" + ts.s.key.cookie
	ts.doTCP("POST", "/login", `{"token":"`+testToken+`"}`)
	ts.doTCP("POST", "/login", `{"token":"`+testToken+`",}`)
	ts.doTCP("GET", "/sessions?token="+testToken, "")
	ts.doTCP("GET", "/"+testToken, "", bearer(testToken)...)
	ts.doTCP("POST", "/input", secret+"-input", "Cookie", cookie)
	ts.awaitOutput(v.ID, secret+"-input")
	ts.doTCP("POST", "/input", secret+"-key", "Cookie", cookie, "Idempotency-Key", secret+"-key")
	ts.doTCP("POST", "/new", `{"argv":["`+secret+`"],"env":{"A":"`+secret+`"}}`, "Cookie", cookie)
	for _, path := range []string{"/events", "/sessions/" + v.ID + "/output?follow=1"} {
		ts.breakOff(path)
	}
	ts.do("DELETE", "/sessions/"+v.ID, "")
	ts.closer()
	logs := ts.logs.String()
	if !strings.Contains(logs, v.ID) {
		t.Error("the log does not even name the session")
	}
	for _, what := range []string{testToken, ts.s.key.cookie, secret} {
		if i := strings.Index(logs, what); i >= 0 {
			t.Errorf("the log has %q: %.200s", what, logs[max(0, i-100):])
		}
	}
}

// breakOff opens a stream over the loopback port, and closes the connection
// while the stream goes on.
func (ts *testServer) breakOff(path string) {
	ts.t.Helper()
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := c.Do(ts.request("GET", path, "", bearer(testToken)...))
	if err != nil {
		ts.t.Fatal(err)
	}
	resp.Body.Read(make([]byte, 1))
	resp.Body.Close()
	waitFor(ts.t, "the stream to end", func() bool { return len(ts.s.streams) == 0 })
}
