package main

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"holdfast/session"
)

func TestInputIsTypedAsItIs(t *testing.T) {
	ts := startServer(t, nil)
	for _, tt := range []struct {
		name, path, body, kind, want string
	}{
		{"raw", "/input", "a\x00\x01\xff\x1b[A", "", "a\x00\x01\xff\x1b[A"},
		{"a form as curl sends it", "/input", `{"text":"a"}`, "application/x-www-form-urlencoded", `{"text":"a"}`},
		{"enter", "/input?enter=1", "ls", "text/plain", "ls\r"},
		{"only enter", "/input?enter=1", "", "", "\r"},
		{"JSON", "/input", `{"text":"é\n"}`, "application/json", "é\n"},
		{"JSON with enter", "/input", `{"text":"ls","enter":true}`, "application/json; charset=utf-8", "ls\r"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := ts.bind("bash", "-c", "stty raw -echo; printf ready; exec head -c "+strconv.Itoa(len(tt.want)))
			ts.awaitOutput(v.ID, "ready")
			r := must[session.Receipt](ts, ts.do("POST", tt.path, tt.body, "Content-Type", tt.kind), http.StatusOK)
			if r.Written != len(tt.want) || r.Cursor != 5 {
				t.Errorf("receipt = %+v, want %d bytes at 5", r, len(tt.want))
			}
			if got, want := ts.output(v.ID), "ready"+tt.want; got != want {
				t.Errorf("typed %q, want %q", got, want)
			}
		})
	}
}

func TestARepeatedInputIsTypedOnce(t *testing.T) {
	ts := startServer(t, nil)
	v := ts.bind("bash", "-c", "stty raw -echo; printf ready; exec head -c 6")
	ts.awaitOutput(v.ID, "ready")
	first := ts.do("POST", "/input", "abc", "Idempotency-Key", "k1")
	again := ts.do("POST", "/input", "abc", "Idempotency-Key", "k1")
	if first.status != http.StatusOK || first.body != again.body {
		t.Errorf("receipts %q and %q, want the same", first.body, again.body)
	}
	wantProblem(t, ts.do("POST", "/input", "other", "Idempotency-Key", "k1"), http.StatusUnprocessableEntity, "key-reused")
	ts.do("POST", "/input", "def", "Idempotency-Key", "k2")
	if got, want := ts.output(v.ID), "readyabcdef"; got != want {
		t.Errorf("output = %q, want %q", got, want)
	}
	if late := ts.do("POST", "/input", "abc", "Idempotency-Key", "k1"); late.body != first.body {
		t.Errorf("receipt %q after the end, want %q", late.body, first.body)
	}
}

// A program that reads nothing gets what the terminal holds; the rest is
// withdrawn, and the sender is told how much that was.
func TestInputThatIsNotTaken(t *testing.T) {
	ts := startServer(t, nil)
	v := ts.bind("bash", "-c", "stty raw -echo; printf ready; exec sleep 60")
	ts.awaitOutput(v.ID, "ready")
	a := ts.do("POST", "/input", strings.Repeat("x", 256<<10))
	p := wantProblem(t, a, http.StatusTooManyRequests, "not-taken")
	if p.Written == nil || *p.Written == 0 || *p.Written >= 256<<10 {
		t.Errorf("written = %v, want a part of it", p.Written)
	}
	if a.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
}

func TestAnInputStreamIsTypedAsItArrives(t *testing.T) {
	ts := startServer(t, nil)
	v := ts.bind("bash", "-c", "stty raw -echo; printf ready; exec dd bs=1 count=9 status=none")
	ts.awaitOutput(v.ID, "ready")
	body, typed := io.Pipe()
	r, err := http.NewRequestWithContext(t.Context(), "POST", ts.url+"/input?stream=1", body)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan answer, 1)
	go func() {
		resp, err := ts.unix.Do(r)
		if err != nil {
			t.Error(err)
			done <- answer{}
			return
		}
		done <- ts.read(resp)
	}()
	io.WriteString(typed, "abc")
	ts.awaitOutput(v.ID, "readyabc") // while the stream is open
	must[session.Receipt](ts, ts.do("POST", "/input", "DEF"), http.StatusOK)
	ts.awaitOutput(v.ID, "readyabcDEF")
	io.WriteString(typed, "ghi")
	typed.Close()
	got := must[session.Receipt](ts, <-done, http.StatusOK)
	if want := (session.Receipt{Written: 6, Cursor: 5}); got != want {
		t.Errorf("receipt = %+v, want %+v", got, want)
	}
	if got, want := ts.output(v.ID), "readyabcDEFghi"; got != want {
		t.Errorf("output = %q, want %q", got, want)
	}
}

func TestAnOpenInputStreamDoesNotDelayTheEnd(t *testing.T) {
	ts := startServer(t, nil)
	v := ts.bind("bash", "-c", "stty raw -echo; printf ready; exec cat")
	ts.awaitOutput(v.ID, "ready")
	c, err := net.Dial("tcp", ts.url[len("http://"):])
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	io.WriteString(c, "POST /input?stream=1 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "+testToken+"\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n")
	ts.awaitOutput(v.ID, "readyx")
	ts.closer()
	if resp, err := http.ReadResponse(bufio.NewReader(c), nil); err == nil {
		t.Errorf("the stream was answered with %s, want it cut off", resp.Status)
	}
	if strings.Contains(ts.logs.String(), "requests cut short") {
		t.Error("the end had to wait for the stream")
	}
}
