package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"holdfast/session"
)

// echoes is a program that shows each line that is typed.
var echoes = []string{"--", "sh", "-c", "stty -echo; echo ready; exec cat"}

// served starts a server with one session on a host, and returns its session.
func (h *sharedHost) served(t *testing.T, store string) (*serverProcess, *testServer, string) {
	t.Helper()
	p := startServerProcess(t, h.exe, store, echoes...)
	ts := &testServer{t: t, url: p.url}
	list := must[sessionList](ts, ts.doTCP("GET", "/sessions", "", bearer(p.token)...), http.StatusOK)
	id := list.Sessions[0].ID
	eventually(t, "the first output on "+h.name, func() bool { return h.hold(store, "", "export", "--raw", id).Stdout == "ready\r\n" })
	return p, ts, id
}

func (h *sharedHost) show(t *testing.T, store, id string) (v session.View) {
	t.Helper()
	got := h.hold(store, "", "show", "--json", id)
	if err := json.Unmarshal([]byte(got.Stdout), &v); err != nil {
		t.Fatalf("show on %s = %+v: %v", h.name, got, err)
	}
	return v
}

// wantRefused checks that a host is told who has a session.
func (h *sharedHost) wantRefused(t *testing.T, store, id string, pid int, host string) {
	t.Helper()
	line := regexp.MustCompile(fmt.Sprintf(`^holdfast: session is in use by pid %d on %s since `, pid, host))
	if got := h.hold(store, "", "run", "--resume", id); got.Status != 1 || !line.MatchString(got.Stderr) {
		t.Errorf("run --resume on %s = %+v, want %v", h.name, got, line)
	}
}

// Two hosts with one store on a file system that they share: who has a session
// has it for both, and loses it only with its life or its connection.
func TestHostsShareAStore(t *testing.T) {
	t.Parallel()
	v := newVolume(t)
	a, b := v.host("hosta"), v.host("hostb")
	t.Run("held there", func(t *testing.T) {
		store := filepath.Join(v.dir, "held")
		p, ts, id := a.served(t, store)
		pid := p.Process.Pid
		b.wantRefused(t, store, id, pid, "hosta")
		want := fmt.Sprintf("holdfast: store is in use by pid %d on hosta since ", pid)
		if got := b.hold(store, "", "serve", "--listen", "127.0.0.1:0"); got.Status != 1 || !strings.HasPrefix(got.Stderr, want) || !strings.Contains(got.Stderr, "another host") {
			t.Errorf("a second server = %+v, want %q", got, want)
		}
		for _, args := range [][]string{{"stop", id}, {"rm", id}, {"send", id, "x"}} {
			if got := b.hold(store, "", args...); got.Status != 1 || !strings.Contains(got.Stderr, "on hosta since") {
				t.Errorf("%q there = %+v, want it refused", args, got)
			}
		}
		watcher := b.onTerminal(t, store, "attach", id)
		watcher.see("ready")
		watcher.press("not typed\r")
		watcher.see("only watches: session is in use by pid ")
		watcher.see("holdfast> ")
		watcher.press("\x1b")
		ts.doTCP("POST", "/input", "hello\r", bearer(p.token)...)
		watcher.see("hello\r\n")
		if log := b.hold(store, "", "export", "--raw", id).Stdout; log != "ready\r\nhello\r\n" {
			t.Errorf("the log has %q there", log)
		}

		p.Process.Signal(syscall.SIGSTOP)
		b.wantRefused(t, store, id, pid, "hosta")
		p.Process.Signal(syscall.SIGCONT)
		p.kill()
		if got := b.hold(store, "", "run", "--resume", id); got.Status != 0 || !strings.HasPrefix(got.Stdout, "ready") {
			t.Errorf("run after kill -9 there = %+v", got)
		}
		if v := a.show(t, store, id); v.State != "ended" || v.Runs != 2 {
			t.Errorf("the first host shows %+v, want the second run's end", v)
		}
	})
	t.Run("cut off", func(t *testing.T) {
		a.cutOff(t, b, filepath.Join(v.dir, "cut"))
	})
	t.Run("without its client", func(t *testing.T) {
		store := filepath.Join(v.dir, "client")
		m := a.onTerminal(t, store, append([]string{"run", "--name", "it"}, echoes...)...)
		m.see("ready")
		id := b.show(t, store, "it").ID
		program := b.show(t, store, id).PID
		syscall.Kill(a.client, syscall.SIGKILL)
		eventually(t, "the lease on the other host", func() bool { return b.hold(store, "", "run", "--resume", id).Status == 0 })
		eventually(t, "the end of the quiet program", func() bool { return syscall.Kill(program, 0) == syscall.ESRCH })
	})
}

// cutOff has a session on h, cuts the host off, and lets other go on with it:
// h ends its program and its server, and writes nothing more, also when it is
// back.
func (h *sharedHost) cutOff(t *testing.T, other *sharedHost, store string) {
	p, ts, id := h.served(t, store)
	program := h.show(t, store, id).PID
	h.link.set(true)
	eventually(t, "the lease on the other host", func() bool { return other.hold(store, "", "run", "--resume", id).Status == 0 })
	m := other.onTerminal(t, store, "run", "--resume", id)
	m.see("ready")
	m.press("theirs\r")
	m.see("theirs\r\n")
	before := other.hold(store, "", "export", "--raw", id).Stdout
	h.link.set(false)
	if resp, err := http.DefaultClient.Do(ts.request("POST", "/input", "late\r", bearer(p.token)...)); err == nil { // or the server has ended
		resp.Body.Close()
	}
	eventually(t, "the end of its program", func() bool { return syscall.Kill(program, 0) == syscall.ESRCH })
	eventually(t, "the true holder on the first host", func() bool {
		got := h.hold(store, "", "show", "--json", id) // which fails until the host has found back
		var v session.View
		return got.Status == 0 && json.Unmarshal([]byte(got.Stdout), &v) == nil && v.Holder != nil && v.Holder.Host == other.name && v.Holder.PID == m.cmd.Process.Pid
	})
	second := startServerProcess(t, other.exe, store, "--no-auto-resume")
	if err := p.wait(); p.ProcessState.ExitCode() != 1 || !strings.Contains(p.logs.String(), "the lease on the store was lost") {
		t.Errorf("the first host's server ends with %v:\n%s", err, p.logs)
	}
	if got := other.hold(store, "", "send", id, "x"); !strings.Contains(got.Stderr, "on "+other.name) {
		t.Errorf("send = %+v, want an answer of the second server", got)
	}
	if resp, err := http.Get(second.url + "/healthz"); err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("the second server: %v", err)
	}
	if _, err := exec.Command("nsenter", "--target", strconv.Itoa(second.Process.Pid), "--mount", "test", "-S", filepath.Join(store, "sock"), "-a", "-f", filepath.Join(store, "server.json")).Output(); err != nil {
		t.Errorf("files of the second server are gone: %v", err)
	}
	if after := other.hold(store, "", "export", "--raw", id).Stdout; after != before || !strings.Contains(after, "theirs") || strings.Contains(after, "late") {
		t.Errorf("the log was %q, and is %q", before, after)
	}
	m.press("more\r")
	m.see("more\r\n")
	if v := other.show(t, store, id); v.State != "running" || v.Runs != 3 {
		t.Errorf("the session is %+v", v)
	}
	if got := other.hold(store, "", "doctor"); got.Status != 0 {
		t.Errorf("doctor = %+v", got)
	}
	m.press("\x04")
	if status := m.wait(); status != 0 {
		t.Errorf("the program ends with %d", status)
	}
}

// Two ways to one folder, of which one keeps locks to itself, would make two
// holders.
func TestAViewOfAFolderIsRefused(t *testing.T) {
	needFUSE(t)
	folder, view := t.TempDir(), t.TempDir()
	bindfs := exec.Command("bindfs", "-f", folder, view)
	bindfs.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := bindfs.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { exec.Command("umount", view).Run(); bindfs.Wait() })
	eventually(t, "the view", func() bool { return exec.Command("mountpoint", "-q", view).Run() == nil })
	for dir, want := range map[string]int{folder: 0, view: 1} {
		got := hold(t, filepath.Join(dir, "store"), "", "run", "--", "true")
		if got.Status != want || want == 1 && !strings.Contains(got.Stderr, "file locks cannot be relied on here: a mount of fuse") {
			t.Errorf("run in %s = %+v, want status %s", dir, got, strconv.Itoa(want))
		}
	}
}
