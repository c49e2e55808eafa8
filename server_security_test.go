package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/session"
)

// everyRoute are the routes and files of a server as requests for a session.
func everyRoute(ts *testServer, id string) (all [][2]string) {
	for _, rt := range ts.s.routes() {
		method, path, _ := strings.Cut(rt.pattern, " ")
		all = append(all, [2]string{method, strings.ReplaceAll(path, "{id}", id)})
	}
	return append(all, [][2]string{{"GET", "/"}, {"GET", "/app.js"}, {"GET", "/nowhere"}, {"OPTIONS", "/sessions"}, {"POST", "/"}}...)
}

// onEveryRoute asks something on each route of a server with a session, and
// checks that the session is then as it was.
func onEveryRoute(t *testing.T, ask func(ts *testServer, method, path string)) {
	t.Helper()
	ts := startServer(t, nil)
	v := ts.bind("cat")
	before := ts.do("GET", "/sessions", "").body
	for _, rt := range everyRoute(ts, v.ID) {
		ask(ts, rt[0], rt[1])
	}
	if after := ts.do("GET", "/sessions", "").body; after != before {
		t.Errorf("sessions were %s, and are %s", before, after)
	}
}

// A page that has made its own name point here gets nothing, whatever it asks
// for, and whatever it has.
func TestEveryRouteRefusesAForeignName(t *testing.T) {
	onEveryRoute(t, func(ts *testServer, method, path string) {
		a := ts.doTCP(method, path, "", append(bearer(testToken), "Host", "evil.example", "X-Forwarded-Host", "localhost", "Origin", "http://evil.example",
			"Sec-Fetch-Site", "same-origin", "Cookie", cookieOf(ts)+"="+ts.s.key.cookie)...)
		wantProblem(t, a, http.StatusMisdirectedRequest, "unknown-host")
	})
}

// Of a page of another origin, another port of this host is one, no request
// that changes anything is done, although the browser sends the cookie.
func TestEveryChangeIsRefusedToOtherOrigins(t *testing.T) {
	onEveryRoute(t, func(ts *testServer, method, path string) {
		if method == "GET" || method == "OPTIONS" {
			return
		}
		for _, headers := range [][]string{
			{"Sec-Fetch-Site", "cross-site"},
			{"Sec-Fetch-Site", "same-site", "Origin", "http://127.0.0.1:1"},
			{"Origin", "http://127.0.0.1:1"}, // a browser without Sec-Fetch-Site
			{"Origin", "null"},
		} {
			a := ts.doTCP(method, path, `{}`, append(headers, "Cookie", cookieOf(ts)+"="+ts.s.key.cookie)...)
			wantProblem(t, a, http.StatusForbidden, "cross-origin")
		}
	})
}

// What such a page may send, a GET, changes nothing, and nothing of the answer
// may be read by it.
func TestOtherOriginsReadNothing(t *testing.T) {
	onEveryRoute(t, func(ts *testServer, method, path string) {
		if method != "GET" {
			return
		}
		r := ts.request("GET", path, "", "Sec-Fetch-Site", "same-site", "Origin", "http://127.0.0.1:1", "Cookie", cookieOf(ts)+"="+ts.s.key.cookie)
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close() // a stream has no end
		for name := range resp.Header {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("GET %s: %s", path, name)
			}
		}
		for name, want := range map[string]string{
			"Cross-Origin-Resource-Policy": "same-origin", "X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff",
			"Cross-Origin-Opener-Policy": "same-origin", "Referrer-Policy": "no-referrer",
		} {
			if got := resp.Header.Get(name); got != want {
				t.Errorf("GET %s: %s = %q, want %q", path, name, got, want)
			}
		}
	})
}

// The server of another port of this host is sent the cookie by browsers. It
// opens no server but the one whose token it stands for.
func TestACookieOpensOneServer(t *testing.T) {
	ts := startServer(t, nil)
	other := newCredentials(strings.Repeat("x", 43))
	for cookie, want := range map[string]int{
		cookieOf(ts) + "=" + ts.s.key.cookie:                                       http.StatusOK,
		cookieOf(ts) + "=" + other.cookie:                                          http.StatusUnauthorized,
		"holdfast_1=" + ts.s.key.cookie:                                            http.StatusUnauthorized,
		"holdfast_1=" + other.cookie + "; " + cookieOf(ts) + "=" + ts.s.key.cookie: http.StatusOK,
		cookieOf(ts) + "=planted; " + cookieOf(ts) + "=" + ts.s.key.cookie:         http.StatusOK, // by another port, to lock us out
	} {
		if a := ts.doTCP("GET", "/sessions", "", "Cookie", cookie); a.status != want {
			t.Errorf("cookie %q: status %d, want %d", cookie, a.status, want)
		}
	}
}

// Bodies are bounded as they arrive, and never unpacked.
func TestBodiesThatGrow(t *testing.T) {
	ts := startServer(t, nil)
	v := ts.bind("sh", "-c", "stty raw -echo; echo ready; exec cat")
	ts.awaitOutput(v.ID, "ready")
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	io.WriteString(w, `{"name":"`+strings.Repeat("x", 20<<20)+`"}`)
	w.Close()
	wantProblem(t, ts.do("POST", "/new", packed.String(), "Content-Encoding", "gzip"), http.StatusBadRequest, "malformed-request")
	r := must[session.Receipt](ts, ts.do("POST", "/input", packed.String(), "Content-Encoding", "gzip"), http.StatusOK)
	if r.Written != packed.Len() {
		t.Errorf("of a packed body of %d bytes %d were typed", packed.Len(), r.Written)
	}
	wantProblem(t, ts.do("POST", "/new", `{"argv":`+strings.Repeat("[", 60<<10)), http.StatusBadRequest, "malformed-request")
	for path, want := range map[string]string{"/new": "65536 bytes", "/input": "1048576 bytes"} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(ts.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		conn.SetDeadline(time.Now().Add(patience))
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nTransfer-Encoding: chunked\r\n\r\n", path, testToken)
		go func() {
			chunk, err := "1000\r\n"+strings.Repeat("x", 0x1000)+"\r\n", error(nil)
			for err == nil {
				_, err = io.WriteString(conn, chunk)
			}
		}()
		resp, err := http.ReadResponse(bufio.NewReader(conn), ts.request("POST", path, ""))
		if err != nil {
			t.Fatal(err)
		}
		if p := wantProblem(t, ts.read(resp), http.StatusRequestEntityTooLarge, "body-too-large"); !strings.Contains(p.Detail, want) {
			t.Errorf("an endless body to %s: %q", path, p.Detail)
		}
		conn.Close()
	}
}

// Headers are bounded in the real server.
func TestHeadersThatGrow(t *testing.T) {
	r := mustServe(t, filepath.Join(t.TempDir(), "store"))
	for name, head := range map[string]string{
		"one long":  "X: " + strings.Repeat("x", 40<<10),
		"many":      strings.Repeat("X: y\r\n", 10<<10),
		"a cookie":  "Cookie: " + strings.Repeat("a=b; ", 10<<10),
		"long path": "", // below
	} {
		path := "/healthz"
		if head == "" {
			path += "?" + strings.Repeat("x", 40<<10)
		}
		conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		conn.SetDeadline(time.Now().Add(patience))
		go fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%s\r\n\r\n", path, head) // may be cut off
		answer, _ := io.ReadAll(conn)
		conn.Close()
		if !bytes.HasPrefix(answer, []byte("HTTP/1.1 431 ")) {
			t.Errorf("%s: %.60q, want 431", name, answer)
		}
	}
}

// pipes is a listener in memory, for a server in a bubble.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{Net: "pipe"} }

// Whoever sends or takes nothing, or a byte now and then, is let go after a
// known time.
func TestSlowClientsAreLetGo(t *testing.T) {
	post := "POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n"
	for name, test := range map[string]struct {
		request string        // sent at once
		drip    string        // sent each second after it
		reads   bool          // takes the answer
		after   time.Duration // when the connection is closed
	}{
		"says nothing":            {"", "", true, headerTimeout},
		"a header that stops":     {"GET / HTTP/1.1\r\nHost:", "", true, headerTimeout},
		"a header in drops":       {"GET / HTTP/1.1\r\nX: ", "x", true, headerTimeout},
		"a body that stops":       {post, "", true, bodyTimeout},
		"a body in drops":         {post, "x", true, bodyTimeout},
		"says nothing more":       {"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", "", true, idleTimeout},
		"takes nothing":           {"GET /app.js HTTP/1.1\r\nHost: localhost\r\n\r\n", "", false, stallTimeout},
		"takes nothing of a page": {"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "", false, stallTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn, end := serveInBubble(t)
				defer end()
				began := time.Now()
				closed := make(chan struct{})
				go func() {
					defer close(closed)
					if test.reads {
						io.Copy(io.Discard, conn)
						return
					}
					time.Sleep(test.after + slack(test.after))
					io.Copy(io.Discard, conn)
				}()
				io.WriteString(conn, test.request)
				for test.drip != "" {
					if _, err := io.WriteString(conn, test.drip); err != nil {
						break
					}
					time.Sleep(time.Second)
				}
				<-closed
				if took := time.Since(began); took < test.after || took > test.after+slack(test.after) {
					t.Errorf("let go after %v, want %v", took, test.after)
				}
			})
		})
	}
}

// slack is how much longer a client may be waited for: the second between two
// drops, or before the look, and the sixteenth of trackingWriter.extend.
func slack(after time.Duration) time.Duration { return after/16 + time.Second }

// serveInBubble serves one connection as serve does, without sessions.
func serveInBubble(t *testing.T) (client net.Conn, end func()) {
	t.Helper()
	f := &serveFlags{}
	srv, err := f.server(t.Context(), nil, "", testToken, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	client, inner := net.Pipe()
	ln := make(pipes, 1)
	ln <- inner
	done := make(chan struct{})
	go func() { srv.Serve(ln); close(done) }()
	return client, func() {
		client.Close()
		srv.Close()
		<-done
	}
}
