package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"holdfast/session"
)

// wantWhole checks that the store has what the server lists and nothing else:
// no session that is half there, no lock of one that is gone, no temp file.
func (s *diskServer) wantWhole(when string) {
	s.t.Helper()
	store := filepath.Join(s.disk.path, "store")
	views := s.list()
	for id, v := range views {
		if v.State == "pending" || v.State == session.Unreadable {
			s.t.Errorf("%s: session %s is %s: %s", when, id, v.State, v.Reason)
		}
	}
	for _, sub := range []string{"sessions", "locks", "trash"} {
		entries, err := os.ReadDir(filepath.Join(store, sub))
		if err != nil {
			s.t.Fatal(err)
		}
		for _, e := range entries {
			id := strings.TrimSuffix(e.Name(), ".lock")
			if s.untidy && (sub == "trash" || strings.HasPrefix(id, ".new-")) {
				continue
			}
			if _, ok := views[id]; !ok || sub == "trash" {
				s.t.Errorf("%s: %s/%s is left", when, sub, e.Name())
			}
		}
	}
	err := filepath.WalkDir(store, func(path string, _ fs.DirEntry, err error) error {
		if strings.Contains(path, ".tmp-") {
			s.t.Errorf("%s: %s is left", when, strings.TrimPrefix(path, store))
		}
		return err
	})
	if err != nil {
		s.t.Error(err)
	}
}

// wantSame compares what was read with what a program is known to print.
func wantSame(t *testing.T, what string, got, want []byte) {
	t.Helper()
	if !bytes.Equal(got, want) {
		t.Errorf("%s has %d bytes, want %d; the first difference is at %d", what, len(got), len(want), differ(got, want))
	}
}

// count is what seq prints on a terminal.
func count(from, to int) []byte {
	var b []byte
	for n := from; n <= to; n++ {
		b = append(strconv.AppendInt(b, int64(n), 10), "\r\n"...)
	}
	return b
}

// counter is a program that counts as it is told to, and then makes a file, if
// it was told which.
const counter = `stty -echo; echo ready; while read from to file; do seq $from $to; : >${file:-/dev/null}; done`

// counts makes a session that runs counter.
func (s *diskServer) counts(name string) string {
	s.t.Helper()
	body := fmt.Sprintf(`{"argv":["bash","-c",%q],"name":%q,"cwd":"/"}`, counter, name)
	v := must[session.View](s.testServer, s.do("POST", "/sessions", body), http.StatusCreated)
	s.awaitOutput(v.ID, "ready\r\n")
	return v.ID
}

// stopped makes a session that has run counter.
func (s *diskServer) stopped(name string) string {
	s.t.Helper()
	id := s.counts(name)
	must[session.View](s.testServer, s.do("POST", "/sessions/"+id+"/stop", ""), http.StatusOK)
	return id
}

// typed sends a line to a session.
func (s *diskServer) typed(id, line string) {
	s.t.Helper()
	a := s.do("POST", "/sessions/"+id+"/input?enter=1", line)
	if r := must[session.Receipt](s.testServer, a, http.StatusOK); r.Written != len(line)+1 {
		s.t.Errorf("input %q: %d bytes were written, want %d", line, r.Written, len(line)+1)
	}
}

// A heard is what one reader of an event stream was told.
type heard struct {
	output []byte
	errors []string // each storage_error, and "" where it was taken back
	err    error
}

// listen reads a stream to its end, in the background.
func listenTo(t *testing.T, s *testStream) <-chan heard {
	result := make(chan heard, 1)
	go func() {
		var h heard
		for {
			e, err := s.next()
			if err != nil {
				h.err = err
				result <- h
				return
			}
			switch e.event {
			case "output", "bytes":
				h.output = append(h.output, e.bytes(t)...)
			case "session":
				var v session.View
				if err := json.Unmarshal([]byte(e.data), &v); err != nil {
					h.err = err
				}
				if n := len(h.errors); n == 0 && v.StorageError != "" || n > 0 && h.errors[n-1] != v.StorageError {
					h.errors = append(h.errors, v.StorageError)
				}
			}
		}
	}()
	return result
}
