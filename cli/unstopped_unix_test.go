//go:build unix

package cli

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// What the jobs of TestABackgroundJobIsNotStopped exit with.
const (
	jobStopped = 10 + iota
	jobInForeground
	jobFailed
)

// TestMain lets the test binary stand in for a shell and for its job.
func TestMain(m *testing.M) {
	switch os.Getenv("CLI_TEST_AS") {
	case "shell":
		os.Exit(asShell())
	case "job":
		os.Exit(asJob())
	}
	os.Exit(m.Run())
}

// asShell runs a job in the background of the terminal that it leads, and ends
// as that does. A job that is stopped is killed.
func asShell() int {
	job := exec.Command(os.Args[0])
	job.Env = append(os.Environ(), "CLI_TEST_AS=job")
	job.Stdin, job.Stderr = os.Stdin, os.Stderr
	job.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := job.Start(); err != nil {
		return jobFailed
	}
	var status unix.WaitStatus
	for {
		_, err := unix.Wait4(job.Process.Pid, &status, unix.WUNTRACED, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return jobFailed
		case status.Stopped():
			unix.Kill(job.Process.Pid, unix.SIGKILL)
			return jobStopped
		}
		return status.ExitStatus()
	}
}

func asJob() int {
	front, err := unix.IoctlGetInt(0, unix.TIOCGPGRP)
	if err != nil || front == unix.Getpgrp() {
		return jobInForeground
	}
	t := &tty{in: os.Stdin, typed: true}
	if err := t.raw(); err != nil {
		return jobFailed
	}
	t.cook()
	return 0
}

// Whoever sets a terminal that is another job's is stopped, unless it asks not
// to be: a holder of programs must not be.
func TestABackgroundJobIsNotStopped(t *testing.T) {
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer tty.Close()
	shell := exec.Command(os.Args[0])
	shell.Env = append(os.Environ(), "CLI_TEST_AS=shell")
	shell.Stdin, shell.Stderr = tty, os.Stderr
	shell.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	shell.Run()
	switch status := shell.ProcessState.ExitCode(); status {
	case 0:
	case jobStopped:
		t.Error("a job in the background was stopped for setting the terminal")
	default:
		t.Errorf("the job ended with %d", status)
	}
}
