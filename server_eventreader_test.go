package main

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
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
