package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"holdfast/cli"
	"holdfast/session"
)

// Whoever reads the log may go away, or read no more: the server goes on, and
// ends when it is told to.
func TestTheReaderOfTheLogGoesAway(t *testing.T) {
	for name, leave := range map[string]func(r *os.File){
		"closes": func(r *os.File) { r.Close() },
		"stalls": func(*os.File) {},
	} {
		t.Run(name, func(t *testing.T) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			if _, err := unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, 4096); err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(t.TempDir(), "store")
			cmd := exec.Command(buildHoldfast(t), "serve", "--store", dir, "--listen", "127.0.0.1:0", "--log-level", "debug")
			cmd.Stdout, cmd.Stderr = w, w
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer cmd.Process.Kill()
			w.Close()
			r.Read(make([]byte, 10)) // it has begun
			socket := filepath.Join(dir, "sock")
			waitFor(t, "the socket", func() bool { _, err := cli.ReadServerFile(dir); return err == nil })
			leave(r)
			ts := &testServer{t: t, url: "http://holdfast", unix: unixClient(t, socket)}
			for range 30 { // each logs two lines of more than 100 bytes
				v := must[session.View](ts, ts.do("POST", "/sessions", `{"argv":["true"]}`), http.StatusCreated)
				must[session.WaitResult](ts, ts.do("GET", "/sessions/"+v.ID+"/wait?for=exit", ""), http.StatusOK)
			}
			cmd.Process.Signal(syscall.SIGTERM)
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			select {
			case err := <-ended:
				if err != nil {
					t.Errorf("serve ended with %v", err)
				}
			case <-time.After(patience):
				t.Error("serve does not end")
			}
		})
	}
}
