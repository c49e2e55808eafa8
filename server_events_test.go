package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"holdfast/session"
)

// An eventReader reads a stream as the HTML standard says: lines end with CR,
// LF or both, an unfinished last event does not count.
type eventReader struct {
	r     *bufio.Reader
	lines []string // that were read already
	began bool
	id    string
}

func newEventReader(r io.Reader) *eventReader {
	return &eventReader{r: bufio.NewReaderSize(r, 128<<10)}
}

func (r *eventReader) line() (string, error) {
	if len(r.lines) == 0 {
		text, err := r.r.ReadString('\n')
		if err != nil {
			return "", err
		}
		if !r.began {
			r.began = true
			text = strings.TrimPrefix(text, "\ufeff")
		}
		text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
		r.lines = strings.Split(text, "\r")
	}
	line := r.lines[0]
	r.lines = r.lines[1:]
	return line, nil
}

func (r *eventReader) next() (event, error) {
	var e event
	var data []string
	for {
		line, err := r.line()
		if err != nil {
			return event{}, err
		}
		if line == "" {
			if data == nil {
				e.event = ""
				continue
			}
			e.id, e.data = r.id, strings.Join(data, "\n")
			return e, nil
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "event":
			e.event = value
		case "data":
			data = append(data, value)
		case "id":
			if !strings.Contains(value, "\x00") {
				r.id = value
			}
		}
	}
}

// A testStream is an open event stream.
type testStream struct {
	*eventReader
	t    *testing.T
	resp *http.Response
}

func (ts *testServer) events(path string, headers ...string) *testStream {
	ts.t.Helper()
	resp := ts.open("GET", path, "", headers...)
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(resp.Body)
		ts.t.Fatalf("GET %s: status %d: %s", path, resp.StatusCode, body)
	}
	return &testStream{newEventReader(resp.Body), ts.t, resp}
}

func (s *testStream) close() { s.resp.Body.Close() }

// await reads on to the next event of a kind.
func (s *testStream) await(kind string) event {
	s.t.Helper()
	for {
		e, err := s.next()
		if err != nil {
			s.t.Fatalf("stream ends before %q: %v", kind, err)
		}
		if e.event == kind {
			return e
		}
	}
}

// text reads all output up to an event of a kind.
func (s *testStream) text(until string) string {
	s.t.Helper()
	var text []byte
	for {
		e, err := s.next()
		switch {
		case err != nil:
			s.t.Fatalf("stream ends before %q: %v", until, err)
		case e.event == until:
			return string(text)
		case e.event == "output" || e.event == "bytes":
			text = append(text, e.bytes(s.t)...)
		}
	}
}

// rest reads the stream to its end and returns the kinds of its events.
func (s *testStream) rest() (kinds []string) {
	s.t.Helper()
	for {
		e, err := s.next()
		if err == io.EOF {
			return kinds
		}
		if err != nil {
			s.t.Fatalf("stream breaks off: %v", err)
		}
		kinds = append(kinds, e.event)
	}
}

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
		{"", v.ID + "/10", ""},                 // a live session has more to tell
		{"", v.ID + "/11", ""},                 // its end was lost: see comeBack
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
