package main

import (
	"encoding/json"
	"strings"
	"testing"

	"holdfast/session"
)

// A name is given, changed and taken away, with a server and without one.
func TestRename(t *testing.T) {
	dir := shortStore(t)
	p := startServerProcess(t, "", dir)
	id := hold(t, dir, "", "new", "--", "cat").id(t)
	call := func() {
		t.Helper()
		for _, tt := range []struct {
			args []string
			want said
		}{
			{[]string{"rename", id, "two words"}, said{0, id + " is called two words\n", ""}},
			{[]string{"rename", "two words", "it"}, said{0, id + " is called it\n", ""}},
			{[]string{"rename", "it", "it"}, said{0, id + " is called it\n", ""}},
			{[]string{"rename", "none", "x"}, said{1, "", "holdfast: there is no session \"none\"; holdfast ls lists them\n"}},
			{[]string{"rename", "it", " "}, said{1, "", "holdfast: name \" \": is only space\n"}},
			{[]string{"rename", "it", "a\xff"}, said{1, "", `holdfast: name "a\xff": not UTF-8, and a session can have no other text; give it in UTF-8` + "\n"}},
			{[]string{"rename", "it", ""}, said{0, id + " has no name\n", ""}},
		} {
			if got := hold(t, dir, "", tt.args...); got != tt.want {
				t.Errorf("holdfast %q = %+v, want %+v", tt.args, got, tt.want)
			}
		}
		var v session.View
		got := hold(t, dir, "", "rename", id[:8], "it", "--json")
		if err := json.Unmarshal([]byte(got.Stdout), &v); err != nil || v.ID != id || v.Name != "it" {
			t.Errorf("rename --json = %+v, %v", got, err)
		}
		if v = shown(t, dir, "it"); v.ID != id {
			t.Errorf("it is %+v afterwards", v)
		}
	}
	call()
	p.endOrderly()
	call()
	m := holdfastOnTerminal(t, dir, "run", "--resume", "it")
	m.until("the session to be held", func() bool { return shown(t, dir, "it").Holder != nil })
	if got := hold(t, dir, "", "rename", "it", "x"); got.Status != 1 || !strings.HasPrefix(got.Stderr, "holdfast: session is in use by pid ") {
		t.Errorf("rename of a held session = %+v", got)
	}
}

// Sessions may share a name; whoever gives it is told, since commands refuse
// it from then on.
func TestWhoGivesANameASecondTimeIsTold(t *testing.T) {
	dir := shortStore(t)
	const told = "holdfast: another session is called it too; use ids, or holdfast rename\n"
	if got := hold(t, dir, "", "run", "--name", "it", "--", "true"); got != (said{}) {
		t.Fatalf("run = %+v", got)
	}
	p := startServerProcess(t, "", dir)
	look := func(lines ...string) {
		t.Helper()
		for _, line := range lines {
			got := hold(t, dir, "", strings.Fields(line)...)
			if id, _, _ := strings.Cut(got.Stdout, " "); got.Status != 0 || got.Stderr != told || !strings.Contains(got.Stdout, "-") {
				t.Errorf("holdfast %s = %+v, want %q", line, got, told)
			} else if got := hold(t, dir, "", "rm", strings.TrimSpace(id)); got.Status != 0 {
				t.Errorf("rm = %+v", got)
			}
		}
	}
	look("new --name it -- cat", "fork it --name it")
	hold(t, dir, "", "new", "--name", "other", "--", "cat")
	look("rename other it")
	p.endOrderly()
	look("fork it --name it")
	m := holdfastOnTerminal(t, dir, "run", "--name", "it", "--", "echo", "done")
	m.see("or holdfast rename\r\ndone")
	if got := hold(t, dir, "", "run", "--name", "it", "--", "echo", "done"); got != (said{0, "done\r\n", ""}) {
		t.Errorf("run in a script = %+v", got)
	}
}
