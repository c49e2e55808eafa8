package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// A proxy is a reverse proxy of the page docs/operations.md.
type proxy struct {
	file    string // that the block of its configuration is for
	site    string // how the block names where to listen
	started func(dir, config string) *exec.Cmd
}

var proxies = map[string]proxy{
	"nginx": {
		file: "/etc/nginx/conf.d/holdfast.conf", site: "listen 443 ",
		started: func(dir, config string) *exec.Cmd {
			config = "pid " + dir + "/pid;\nerror_log stderr warn;\nevents {}\nhttp {\naccess_log off;\n" + config + "}\n"
			for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
				config = strings.Replace(config, "access_log", kind+"_temp_path "+dir+"/"+kind+";\naccess_log", 1)
			}
			os.WriteFile(dir+"/conf", []byte(config), 0o600)
			return exec.Command("nginx", "-e", "stderr", "-p", dir, "-c", dir+"/conf", "-g", "daemon off; master_process off;")
		},
	},
	"caddy": {
		file: "/etc/caddy/Caddyfile", site: "holdfast.example {",
		started: func(dir, config string) *exec.Cmd {
			os.WriteFile(dir+"/conf", []byte("{\nadmin off\nauto_https disable_redirects\ndefault_bind 127.0.0.1\n}\n"+config), 0o600)
			return exec.Command("caddy", "run", "--adapter", "caddyfile", "--config", dir+"/conf")
		},
	},
}

// start runs the proxy until the test ends, with what the page says but for
// addresses and files, and returns a browser that comes through it.
func (p proxy) start(t *testing.T, backend string) *testServer {
	t.Helper()
	block := regexp.MustCompile("(?ms)^```[a-z]*\n# " + p.file + "\n(.*?)^```$").FindStringSubmatch(readPage(t, "docs/operations.md"))
	if block == nil || strings.Count(block[1], p.site) != 1 || strings.Count(block[1], "127.0.0.1:7070") != 1 {
		t.Fatalf("docs/operations.md has no %s with %q, or not once", p.file, p.site)
	}
	cert, key, pool := selfSigned(t)
	addr := freeAddr(t)
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	site := map[string]string{"listen 443 ": "listen " + addr + " ", "holdfast.example {": "https://holdfast.example:" + port + " {"}[p.site]
	config := strings.NewReplacer(p.site, site, "127.0.0.1:7070", strings.TrimPrefix(backend, "http://"),
		"/etc/ssl/holdfast/cert.pem", cert, "/etc/ssl/holdfast/key.pem", key).Replace(block[1])
	dir := t.TempDir()
	cmd := p.started(dir, config)
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	said := new(lockedBuffer)
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		if t.Failed() {
			t.Logf("%s", said)
		}
	})
	eventually(t, "the proxy", func() bool {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return &testServer{t: t, url: "https://holdfast.example:" + port, unix: browser(t, addr, pool)}
}

// browser comes to addr whatever the name, speaks HTTP/2 and keeps cookies. It
// gives up on an answer that does not end.
func browser(t *testing.T, addr string, pool *x509.CertPool) *http.Client {
	t.Helper()
	tr := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", addr)
		},
		TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true,
	}
	t.Cleanup(tr.CloseIdleConnections)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Transport: tr, Jar: jar, Timeout: 2 * patience}
}

func TestBehindAReverseProxy(t *testing.T) {
	for name, p := range proxies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := startServerProcess(t, "", shortStore(t), "--allow-host", "holdfast.example")
			direct, ts := server.client(t), p.start(t, server.url)
			logIn(ts, server.token)
			v := create(ts, "it", counter)
			ts.wantLive(v.ID)
			ts.wantInputAsItComes(v.ID)
			ts.wantLongStreams()
			eventually(t, "the end of the streams", func() bool { return direct.metrics()["holdfast_streams"] == 0 })
			other := startServerProcess(t, "", shortStore(t))
			wantProblem(t, p.start(t, other.url).do("GET", "/status", ""), http.StatusMisdirectedRequest, "unknown-host")
		})
	}
}

// logIn does as the page does.
func logIn(ts *testServer, token string) {
	ts.t.Helper()
	if a := ts.do("GET", "/", ""); a.status != http.StatusOK || !strings.Contains(a.body, "<title>") {
		ts.t.Fatalf("the page: %d %s", a.status, a.body)
	}
	wantProblem(ts.t, ts.do("GET", "/sessions", ""), http.StatusUnauthorized, "unauthorized")
	own := []string{"Origin", ts.url, "Sec-Fetch-Site", "same-origin", "Content-Type", "application/json"}
	a := ts.do("POST", "/login", `{"token":"`+token+`"}`, own...)
	if cookie := a.header.Get("Set-Cookie"); a.status != http.StatusNoContent || !strings.Contains(cookie, "; Secure") {
		ts.t.Fatalf("login: %d %s, cookie %q; want a Secure one", a.status, a.body, cookie)
	}
	wantProblem(ts.t, ts.do("POST", "/stop", "", "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"), http.StatusForbidden, "cross-origin")
}

// wantLive checks that a stream begins at once, has what is printed as it is
// printed, and goes on where it was cut off.
func (ts *testServer) wantLive(id string) {
	ts.t.Helper()
	ts.awaitOutput(id, "ready") // and its terminal does not echo
	s := ts.events("/sessions/" + id + "/events?from=0")
	seen, last := s.text("live"), "" // nothing comes after it yet
	ts.do("POST", "/sessions/"+id+"/input?enter=1", "1 3")
	for !strings.HasSuffix(seen, "3\r\n") {
		e := s.await("output")
		seen, last = seen+string(e.bytes(ts.t)), e.id
	}
	s.close()
	ts.do("POST", "/sessions/"+id+"/input?enter=1", "4 6")
	s = ts.events("/sessions/"+id+"/events", "Last-Event-ID", last)
	for !strings.HasSuffix(seen, "6\r\n") {
		seen += string(s.await("output").bytes(ts.t))
	}
	s.close()
	if want := "ready\r\n" + string(count(1, 6)); seen != want {
		ts.t.Errorf("two streams have %q, want %q", seen, want)
	}
}

// wantInputAsItComes checks that an input stream, and output that is followed,
// are not held back.
func (ts *testServer) wantInputAsItComes(id string) {
	ts.t.Helper()
	body, keys := io.Pipe()
	r := ts.request("POST", "/sessions/"+id+"/input?stream=1", "")
	r.Body, r.ContentLength = body, -1
	done := make(chan error, 1)
	go func() {
		resp, err := ts.unix.Do(r)
		if err == nil {
			resp.Body.Close()
		}
		done <- err
	}()
	for _, n := range []string{"7", "8"} {
		io.WriteString(keys, n+" "+n+"\r")
		ts.awaitOutput(id, "\r\n"+n+"\r\n")
	}
	keys.Close()
	if err := <-done; err != nil {
		ts.t.Errorf("input stream: %v", err)
	}
	// The server has no limit for a stream, nor may a proxy.
	const much = 2 << 20
	v := create(ts, "much", fmt.Sprintf("stty raw -echo; printf ready; head -c %d | wc -c", much))
	ts.awaitOutput(v.ID, "ready")
	ts.do("POST", "/sessions/much/input?stream=1", strings.Repeat("x", much))
	if got, want := ts.output(v.ID), fmt.Sprintf("ready%d\n", much); got != want {
		ts.t.Errorf("a long input stream: %q, want %q", got, want)
	}
}

// wantLongStreams checks every byte of a long output, by both ways.
func (ts *testServer) wantLongStreams() {
	ts.t.Helper()
	const lines = 500_000
	want := string(count(1, lines))
	v := create(ts, "long", "read x; seq 500000")
	s := listenTo(ts.t, ts.events("/sessions/"+v.ID+"/events?from=0"))
	ts.do("POST", "/sessions/"+v.ID+"/input?enter=1", "")
	wantSame(ts.t, "the followed output", []byte(ts.output(v.ID)), []byte("\r\n"+want))
	wantSame(ts.t, "the stream", (<-s).output, []byte("\r\n"+want))
}
