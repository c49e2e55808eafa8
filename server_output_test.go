package main

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"holdfast/session"
	"holdfast/store"
)

// digits makes an ended session whose output is 0123456789.
func digits(ts *testServer) session.View {
	ts.t.Helper()
	v := ts.bind("printf", "0123456789")
	ts.output(v.ID)
	return v
}

// huge is past the end of every log, and no int64.
const huge = "99999999999999999999"

func TestOutputFromAndTo(t *testing.T) {
	ts := startServer(t, nil)
	v := digits(ts)
	for query, want := range map[string]string{
		"": "0123456789", "?from=0": "0123456789", "?from=4": "456789", "?from=10": "", "?from=-3": "789", "?from=-0": "", "?from=-99": "0123456789",
		"?to=3": "012", "?from=2&to=5": "234", "?from=2&to=2": "", "?to=99": "0123456789", "?from=-5&to=-2": "567", "?from=&to=": "0123456789",
		"?follow=1": "0123456789", "?follow=1&from=7": "789", "?follow=1&from=2&to=5": "234", "?follow=0&to=1": "0", "?follow=1&to=99": "0123456789",
		"?to=-99": "", "?follow=1&to=-99": "", "?follow=1&to=-4": "012345",
		"?to=" + huge: "0123456789", "?from=-" + huge: "0123456789", "?follow=1&from=7&to=" + huge: "789",
	} {
		a := ts.do("GET", "/sessions/"+v.ID+"/output"+query, "")
		if a.status != http.StatusOK || a.body != want {
			t.Errorf("output%s = %d %q, want 200 %q", query, a.status, a.body, want)
		}
		head := ts.do("HEAD", "/sessions/"+v.ID+"/output"+query, "")
		for _, name := range []string{"Holdfast-From", "Holdfast-Oldest", "Holdfast-Cursor", "Content-Length", "Content-Type"} {
			if got, want := head.header.Get(name), a.header.Get(name); got != want {
				t.Errorf("HEAD output%s: %s = %q, want %q as of GET", query, name, got, want)
			}
		}
	}
	a := ts.do("GET", "/sessions/"+v.ID+"/output?from=4&to=6", "")
	for name, want := range map[string]string{
		"Holdfast-From": "4", "Holdfast-Oldest": "0", "Holdfast-Cursor": "10", "Content-Length": "2", "Content-Type": "application/octet-stream",
	} {
		if got := a.header.Get(name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
}

func TestOutputByRange(t *testing.T) {
	ts := startServer(t, nil)
	v := digits(ts)
	path := "/sessions/" + v.ID + "/output"
	for _, tt := range []struct {
		header, body, contentRange string
		status                     int
	}{
		{"bytes=2-4", "234", "bytes 2-4/10", 206},
		{"bytes=7-", "789", "bytes 7-9/10", 206},
		{"bytes=7-99", "789", "bytes 7-9/10", 206},
		{"bytes=-3", "789", "bytes 7-9/10", 206},
		{"bytes=-99", "0123456789", "bytes 0-9/10", 206},
		{"Bytes=0-0", "0", "bytes 0-0/10", 206},
		{"bytes=10-", "", "bytes */10", 416},
		{"bytes=99-100", "", "bytes */10", 416},
		{"bytes=7-" + huge, "789", "bytes 7-9/10", 206},
		{"bytes=-" + huge, "0123456789", "bytes 0-9/10", 206},
		{"bytes=" + huge + "-", "", "bytes */10", 416},
		{"bytes=-0", "", "bytes */10", 416},
		{"bytes=4-2", "0123456789", "", 200}, // what is malformed counts as nothing
		{"bytes=a-b", "0123456789", "", 200},
		{"bytes=-", "0123456789", "", 200},
		{"bytes=+1-2", "0123456789", "", 200},
		{"lines=1-2", "0123456789", "", 200},
		{"bytes=0-1,3-4", "0123456789", "", 200}, // several at once too
	} {
		a := ts.do("GET", path, "", "Range", tt.header)
		if a.status != tt.status || a.status < 300 && a.body != tt.body || a.header.Get("Content-Range") != tt.contentRange {
			t.Errorf("Range %q: %d %q, Content-Range %q; want %d %q %q",
				tt.header, a.status, a.body, a.header.Get("Content-Range"), tt.status, tt.body, tt.contentRange)
		}
		if a.status == http.StatusRequestedRangeNotSatisfiable {
			wantProblem(t, a, a.status, "no-such-range")
		}
	}
	if a := ts.do("GET", path, "", "Range", "bytes=2-4", "If-Range", `"x"`); a.status != http.StatusOK || a.body != "0123456789" {
		t.Errorf("Range with an If-Range that matches nothing: %d %q, want all of it", a.status, a.body)
	}
	for _, query := range []string{"?from=11", "?from=" + huge, "?follow=1&from=" + huge} {
		wantProblem(t, ts.do("GET", path+query, ""), http.StatusRequestedRangeNotSatisfiable, "no-such-range")
	}
	for _, query := range []string{"?from=1", "?to=1", "?follow=1"} {
		wantProblem(t, ts.do("GET", path+query, "", "Range", "bytes=2-4"), http.StatusBadRequest, "malformed-request")
	}
}

// Where the front of a log is gone, from means the oldest byte that is there,
// and a Range, which must be exact, is refused.
func TestOutputWhoseFrontIsGone(t *testing.T) {
	ts := startServer(t, func(o *store.Options, _ *server) { o.SegmentSize, o.Keep = 1000, 2000 })
	v := ts.bind("bash", "-c", "head -c 10000 /dev/zero | tr '\\0' x; printf end")
	waitFor(t, "the run to end", func() bool { return ts.get(v.ID).State == "ended" })
	v = ts.get(v.ID)
	if v.Oldest == 0 || v.Cursor != 10003 {
		t.Fatalf("log has %d to %d, want its front gone", v.Oldest, v.Cursor)
	}
	path := "/sessions/" + v.ID + "/output"
	for _, query := range []string{"", "?from=0", "?from=5", "?from=-9999"} {
		a := ts.do("GET", path+query, "")
		if got := int64(len(a.body)); got != v.Cursor-v.Oldest {
			t.Errorf("output%s has %d bytes, want the %d that there are", query, got, v.Cursor-v.Oldest)
		}
		if got := a.header.Get("Holdfast-From"); got != a.header.Get("Holdfast-Oldest") || got == "0" {
			t.Errorf("output%s: Holdfast-From = %q, want the oldest", query, got)
		}
	}
	wantProblem(t, ts.do("GET", path+"?from=0&to=100", ""), http.StatusRequestedRangeNotSatisfiable, "no-such-range")
	wantProblem(t, ts.do("GET", path, "", "Range", "bytes=0-100"), http.StatusRequestedRangeNotSatisfiable, "no-such-range")
	if a := ts.do("GET", path, "", "Range", "bytes=10000-"); a.status != http.StatusPartialContent || a.body != "end" {
		t.Errorf("Range of what is there: %d %q, want 206 and the end", a.status, a.body)
	}
}

func TestFollowedOutputComesAsItIsPrinted(t *testing.T) {
	ts := startServer(t, nil)
	v := ts.bind("bash", "-c", "stty raw -echo; printf ready; exec cat")
	ts.awaitOutput(v.ID, "ready")
	resp := ts.open("GET", "/sessions/"+v.ID+"/output?from=5&follow=1", "")
	for _, key := range []string{"a", "b", "\x1b[A"} {
		ts.do("POST", "/input", key)
		got := make([]byte, len(key))
		if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != key {
			t.Fatalf("after %q was typed: %q, %v", key, got, err)
		}
	}
	if got := resp.Header.Get("Content-Length"); got != "" {
		t.Errorf("Content-Length = %q of what has no end yet", got)
	}
	ts.do("POST", "/stop", "")
	if rest, err := io.ReadAll(resp.Body); err != nil || len(rest) != 0 {
		t.Errorf("after the stop: %q, %v; want a proper end", rest, err)
	}
}

// The end of a program that was silent for longer than a write may take is the
// proper end of its output.
func TestFollowedOutputEndsAfterSilence(t *testing.T) {
	ts := startServer(t, func(_ *store.Options, s *server) { s.stall = 50 * time.Millisecond })
	v := ts.bind("bash", "-c", "stty raw -echo; printf before; sleep 0.5")
	if got := ts.output(v.ID); got != "before" {
		t.Errorf("output = %q", got)
	}
}

// A log is followed over the end of its run only if a new run has begun.
func TestOutputOfTwoRunsIsOneLog(t *testing.T) {
	ts := startServer(t, nil)
	v := digits(ts)
	must[session.View](ts, ts.do("POST", "/sessions/"+v.ID+"/start", ""), http.StatusOK)
	if got, want := ts.output(v.ID), strings.Repeat("0123456789", 2); got != want {
		t.Errorf("output = %q, want %q", got, want)
	}
}
