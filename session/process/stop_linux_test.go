package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestStopEndsJobsInGroupsOfTheirOwn(t *testing.T) {
	dir := t.TempDir()
	p := bash(t)
	keepReading(t, p)
	typeIn(t, p, "cd "+dir+"\n")
	jobs := map[string]string{
		"plain":    "sleep 1000 & ",
		"disowned": "sleep 1000 & disown; ",
		"nohup":    "nohup sleep 1000 >/dev/null 2>&1 & ",
		"halted":   "sleep 1000 & kill -STOP $!; ",
		"stubborn": "(trap '' HUP TERM INT; exec sleep 1000) & ",
	}
	pids := map[string]int{}
	groups := map[int]bool{}
	for name, job := range jobs {
		typeIn(t, p, job+"echo $! >"+name+"\n")
		pids[name] = pidFrom(t, filepath.Join(dir, name))
		group, err := unix.Getpgid(pids[name])
		if err != nil {
			t.Fatal(err)
		}
		groups[group] = true
	}
	if len(groups) != len(jobs) || groups[p.Identity().PID] {
		t.Fatalf("groups %v of jobs %v: no job control", groups, pids)
	}

	p.Stop(100 * time.Millisecond)
	for name, pid := range pids {
		if alive(pid) {
			t.Errorf("the %s job survived", name)
		}
	}
	if !p.hasExited() {
		t.Error("Stop returned before the exit")
	}
}

// A server that has no descriptor left can still end programs.
func TestStopWithoutADescriptor(t *testing.T) {
	p := sh(t, "echo ready; exec sleep 1000")
	readUntil(t, p, "ready")
	var limit, none unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	none.Max = limit.Max
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	p.Stop(time.Second)
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if !p.hasExited() {
		t.Error("the program runs on")
	}
}

func TestJobThatSurvivesHangupOutlivesTheProgram(t *testing.T) {
	dir := t.TempDir()
	p := bash(t)
	keepReading(t, p)
	typeIn(t, p, "cd "+dir+"\nnohup sleep 1000 >/dev/null 2>&1 & echo $! >nohup\n")
	pid := pidFrom(t, filepath.Join(dir, "nohup"))
	typeIn(t, p, "exit 5\nexit 5\n")
	if got, want := p.Wait(), (Exit{Code: 5}); got != want {
		t.Errorf("exit = %+v, want %+v", got, want)
	}
	p.Stop(0)
	p.Close()
	if !alive(pid) {
		t.Error("the job is gone")
	}
}

func TestCloseHangsUpTheRest(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	p := sh(t, `cat; echo $$ >"$1"; exec sleep 1000`, file)
	typeIn(t, p, "\x04")
	pid := pidFrom(t, file)
	p.Close()
	if got, want := p.Wait(), (Exit{Code: -1, Signal: "HUP"}); got != want {
		t.Errorf("exit of %d = %+v, want %+v", pid, got, want)
	}
}

func TestStop(t *testing.T) {
	for _, tt := range []struct {
		name, script string
		grace        time.Duration
		want         Exit
	}{
		{"takes its time to save", `trap "sleep 0.1; exit 7" TERM; trap "" HUP; echo ready; while :; do sleep 0.01; done`, patience, Exit{Code: 7}},
		{"dies of the hangup", `echo ready; exec sleep 1000`, patience, Exit{Code: -1, Signal: "HUP"}},
		{"ignores the hangup", `trap "" HUP; echo ready; exec sleep 1000`, patience, Exit{Code: -1, Signal: "TERM"}},
		{"misses the first hangup", `trap "" TERM; trap "trap - HUP" HUP; echo ready; while :; do sleep 0.01; done`, patience, Exit{Code: -1, Signal: "HUP"}},
		{"ignores all it can", `trap "" HUP TERM INT; echo ready; while :; do sleep 0.01; done`, 50 * time.Millisecond, Exit{Code: -1, Signal: "KILL"}},
		{"is halted", `trap "exit 8" HUP TERM; echo ready; kill -STOP $$; while :; do sleep 0.01; done`, patience, Exit{Code: 8}},
		{"no grace", `trap "" HUP TERM; echo ready; exec sleep 1000`, 0, Exit{Code: -1, Signal: "KILL"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := sh(t, tt.script)
			readUntil(t, p, "ready")
			if tt.name == "is halted" {
				eventually(t, "the halt", func() bool { return stateOf(p.Identity().PID) == 'T' })
			}
			var wg sync.WaitGroup
			for range 3 {
				wg.Go(func() {
					p.Stop(tt.grace)
					if !p.hasExited() {
						t.Error("Stop returned before the exit")
					}
				})
			}
			wg.Wait()
			p.Stop(tt.grace)
			if got := p.Wait(); got != tt.want {
				t.Errorf("exit = %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestStopWaitsForNoZombie(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	// The job ends when its parent has become one that never waits for it.
	p := sh(t, `(until [ "$(cat /proc/$$/comm)" = sleep ]; do :; done) & echo $! >"$1"; exec sleep 1000`, file)
	pid := pidFrom(t, file)
	eventually(t, "the zombie", func() bool { return stateOf(pid) == 'Z' })
	for _, m := range members(p.Identity()) {
		if m == pid {
			t.Error("a zombie counts as a member of the session")
		}
	}
}

func stateOf(pid int) byte {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	var state byte
	for line := range strings.Lines(string(data)) {
		if _, err := fmt.Sscanf(line, "State:\t%c", &state); err == nil {
			return state
		}
	}
	return 0
}

// A process in an uninterruptible sleep does not die of SIGKILL.
func TestEndingIsBounded(t *testing.T) {
	p := sh(t, `exec sleep 1000`)
	looked := 0
	if await(p.Identity(), 20*time.Millisecond, func([]int) { looked++ }) {
		t.Error("await reports that a living session is gone")
	}
	if looked < 2 {
		t.Errorf("await looked %d times, want more", looked)
	}
}

func TestEndLeftoversEndsOnlyAnExactMatch(t *testing.T) {
	p := sh(t, `sleep 1000 & exec sleep 1000`)
	id := p.Identity()
	for _, tt := range []struct {
		name   string
		change func(*Identity)
	}{
		{"another start time", func(id *Identity) { id.Start++ }},
		{"no start time", func(id *Identity) { id.Start = 0 }},
		{"another boot", func(id *Identity) { id.Boot = "00000000-0000-0000-0000-000000000000" }},
		{"no boot id", func(id *Identity) { id.Boot = "" }},
		{"another pid", func(id *Identity) { id.PID = os.Getpid() }},
		{"no process", func(id *Identity) { id.PID = 1 << 30 }},
	} {
		other := id
		tt.change(&other)
		if Alive(other) || EndLeftovers(other) {
			t.Errorf("%s: taken for the program", tt.name)
		}
	}
	if !Alive(id) {
		t.Fatal("the program is not alive")
	}
	if !EndLeftovers(id) {
		t.Error("EndLeftovers = false")
	}
	if left := members(id); len(left) > 0 || Alive(id) {
		t.Errorf("left alive: %v", left)
	}
	if EndLeftovers(id) {
		t.Error("EndLeftovers again = true")
	}
}

func TestNumberOfAnotherSessionIsNotOurs(t *testing.T) {
	p := sh(t, `exec sleep 1000`)
	id := p.Identity()
	id.Start--
	if got := members(id); len(got) > 0 {
		t.Errorf("members of a session that is gone: %v", got)
	}
}

func TestSelfIsAlive(t *testing.T) {
	if self := Self(); !Alive(self) || self.PID != os.Getpid() {
		t.Errorf("Alive(%+v) = false", self)
	}
}

// The name of a program stands in the middle of its stat line.
func TestOddProgramNameDoesNotHideTheProgram(t *testing.T) {
	data, err := os.ReadFile("/bin/sleep")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a) Z 1 (b")
	if err := os.WriteFile(path, data, 0o700); err != nil {
		t.Fatal(err)
	}
	p := launch(t, Spec{Path: path, Argv: []string{"sleep", "1000"}})
	if !Alive(p.Identity()) {
		t.Errorf("Alive(%+v) = false", p.Identity())
	}
}
