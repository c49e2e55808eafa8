package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"holdfast/session"
)

func TestAStreamTellsTheWholeRun(t *testing.T) {
	ts := startServer(t, nil)
	v := ts.bind("bash", "-c", `printf 'caf\303\251 \377'; exit 4`)
	resp := ts.open("GET", "/sessions/"+v.ID+"/events?from=0", "")
	for name, want := range map[string]string{
		"Content-Type": "text/event-stream", "Cache-Control": "no-cache", "X-Accel-Buffering": "no",
	} {
		if got := resp.Header.Get(name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(body), "retry: 1000\n\n") {
		t.Errorf("stream begins with %.40q, want the retry time", body)
	}
	var out []byte
	var last event
	for _, e := range parseFrames(t, body) {
		if e.event == "output" || e.event == "bytes" {
			out = append(out, e.bytes(t)...)
			if want := fmt.Sprintf("%s/%d", v.ID, len(out)); e.id != want {
				t.Errorf("id after %q = %q, want %q", out, e.id, want)
			}
		}
		last = e
	}
	if got, want := string(out), "café \xff"; got != want {
		t.Errorf("output = %q, want %q", got, want)
	}
	if got, want := last, (event{v.ID + "/7", "end", `{"state":"ended","exit_code":4,"signal":""}`}); got != want {
		t.Errorf("last event = %+v, want %+v", got, want)
	}
}

// The answer begins before there is anything to tell: a proxy or a page that
// waits for it knows that it is connected.
func TestFirstBytesComeAtOnce(t *testing.T) {
	ts := startServer(t, nil)
	resp := ts.open("GET", "/events", "") // nothing is bound
	buf := make([]byte, len(reconnectAfter))
	if _, err := io.ReadFull(resp.Body, buf); err != nil || string(buf) != reconnectAfter {
		t.Errorf("first bytes %q, %v; want %q", buf, err, reconnectAfter)
	}
}

func TestWhereAStreamBegins(t *testing.T) {
	ts := startServer(t, nil)
	v := ts.bind("bash", "-c", "printf 0123456789; exec cat")
	other := ts.make("/sessions", "cat")
	ts.awaitOutput(v.ID, "0123456789")
	for _, tt := range []struct {
		query, last, want string
	}{
		{"", "", "0123456789"},
		{"?from=", "", "0123456789"},
		{"?from=4", "", "456789"},
		{"?from=10", "", ""},
		{"?from=-3", "", "789"},
		{"?from=-999", "", "0123456789"},
		{"?from=4", v.ID + "/7", "789"},        // the header wins
		{"?from=4", other.ID + "/7", "456789"}, // another session's counts as none
		{"?from=4", "7", "456789"},             // as does what is no id of ours
		{"?from=-3", "rubbish", "789"},
		{"?from=4", v.ID, "456789"},
		{"?from=4", v.ID + "/", "456789"},
		{"?from=4", v.ID + "/-1", "456789"},
		{"?from=4", v.ID + "/7x", "456789"},
		{"?tail=3", v.ID + "/7x", "789"},
		{"", v.ID + "/10", ""}, // a live session has more to tell
		{"", v.ID + "/11", ""}, // its end was lost: see comeBack
	} {
		for _, path := range []string{"/events", "/sessions/" + v.ID + "/events"} {
			s := ts.events(path+tt.query, "Last-Event-ID", tt.last)
			if got := s.text("live"); got != tt.want {
				t.Errorf("GET %s%s, Last-Event-ID %q: output %q, want %q", path, tt.query, tt.last, got, tt.want)
			}
			s.close()
		}
	}
	wantProblem(t, ts.do("GET", "/events?from=11", ""), http.StatusRequestedRangeNotSatisfiable, "no-such-range")
}

func TestNothingMoreToTellIsNoContent(t *testing.T) {
	ts := startServer(t, nil)
	v := ts.bind("printf", "abc")
	path := "/sessions/" + v.ID + "/events"
	end := ts.events(path + "?from=0").await("end")
	for _, tt := range []struct {
		what, path, last string
		status           int
	}{
		{"back at the end", path, end.id, 204},
		{"back at the end of the bound session", "/events", end.id, 204},
		{"again from the end", path + "?from=3", "", 204},
		{"back before the end", path, v.ID + "/2", 200},
		{"never here before", path, "", 200},
		{"all of it", path + "?from=0", "", 200},
		{"a watch stays for the next run", path + "?watch=1", end.id, 200},
	} {
		resp := ts.open("GET", tt.path, "", "Last-Event-ID", tt.last)
		if resp.StatusCode != tt.status {
			t.Errorf("%s: status = %d, want %d", tt.what, resp.StatusCode, tt.status)
		}
		resp.Body.Close()
	}
	must[session.View](ts, ts.do("POST", "/sessions/"+v.ID+"/start", ""), http.StatusOK)
	s := ts.events(path, "Last-Event-ID", end.id)
	if got := s.text("end"); got != "abc" {
		t.Errorf("after a new run: output %q, want %q", got, "abc")
	}
}

// A run that printed nothing is still told of: from=0 asks for everything.
func TestTheEndOfASilentRunIsTold(t *testing.T) {
	ts := startServer(t, nil)
	v := ts.bind("true")
	path := "/sessions/" + v.ID + "/events?from=0"
	ts.events(path).await("end")
	end := ts.events(path).await("end")
	if a := ts.do("GET", path, "", "Last-Event-ID", end.id); a.status != http.StatusNoContent {
		t.Errorf("back at the end of an empty log: status = %d, want 204", a.status)
	}
}

func TestTheBoundStreamFollowsTheBinding(t *testing.T) {
	ts := startServer(t, nil)
	s := ts.events("/events?watch=1") // or it would end with the second session
	first := ts.bind("bash", "-c", "printf one; exec cat")
	if got, want := s.await("bind").data, `{"id":"`+first.ID+`"}`; got != want {
		t.Errorf("bind = %s, want %s", got, want)
	}
	if e := s.await("output"); e.id != first.ID+"/3" || e.data != `"one"` {
		t.Errorf("output of the first session = %+v, want \"one\"", e)
	}
	second := ts.bind("bash", "-c", "printf two; exec cat")
	if got, want := s.await("bind").data, `{"id":"`+second.ID+`"}`; got != want {
		t.Errorf("bind = %s, want %s", got, want)
	}
	if e := s.await("output"); e.id != second.ID+"/3" {
		t.Errorf("id after the binding moved = %q, want one of the second session", e.id)
	}
	if a := ts.do("DELETE", "/sessions/"+second.ID, ""); a.status != http.StatusNoContent {
		t.Fatalf("delete: %d %s", a.status, a.body)
	}
	if got, want := s.await("bind").data, `{"id":null}`; got != want {
		t.Errorf("bind after the deletion = %s, want %s", got, want)
	}
}

func TestATerminalTakesOverFromTheServer(t *testing.T) {
	ts := startServer(t, nil)
	v := ts.make("/sessions", "sh", "-c", `stty raw -echo; byte() { dd bs=1 count="$1" 2>/dev/null; }; printf ready
		for n in 1 2 3; do
			byte 1 >/dev/null
			printf '\033[5n'
			case $(byte 1) in T) printf '(T)' ;; *) printf "($(byte 3))" ;; esac
		done`)
	ts.awaitOutput(v.ID, "ready")
	path := "/sessions/" + v.ID
	ts.do("POST", path+"/input", "G", "Content-Type", "text/plain")
	ts.awaitOutput(v.ID, "([0n)")

	s := ts.events(path + "/events?terminal=1")
	s.await("terminal")
	s.await("live")
	ts.do("POST", path+"/input", "GT", "Content-Type", "text/plain")
	if got := ts.events(path + "/events?terminal=1").await("terminal").data; got != `{"answers":true}` {
		t.Errorf("a terminal that comes is told %s", got)
	}
	if got := s.await("terminal").data; got != `{"answers":false}` {
		t.Errorf("a terminal after which another comes is told %s", got)
	}
	ts.do("POST", path+"/input", "GT", "Content-Type", "text/plain")
	if got := ts.output(v.ID); !strings.HasSuffix(got, "([0n)\x1b[5n(T)\x1b[5n(T)") {
		t.Errorf("with terminals the program was answered %q", got)
	}
}

// A page sees a tail as a terminal would that had been there from the start.
func TestTheTailBeginsWithTheModes(t *testing.T) {
	ts := startServer(t, nil)
	v := ts.make("/sessions", "bash", "-c", `stty raw; printf '\e[?2004h\e[1;31m'; head -c 300000 /dev/zero | tr '\0' x`)
	ts.events("/sessions/" + v.ID + "/events?from=0").await("end")
	e := ts.events("/sessions/" + v.ID + "/events").await("output")
	var text string
	if err := json.Unmarshal([]byte(e.data), &text); err != nil {
		t.Fatal(err)
	}
	modes, _, _ := strings.Cut(text, "x")
	if want := "\x1b[1;31m\x1b[?2004h"; modes != want {
		t.Errorf("the tail begins with %q, want %q", modes, want)
	}
	if want := fmt.Sprintf("%s/%d", v.ID, 300015-256<<10+len(text)-len(modes)); e.id != want {
		t.Errorf("id of the first output = %s, want %s", e.id, want)
	}
}

func TestAWatchTellsOfEverySession(t *testing.T) {
	ts := startServer(t, nil)
	v := ts.bind("cat")
	s := ts.events("/events?watch=1")
	s.await("live")
	other := ts.make("/sessions", "true")
	for state := ""; state != "ended"; {
		var told session.View
		if err := json.Unmarshal([]byte(s.await("sessions").data), &told); err != nil {
			t.Fatal(err)
		}
		if told.ID == other.ID {
			state = told.State
		}
	}
	ts.do("DELETE", "/sessions/"+other.ID, "")
	for want := `{"id":"` + other.ID + `","deleted":true}`; s.await("sessions").data != want; {
	}
	ts.do("POST", "/stop", "")
	s.await("end")
	must[session.View](ts, ts.do("POST", "/sessions/"+v.ID+"/start", ""), http.StatusOK)
	for state := ""; state != "running"; { // the stream is still there
		var told session.View
		if err := json.Unmarshal([]byte(s.await("session").data), &told); err != nil {
			t.Fatal(err)
		}
		state = told.State
	}
}

func TestAHeadOfAStreamIsItsHeader(t *testing.T) {
	ts := startServer(t, nil)
	v := ts.bind("cat")
	for _, path := range []string{"/events", "/sessions/" + v.ID + "/output?follow=1"} {
		if a := ts.do("HEAD", path, ""); a.status != http.StatusOK || a.body != "" {
			t.Errorf("HEAD %s = %d %q, want 200 and no body", path, a.status, a.body)
		}
	}
}

// Readers that do not read, and all the others, are let go at once; none is
// told that its session ended, since it may go on with the next server.
func TestOpenStreamsDoNotDelayTheEnd(t *testing.T) {
	ts := startServer(t, nil)
	v := ts.bind("bash", "-c", "printf x; exec cat")
	var streams []*testStream
	for range 20 {
		s := ts.events("/sessions/" + v.ID + "/events")
		s.await("live")
		streams = append(streams, s)
	}
	follow := ts.open("GET", "/sessions/"+v.ID+"/output?follow=1", "")
	ts.closer()
	if strings.Contains(ts.logs.String(), "requests cut short") {
		t.Error("the end had to wait for the streams")
	}
	for _, s := range streams {
		for _, kind := range s.rest() {
			if kind == "end" {
				t.Error("a reader was told of an end")
			}
		}
	}
	if _, err := io.ReadAll(follow.Body); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("followed output ends with %v, want it cut off", err)
	}
}
