package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"holdfast/cli"
)

// supervised is prepare for a server that is started as by a service manager,
// with sockets that are open already.
func supervised(t *testing.T, store string, sockets []*os.File, env ...string) *serverProcess {
	t.Helper()
	p := prepare(t, "", store)
	p.Args = append([]string{"sh", "-c", `LISTEN_PID=$$ exec "$@"`, "sh", p.Path}, p.Args[1:]...)
	p.Path = "/bin/sh"
	p.ExtraFiles = sockets
	p.Env = append(p.Env, fmt.Sprintf("LISTEN_FDS=%d", len(sockets)), "LISTEN_FDNAMES=x:y", "WATCHDOG_USEC=1000000", "WATCHDOG_PID=1")
	p.Env = append(p.Env, env...)
	return p
}

// fileOf returns what a child inherits of a socket.
func fileOf(t *testing.T, socket interface{ File() (*os.File, error) }) *os.File {
	t.Helper()
	f, err := socket.File()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func listenTCP(t *testing.T, addr string) *net.TCPListener {
	t.Helper()
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	return ln.(*net.TCPListener)
}

func listenUnix(t *testing.T, path string, mode os.FileMode) *net.UnixListener {
	t.Helper()
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return ln.(*net.UnixListener)
}

// A notices is the socket on which a service manager is told.
type notices struct {
	t    *testing.T
	conn *net.UnixConn
}

func listenNotices(t *testing.T, name string) notices {
	t.Helper()
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return notices{t, conn}
}

// want checks the next message.
func (n notices) want(want string) {
	n.t.Helper()
	buf := make([]byte, 4096)
	n.conn.SetReadDeadline(time.Now().Add(patience))
	size, err := n.conn.Read(buf)
	if got := string(buf[:size]); err != nil || got != want {
		n.t.Errorf("service manager was told %q, %v; want %q", got, err, want)
	}
}

// wantNothingGiven checks that a program has nothing of a service manager's.
func wantNothingGiven(ts *testServer) {
	ts.t.Helper()
	got := ts.output(create(ts, "", "env; ls -l /proc/$$/fd").ID)
	if left := regexp.MustCompile(`(LISTEN|NOTIFY|WATCHDOG)_\w*|socket:`).FindAllString(got, -1); left != nil {
		ts.t.Errorf("a program has %q of the service manager's:\n%s", left, got)
	}
}

// wantAnswer checks that a server answers at a URL.
func wantAnswer(t *testing.T, url, token string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("request by the port: %v, %v", resp, err)
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
}

// The unix socket is where the store's own would be; a client came before the
// server.
func TestServeTakesTheSocketsOfAServiceManager(t *testing.T) {
	dir := shortStore(t)
	socket := filepath.Join(dir, "sock")
	tcp, unix := listenTCP(t, "127.0.0.1:0"), listenUnix(t, socket, 0o600)
	told := listenNotices(t, "@"+dir)
	early := make(chan error, 1)
	go func() {
		resp, err := unixClient(t, socket).Get("http://any/healthz")
		if err == nil {
			resp.Body.Close()
		}
		early <- err
	}()
	p := supervised(t, dir, []*os.File{fileOf(t, unix), fileOf(t, tcp)}, "NOTIFY_SOCKET=@"+dir)
	p.start(t)
	if err := p.announced(); err != nil {
		t.Fatal(err)
	}
	url := "http://" + tcp.Addr().String()
	if p.url != url {
		t.Errorf("listening on %s, want the socket that was handed over, %s", p.url, url)
	}
	told.want("READY=1\nSTATUS=listening on " + url)
	if err := <-early; err != nil {
		t.Errorf("client that was there before the server: %v", err)
	}
	if f, err := cli.ReadServerFile(dir); err != nil || f.Socket != socket || f.Address != url {
		t.Errorf("server.json = %+v, %v; want the sockets that were handed over", f, err)
	}
	wantAnswer(t, url+"/sessions", p.token)
	wantNothingGiven(p.client(t))

	p.Process.Signal(syscall.SIGTERM)
	told.want("STOPPING=1\nSTATUS=ending the programs")
	if err := p.wait(); err != nil {
		t.Error(err)
	}
	again := supervised(t, dir, []*os.File{fileOf(t, unix), fileOf(t, tcp)}, "NOTIFY_SOCKET="+dir+"/nobody")
	again.start(t)
	if err := again.announced(); err != nil {
		t.Fatal(err)
	}
	ts := again.client(t)
	if list := must[sessionList](ts, ts.do("GET", "/sessions", ""), 200); len(list.Sessions) != 1 {
		t.Errorf("sessions after a restart on the same sockets: %+v", list)
	}
	again.endOrderly()
	if want := `msg="service manager not told"`; !strings.Contains(again.logs.String(), want) {
		t.Errorf("no %s in the log:\n%s", want, again.logs)
	}
	if _, err := os.Lstat(socket); err != nil {
		t.Errorf("socket of the service manager after the end: %v", err)
	}
}

func TestSocketsThatCannotBeTaken(t *testing.T) {
	tcp := func() *os.File { return fileOf(t, listenTCP(t, "127.0.0.1:0")) }
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	path := filepath.Join(shortStore(t), "sock")
	shared := fileOf(t, listenUnix(t, path, 0o666))
	abstract, err := net.Listen("unix", "@"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer abstract.Close()
	for _, tt := range []struct {
		sockets []*os.File
		env     string
		args    string
		status  int
		want    string
	}{
		{[]*os.File{shared}, "", "", 1, "holdfast: other users can open the unix socket " + path + ", of mode 0666; its unit needs SocketMode=0600\n"},
		{[]*os.File{fileOf(t, abstract.(*net.UnixListener))}, "", "", 1, "holdfast: unix socket that was handed over: lstat @"},
		{[]*os.File{tcp(), tcp()}, "", "", 1, "holdfast: descriptor 4 is the second socket of its kind; hand over one TCP socket, one unix socket or both\n"},
		{[]*os.File{fileOf(t, udp.(*net.UDPConn))}, "", "", 1, "holdfast: descriptor 3 is no socket to listen on: "},
		{nil, "LISTEN_FDS=x", "", 1, "holdfast: LISTEN_FDS=\"x\" is no number of sockets\n"},
		{nil, "LISTEN_FDS=1", "", 1, "holdfast: descriptor 3 is no socket to listen on: "},
		{[]*os.File{tcp()}, "", "--listen 127.0.0.1:0", 2, "holdfast: --listen and a TCP socket that was handed over exclude each other; leave out one of them\n"},
		{[]*os.File{fileOf(t, listenTCP(t, "0.0.0.0:0"))}, "", "", 2, "can be reached from other machines, and anyone who reads the traffic can run programs; give --tls-cert"},
	} {
		p := supervised(t, shortStore(t), tt.sockets, tt.env)
		p.Args = append(p.Args, strings.Fields(tt.args)...)
		p.start(t)
		if err := p.announced(); err == nil {
			t.Errorf("serve listens; want %q", tt.want)
			p.kill()
		}
		if got := p.logs.String(); p.ProcessState.ExitCode() != tt.status || !strings.Contains(got, tt.want) {
			t.Errorf("status %d, %q; want %d, %q", p.ProcessState.ExitCode(), got, tt.status, tt.want)
		}
	}
}

// What was said to a parent is not for the server.
func TestSocketsOfAnotherProcessAreLeftAlone(t *testing.T) {
	dir := shortStore(t)
	tcp := listenTCP(t, "127.0.0.1:0")
	p := supervised(t, dir, []*os.File{fileOf(t, tcp)})
	p.Args = append([]string{"sh", "-c", `export LISTEN_PID=$$; "$@" & trap 'kill $!' TERM; wait; wait`, "sh"}, append(p.Args[4:], "--listen", "127.0.0.1:0")...)
	p.start(t)
	if err := p.announced(); err != nil {
		t.Fatal(err)
	}
	defer p.endOrderly()
	if p.url == "http://"+tcp.Addr().String() {
		t.Error("the server listens on the socket of another process")
	}
	wantNothingGiven(p.client(t))
}

// The units of the page are what systemd can load.
func TestTheUnitsOfThePage(t *testing.T) {
	blocks := regexp.MustCompile("(?ms)^```ini\n# (\\S+)\n(.*?)^```$").FindAllStringSubmatch(readPage(t, "docs/operations.md"), -1)
	if len(blocks) != 4 {
		t.Fatalf("docs/operations.md has %d units and drop-ins, want 4", len(blocks))
	}
	dir := t.TempDir()
	for _, b := range blocks {
		_, name, _ := strings.Cut(strings.Replace(b[1], "@.", "@root.", 1), "systemd/")
		_, name, _ = strings.Cut(name, "/") // behind user or system
		path, text := filepath.Join(dir, name), strings.ReplaceAll(b[2], "/usr/local/bin/holdfast", buildHoldfast(t))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(path, ".conf") {
			path = strings.TrimSuffix(filepath.Dir(path), ".d") // is verified with its unit
		}
		scope := "--system"
		if strings.Contains(b[1], "/user/") {
			scope = "--user"
		}
		verify := exec.CommandContext(t.Context(), "systemd-analyze", scope, "--man=no", "verify", path)
		verify.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir)
		// It may have something to say of units of the machine, too.
		if out, err := verify.CombinedOutput(); err != nil || bytes.Contains(out, []byte("holdfast")) {
			t.Errorf("systemd-analyze verify of %s: %v\n%s", b[1], err, out)
		}
	}
}
