package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"holdfast/session"
)

func TestWhatTheDecoderWouldForgive(t *testing.T) {
	for body, want := range map[string]string{
		`{"ARGV":["true"]}`:               `unknown member "ARGV"`,
		`{"argv":["bash"],"argv":["x"]}`:  `"argv" stands twice`,
		`{"env":{"A":"1","A":"2"}}`:       `"A" stands twice`,
		`{"env":{"A":null}}`:              "null cannot stand",
		`{"argv":[null]}`:                 "null cannot stand",
		`{"name":"\\ud83d"}`:              "half of a surrogate pair",
		`{"argv":["true","\\ud800"]}`:     "half of a surrogate pair",
		`{"name":null,"cols":null}`:       "",
		`{"name":"\\ufffd"}`:              "",
		`{"name":"\\ud83d\\ude00"}`:       "",
		`{"env":{"argv":"1","name":"2"}}`: "",
	} {
		body = strings.ReplaceAll(body, `\\`, `\`)
		err := decodeJSON([]byte(body), new(session.Spec))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("decodeJSON(%s) = %v, want %q", body, err, want)
		}
	}
}

// A body that never comes keeps nobody waiting: what is wrong is said at once,
// and the connection ends.
func TestABodyThatNeverComes(t *testing.T) {
	ts := startServer(t, nil)
	host := strings.TrimPrefix(ts.url, "http://")
	for _, tt := range []struct {
		request string
		status  int
	}{
		{"POST /sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n", http.StatusUnauthorized},
		{"POST /sessions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n", http.StatusUnauthorized},
		{"POST /sessions HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 9\r\n\r\n", http.StatusMisdirectedRequest},
		{"POST /nowhere HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + testToken + "\r\nContent-Length: 9\r\n\r\n", http.StatusNotFound},
		{"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n", http.StatusOK},
	} {
		conn, err := net.Dial("tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(20 * time.Second)) // far less than any limit on bodies
		fmt.Fprint(conn, tt.request)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Errorf("%q: %v", tt.request, err)
			continue
		}
		if resp.StatusCode != tt.status {
			t.Errorf("%q: status %d, want %d", tt.request, resp.StatusCode, tt.status)
		}
		if _, err := io.ReadAll(resp.Body); err != nil {
			t.Errorf("%q: body: %v", tt.request, err)
		}
		if n, err := conn.Read(make([]byte, 1)); n != 0 || err != io.EOF {
			t.Errorf("%q: connection after the answer: %d, %v; want its end", tt.request, n, err)
		}
	}
}

func TestAnInputOfTheWholeLimitWithEnter(t *testing.T) {
	ts := startServer(t, nil)
	v := ts.bind("sh", "-c", "stty raw -echo; echo ready; head -c 1048577 | wc -c")
	ts.awaitOutput(v.ID, "ready")
	r := must[session.Receipt](ts, ts.do("POST", "/input?enter=1", strings.Repeat("x", 1<<20)), http.StatusOK)
	if r.Written != 1<<20+1 {
		t.Errorf("written = %d, want %d", r.Written, 1<<20+1)
	}
	ts.awaitOutput(v.ID, "1048577")
}

// A log that nobody reads stops nothing.
func TestALogQueueNeverWaits(t *testing.T) {
	r, w := io.Pipe()
	q := newLogQueue(w)
	for i := range 3 * logLines {
		fmt.Fprintf(q, "line %d\n", i)
	}
	q.close() // returns although the pipe is stuck
	lines := bufio.NewScanner(r)
	n, dropped := 0, ""
	for n+1 < logLines && lines.Scan() {
		if strings.Contains(lines.Text(), "were dropped") {
			dropped = lines.Text()
			continue
		}
		if n++; n == 1 && lines.Text() != "line 0" {
			t.Errorf("first line = %q, want line 0", lines.Text())
		}
	}
	if dropped == "" {
		t.Error("nothing says that lines were dropped")
	}
	r.Close()
	<-q.done
}
