package main

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"holdfast/session"
)

// steady prints numbers for ever, about a megabyte in a second.
const steady = `stty -onlcr; i=0; while :; do seq $i $((i + 999)); i=$((i + 1000)); sleep 0.01; done`

// A copy of a store that is being written is a store: as after a crash at some
// time during the copying. The original does not notice, nor do its programs
// when the copy is used beside it.
func TestACopyOfALiveStore(t *testing.T) {
	for name, script := range map[string]string{
		"cp":  `cp -a "$FROM" "$TO" || :`,
		"tar": `mkdir "$TO"; { tar -C "$FROM" -cf - . || :; } | tar -C "$TO" -xf -`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := shortStore(t)
			ts := startServerProcess(t, "", dir).client(t)
			busy, ended := create(ts, "busy", steady), create(ts, "ended", "printf bye")
			ts.output(ended.ID)
			ts.awaitOutput(busy.ID, "\n20000\n")
			var copies []string
			var least []int64 // bytes that were there before the copy began
			for range 3 {
				to := filepath.Join(shortStore(t), "copy")
				least = append(least, ts.get(busy.ID).Cursor)
				shellOutput(t, "", script, "FROM="+dir, "TO="+to)
				copies = append(copies, to)
			}
			for i, to := range copies {
				wantCopy(t, to, busy.ID, least[i])
			}
			now := ts.get(busy.ID)
			if now.PID != busy.PID || !now.Live || now.Runs != 1 {
				t.Errorf("the original has pid %d, live %v, run %d; want pid %d in its first run", now.PID, now.Live, now.Runs, busy.PID)
			}
			ts.do("POST", "/sessions/busy/stop", "")
			wantNumbers(t, "the original", ts.output(busy.ID))
		})
	}
}

// wantCopy checks a copy by a server on it, while that of the original runs.
func wantCopy(t *testing.T, dir, busy string, least int64) {
	t.Helper()
	p := startServerProcess(t, "", dir, "--no-auto-resume")
	defer p.endOrderly()
	ts := p.client(t)
	v := ts.get(busy)
	if v.State != "interrupted" || v.Cause != "gateway_crash" || v.Live || v.Cursor < least {
		t.Errorf("in the copy: %s, %s, live %v, %d bytes; want interrupted by gateway_crash with %d bytes at least", v.State, v.Cause, v.Live, v.Cursor, least)
	}
	out := ts.do("GET", "/sessions/"+busy+"/output", "").body
	if int64(len(out)) < least {
		t.Errorf("in the copy: %d bytes, want %d at least", len(out), least)
	}
	wantNumbers(t, "the copy", out)
	if v := must[session.View](ts, ts.do("GET", "/sessions/ended", ""), http.StatusOK); v.State != "ended" || ts.output(v.ID) != "bye" {
		t.Errorf("in the copy: %s with %q, want ended with %q", v.State, ts.output(v.ID), "bye")
	}
	must[session.View](ts, ts.do("POST", "/sessions/"+busy+"/start", ""), http.StatusOK)
	must[session.View](ts, ts.do("POST", "/sessions/"+busy+"/stop", ""), http.StatusOK)
}

// wantNumbers checks that a log of steady is whole up to its end.
func wantNumbers(t *testing.T, what, got string) {
	t.Helper()
	want := strings.ReplaceAll(string(count(0, len(got)/5)), "\r", "")
	if !strings.HasPrefix(want, got) {
		t.Errorf("%s: %d bytes; the first wrong one is at %d", what, len(got), differ([]byte(got), []byte(want)))
	}
}
