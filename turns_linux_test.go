package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What was entered is listed for people and, as the server has it, for
// programs; also without a server.
func TestShowListsTheTurns(t *testing.T) {
	dir := shortStore(t)
	p := startServerProcess(t, "", dir)
	ts := p.client(t)
	id := create(ts, "it", "echo ready; cat").ID
	ts.awaitOutput(id, "ready\r\n")
	long := strings.Repeat("word ", 24) + "end"
	hold(t, dir, "", "send", "it", "--enter", long)
	ts.awaitOutput(id, long+"\r\n"+long+"\r\n")
	hold(t, dir, "", "send", "it", "--enter", "")
	want := said{Stdout: fmt.Sprintf("TURN TIME OFFSET INPUT 1 AGO 7 %s 2 AGO 257 (no text)", long)}
	object := said{Stdout: strings.TrimSpace(ts.do("GET", "/sessions/it/turns", "").body)}
	if !strings.Contains(object.Stdout, `"preview":""`) {
		t.Errorf("the turns are %s, want an empty one", object.Stdout)
	}
	look := func() {
		t.Helper()
		if diff := cmp.Diff(want, timeless(hold(t, dir, "", "show", "it", "--turns"))); diff != "" {
			t.Errorf("show --turns (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(object, timeless(hold(t, dir, "", "show", "it", "--turns", "--json"))); diff != "" {
			t.Errorf("show --turns --json (-want +got):\n%s", diff)
		}
		tm := holdfastOnTerminal(t, dir, "show", "it", "--turns")
		if tm.wait(); !strings.Contains(tm.out.String(), " word ") || strings.Contains(tm.out.String(), "end") {
			t.Errorf("on a terminal: %q", tm.out)
		}
	}
	look()
	p.endOrderly()
	look()
}
