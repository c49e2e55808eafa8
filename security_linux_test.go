package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"holdfast/leasefs"
	"holdfast/session"
	"holdfast/store"
)

// nastyText is text that would do something to a terminal, a page or a reader:
// it sets a title, clears the screen, by a C1 control too, turns the direction
// round, hides, forges a line, is markup.
const nastyText = "\x1b]0;owned\a\x1b[2J\u009b2J\u202egpj.exe\u200b\u2066\r\nholdfast: all is well\t\x7f<img src=x onerror=alert(1)>"

// wantHarmless checks that nothing in text does more than print.
func wantHarmless(t *testing.T, what, text string) {
	t.Helper()
	for i, r := range text {
		if r != '\n' && !strconv.IsPrint(r) {
			t.Errorf("%s has %q in %q", what, r, text[max(0, i-40):min(len(text), i+40)])
			return
		}
	}
	if strings.Contains(text, "\nholdfast: all is well") {
		t.Errorf("%s has a forged line: %q", what, text)
	}
}

// hostileStore is a store with a session of each kind in which every text is
// hostile, as a copy of somebody else's may have it.
func hostileStore(t *testing.T) string {
	t.Helper()
	dir := shortStore(t)
	for _, name := range []string{"it", "other", "broken"} {
		if got := hold(t, dir, "", "run", "--name", name, "--", "echo", name); got.Status != 0 {
			t.Fatalf("run = %+v", got)
		}
	}
	for _, name := range []string{"it", "other", "broken"} {
		path := filepath.Join(dir, "sessions", shown(t, dir, name).ID, "session.json")
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var row map[string]any
		if err := json.Unmarshal(b, &row); err != nil {
			t.Fatal(err)
		}
		for _, member := range []string{"cwd", "profile", "cause", "parent", "signal", "problem"} {
			row[member] = nastyText
		}
		row["argv"] = []string{nastyText, nastyText}
		if name != "it" {
			row["name"] = nastyText
		}
		if name == "broken" {
			row["state"], row[nastyText] = nastyText, 1
		}
		if b, err = json.Marshal(row); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		addTurn(t, filepath.Join(filepath.Dir(path), "journal.jsonl"), nastyText)
	}
	b, err := json.Marshal(map[string]any{nastyText: map[string][]string{"start": {nastyText}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"profiles.json": b, nastyText[:12]: nil} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// addTurn writes into a journal that text was entered.
func addTurn(t *testing.T, journal, text string) {
	t.Helper()
	line, err := json.Marshal(store.Entry{Kind: "turn", Turn: 1, Preview: text})
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(journal, append(b, append(line, '\n')...), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Nothing that a store or a command line says does anything to the terminal it
// is shown on, nor to whoever reads the log.
func TestHostileTextIsHarmlessOnATerminal(t *testing.T) {
	dir := hostileStore(t)
	arg := strings.ReplaceAll(nastyText, "\x00", "")
	all := func(served string) {
		for _, args := range [][]string{
			{"ls"}, {"ls", "--json"}, {"ls", arg}, {"ls", "--state", arg}, {"show", "it"}, {"show", "--json", "it"}, {"show", arg}, {"show", arg, arg},
			{"doctor"}, {"doctor", "--json"}, {"run", "--resume", "it"}, {"run", "--resume", arg}, {"run", "--resume", "it", "--copy"}, {"run", "--profile", arg},
			{"run", "--", arg}, {"attach", arg}, {"attach", "it"}, {"send", arg, "x"}, {"send", "it", "x"}, {"wait", "it", "--for", arg}, {"wait", arg},
			{"stop", arg}, {"rm", arg}, {"export", arg}, {"export", "it", "--" + arg}, {"completion", arg}, {arg}, {"serve", "--" + arg}, {"serve", "--listen", arg},
			{"serve", "--listen", "127.0.0.1:0", "--resume", arg}, {"acp", "--profile", arg},
			{"show", "it", "--turns"}, {"rename", "it", arg}, {"rename", arg, arg}, {"rename", "it", arg, arg}, {"run", arg}, {"send", "it", "-" + arg}, {"new", "--profile", arg},
		} {
			got := hold(t, dir, "", args...)
			wantHarmless(t, served+fmt.Sprintf("%.30q", args)+" stdout", got.Stdout)
			wantHarmless(t, served+fmt.Sprintf("%.30q", args)+" stderr", got.Stderr)
		}
	}
	all("")
	p := startServerProcess(t, buildHoldfast(t), dir)
	all("served: ")
	ts := p.client(t)
	ts.do("POST", "/sessions/it/start", "")
	ts.do("POST", "/resume", `{"id":"it"}`)
	p.kill()
	wantHarmless(t, "the log", p.logs.String())
}

// The list to choose from, and what completes, are drawn on a terminal that
// nothing in them reaches.
func TestHostileTextIsHarmlessInTheList(t *testing.T) {
	dir := hostileStore(t)
	m := holdfastOnTerminal(t, dir, "run", "--", "sh", "-c", "echo ready; exec cat")
	m.see("ready")
	m.press("\x1d")
	m.see("holdfast> ")
	m.press("/resume \t\t")
	m.press("\x15/sessions\r")
	m.see("of 4 sessions")
	m.press("\x1b")
	m.see("\x1b[?1049l") // back in the session
	m.press("\x1d")
	m.see("holdfast> ")
	m.press("/profile \t/switch x\r")
	shown := m.out.String()
	for _, raw := range []string{"\x1b]0;owned", "\u009b", "\u202e", "\u200b", "\u2066", "\nholdfast: all is well"} {
		if strings.Contains(shown, raw) {
			t.Errorf("the terminal was sent %q", raw)
		}
	}
	if !strings.Contains(shown, `\x1b]0;owned`) {
		t.Errorf("the list does not show the name: %q", shown)
	}
}

// Another process can write what it likes into the lock file that it holds,
// and into the file that says where the server is.
func TestHostileHoldersAreHarmless(t *testing.T) {
	t.Parallel()
	dir := shortStore(t)
	if got := hold(t, dir, "", "run", "--name", "it", "--", "echo", "it"); got.Status != 0 {
		t.Fatalf("run = %+v", got)
	}
	id := shown(t, dir, "it").ID
	row, err := os.ReadFile(filepath.Join(dir, "sessions", id, "session.json"))
	if err != nil {
		t.Fatal(err)
	}
	// Who holds a session is asked for one that claims to be live.
	row = bytes.Replace(row, []byte(`"state":"ended"`), []byte(`"state":"running"`), 1)
	if err := os.WriteFile(filepath.Join(dir, "sessions", id, "session.json"), row, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "locks", id+".lock"), filepath.Join(dir, "server.lock")} {
		lease, err := leasefs.Acquire(path, leasefs.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer lease.Release()
		doc, err := json.Marshal(map[string]any{"pid": 1, "since": "2026-11-30T14:05:09Z", "host": nastyText[:40], "front": nastyText[:12], "addr": nastyText})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, fmt.Appendf(nil, "%08x %s\n", crc32.ChecksumIEEE(doc), doc), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	doc, err := json.Marshal(map[string]any{"pid": 1, "address": nastyText, "socket": "/nowhere" + nastyText})
	if err != nil {
		t.Fatal(err)
	}
	try := func(args ...string) {
		got := hold(t, dir, "", args...)
		wantHarmless(t, fmt.Sprint(args), got.Stdout+got.Stderr)
		if args[0] != "show" && got.Status != 1 {
			t.Errorf("%q = %+v, want it refused", args, got)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "server.json"), doc, 0o600); err != nil {
		t.Fatal(err)
	}
	try("serve", "--listen", "127.0.0.1:0")
	try("ls") // the server does not answer
	try("run", "--resume", "it")
}

// The token is in its file and in the line that serve prints, and nowhere else:
// not where other processes and other users look, nor in what a program gets.
func TestTheTokenStaysInItsFile(t *testing.T) {
	t.Setenv("HOLDFAST_OTHER", "x")
	dir := shortStore(t)
	p := startServerProcess(t, buildHoldfast(t), dir, "--log-level", "debug")
	ts := p.client(t)
	v := must[session.View](ts, ts.do("POST", "/new", `{"argv":["sh","-c","echo ready; exec cat"]}`), 201)
	ts.awaitOutput(v.ID, "ready")
	ts.doTCP("POST", "/login", `{"token":"`+p.token+`"}`)
	cookie := newCredentials(p.token).cookie
	var places []string
	for _, pid := range []int{p.Process.Pid, v.PID} {
		for _, file := range []string{"cmdline", "environ"} {
			places = append(places, fmt.Sprintf("/proc/%d/%s", pid, file))
		}
	}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && e.Name() != "token" {
			places = append(places, path)
		}
		return err
	})
	if err != nil || len(places) < 8 {
		t.Fatalf("places to look: %q, %v", places, err)
	}
	for _, path := range places {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(b, []byte(p.token)) || bytes.Contains(b, []byte(cookie)) {
			t.Errorf("%s has the token, or the cookie", path)
		}
	}
	if logs := p.logs.String(); strings.Contains(logs, p.token) || strings.Contains(logs, cookie) {
		t.Errorf("the log has the token, or the cookie: %s", logs)
	}
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", v.PID))
	if err != nil {
		t.Fatal(err)
	}
	ours := map[string]bool{}
	for _, kv := range strings.Split(string(environ), "\x00") {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "HOLDFAST") {
			ours[name] = true
		}
	}
	if names := slices.Sorted(maps.Keys(ours)); !slices.Equal(names, []string{"HOLDFAST_SESSION", "HOLDFAST_STORE"}) {
		t.Errorf("the program has %q", names)
	}
	for _, name := range []string{"", "token", "sock", "server.json", "sessions", "locks", "sessions/" + v.ID, "sessions/" + v.ID + "/session.json"} {
		if info, err := os.Lstat(filepath.Join(dir, name)); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%q can be used by others: %v, %v", name, info.Mode(), err)
		}
	}
}

// A link where the server keeps a file of its own is not followed.
func TestServeFollowsNoSymbolicLink(t *testing.T) {
	for _, name := range []string{"token", "server.lock", "server.json", "sock", "bound.json"} {
		t.Run(name, func(t *testing.T) {
			dir, outside := shortStore(t), filepath.Join(t.TempDir(), "outside")
			content := []byte(strings.Repeat("A", 43) + "\n") // a token, if it were read
			if err := os.WriteFile(outside, content, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(outside, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
			p := launch(t, buildHoldfast(t), dir)
			if err := p.announced(); err == nil {
				if p.token == strings.TrimSpace(string(content)) {
					t.Error("the token was read from outside")
				}
				ts := p.client(t)
				must[session.View](ts, ts.do("POST", "/new", `{"argv":["cat"]}`), 201) // writes bound.json
			} else if name != "token" && name != "server.lock" {
				t.Errorf("serve: %v", err)
			}
			p.kill()
			if b, err := os.ReadFile(outside); !bytes.Equal(b, content) {
				t.Errorf("outside is now %q, %v", b, err)
			}
			if info, err := os.Stat(outside); err != nil || info.Mode() != 0o600 {
				t.Errorf("outside has another mode: %v, %v", info, err)
			}
		})
	}
}
