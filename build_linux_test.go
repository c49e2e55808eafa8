package main

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"holdfast/session"
)

// shellOutput runs a script and returns what it prints. Env is added to our own.
func shellOutput(t *testing.T, dir, script string, env ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-euc", script)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", script, err, out, &stderr)
	}
	return string(out)
}

// What is released is the same bytes wherever and by whomever it is built, and
// runs on a machine that has nothing.
func TestABuildIsReproducible(t *testing.T) {
	t.Parallel()
	target := "linux/" + runtime.GOARCH
	var packages, dirs []string
	for _, env := range [][]string{
		{"GOFLAGS=", "LC_ALL=C"},
		{"GOFLAGS=-race", "GOAMD64=v3", "GOOS=plan9", "LC_ALL=C.UTF-8", "TZ=Asia/Tokyo"},
	} {
		dir := t.TempDir()
		shellOutput(t, ".", `tar -cf - --exclude=node_modules --exclude=./dist --exclude=./.cache . | tar -C "$TO" -xf -`, "TO="+dir)
		out := shellOutput(t, dir, "umask 077; scripts/build "+target, env...)
		shellOutput(t, dir+"/dist", "sha256sum --check --strict SHA256SUMS")
		packages = append(packages, filepath.Join(dir, strings.TrimSpace(out)))
		dirs = append(dirs, dir)
	}
	var sums [2][sha256.Size]byte
	for i, p := range packages {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		sums[i] = sha256.Sum256(b)
	}
	if sums[0] != sums[1] {
		t.Errorf("two builds of %s differ: %v", target, packages)
	}
	version := strings.TrimSpace(shellOutput(t, dirs[0], "git describe --tags --always --dirty"))
	shellOutput(t, dirs[0], "tar -xzf "+packages[0])
	wantPackage(t, filepath.Join(dirs[0], "holdfast-"+version+"-linux-"+runtime.GOARCH), version)
}

// wantPackage checks what is in a package that was unpacked.
func wantPackage(t *testing.T, dir, version string) {
	t.Helper()
	exe := filepath.Join(dir, "holdfast")
	const most = 12 << 20
	if info, err := os.Stat(exe); err != nil || info.Size() > most || info.Mode().Perm() != 0o755 {
		t.Fatalf("binary: %v, %v; want mode 0755 and at most %d bytes", info, err, most)
	}
	bin, err := elf.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer bin.Close()
	for _, p := range bin.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("the binary is not static: it has %v", p.Type)
		}
	}
	for _, s := range bin.Sections {
		if s.Name == ".symtab" || strings.HasPrefix(s.Name, ".debug") || strings.HasPrefix(s.Name, ".zdebug") {
			t.Errorf("the binary is not stripped: it has %s", s.Name)
		}
	}
	want := fmt.Sprintf("holdfast %s (%s, linux/%s)\n", version, runtime.Version(), runtime.GOARCH)
	if got := shellOutput(t, dir, "./holdfast version"); got != want {
		t.Errorf("version prints %q, want %q", got, want)
	}
	if got := shellOutput(t, dir, "./holdfast help --man | cmp - holdfast.1; groff -ww -man -Tutf8 holdfast.1 2>&1 >/dev/null"); got != "" {
		t.Errorf("the manual page has faults:\n%s", got)
	}
	for _, sh := range []string{"bash", "zsh", "fish"} {
		shellOutput(t, dir, "./holdfast completion "+sh+" | cmp - completion."+sh+" && "+sh+" -n completion."+sh)
	}
	for _, name := range []string{"README.md", "CHANGELOG.md", "docs/operations.md"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Errorf("package: %v", err)
		}
	}
}

// The manual page has each command and each flag once more than the help: not
// a word of it is written twice.
func TestTheManualPageIsTheHelp(t *testing.T) {
	var page bytes.Buffer
	if err := run(t.Context(), []string{"help", "--man"}, &page, io.Discard); err != nil {
		t.Fatal(err)
	}
	groff := exec.CommandContext(t.Context(), "groff", "-man", "-Tascii", "-P-cbou")
	groff.Stdin = &page
	out, err := groff.Output()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(strings.Fields(string(out)), " ")
	for _, c := range commands() {
		var help bytes.Buffer
		run(t.Context(), []string{c.name, "--help"}, &help, io.Discard)
		want := strings.Join(strings.Fields(strings.ReplaceAll(help.String(), "usage: ", "")), " ")
		if !strings.Contains(got, c.name+" "+want) {
			t.Errorf("the manual page has not the help of %s:\n%s\nin\n%s", c.name, want, got)
		}
	}
}

// The only things a server talks to are its machine's loopback and unix
// sockets: it runs where there is no network at all.
func TestNoNetworkIsNeeded(t *testing.T) {
	dir := shortStore(t)
	trace := filepath.Join(t.TempDir(), "trace")
	space, enter := []string{"unshare", "--net"}, []string{"nsenter", "--net"}
	if os.Geteuid() != 0 {
		space, enter = append(space, "--map-root-user"), append(enter, "--user", "--preserve-credentials")
	}
	p := prepare(t, buildHoldfast(t), dir, "--listen", "127.0.0.1:0")
	serve := p.Args
	p.Args = append(space, "sh", "-euc", `ip link set lo up; exec strace -D -f -qq -s 256 -e trace=network -e signal=none -o "$TRACE" "$@"`, "sh", p.Path)
	p.Args = append(p.Args, serve[1:]...)
	p.Env = append(p.Env, "TRACE="+trace)
	var err error
	if p.Path, err = exec.LookPath("unshare"); err != nil {
		t.Fatal(err)
	}
	p.start(t)
	if err := p.announced(); err != nil {
		t.Fatal(err)
	}
	ts := p.client(t)
	v := must[session.View](ts, ts.do("POST", "/new", `{"argv":["bash","-c","echo hello; read x; echo got $x; read y"]}`), http.StatusCreated)
	ts.do("POST", "/input?enter=1", "42")
	ts.awaitOutput(v.ID, "got 42")
	curl := append(enter, "--target", fmt.Sprint(p.Process.Pid), "curl", "-fsS", "-H", "Authorization: Bearer "+p.token, p.url+"/", p.url+"/sessions/"+v.ID+"/output")
	if out, err := exec.CommandContext(t.Context(), curl[0], curl[1:]...).CombinedOutput(); err != nil || !bytes.Contains(out, []byte("<title>")) || !bytes.Contains(out, []byte("got 42")) {
		t.Errorf("by the port: %v\n%s", err, out)
	}
	ts.do("POST", "/stop", "")
	p.endOrderly()
	wantLoopback(t, trace)
}

// wantLoopback checks that a trace of system calls has no other sockets than
// loopback and unix ones.
func wantLoopback(t *testing.T, trace string) {
	t.Helper()
	b, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]int)
	family := regexp.MustCompile(`(?:sa_family=|socket(?:pair)?\()(AF_\w+)`)
	address := regexp.MustCompile(`sin_addr=inet_addr\("127\.0\.0\.1"\)|inet_pton\(AF_INET6, "(::1|::ffff:127\.0\.0\.1)"`)
	for line := range strings.Lines(string(b)) {
		for _, m := range family.FindAllStringSubmatch(line, -1) {
			seen[m[1]]++
			inet := strings.Contains(m[0], "sa_family=AF_INET")
			if m[1] != "AF_UNIX" && m[1] != "AF_INET" && m[1] != "AF_INET6" || inet && !address.MatchString(line) {
				t.Errorf("a socket beyond this machine: %s", line)
			}
		}
	}
	if seen["AF_UNIX"] == 0 || seen["AF_INET"] == 0 {
		t.Errorf("the trace has %v; want the unix socket and the port", seen)
	}
}
