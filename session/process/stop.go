//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package process

import (
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// leftoverGrace is how long EndLeftovers waits before it kills.
	leftoverGrace = 2 * time.Second

	// hangupAgain is after how long a program that is still there gets SIGHUP
	// once more: a shell that is just starting may lose the first.
	hangupAgain = 500 * time.Millisecond

	// Between two looks at a session that is being ended the pause doubles
	// from shortPause to longPause.
	shortPause = time.Millisecond
	longPause  = 50 * time.Millisecond
)

// Stop ends the program and every process of its kernel session. The program's
// process group gets SIGHUP, SIGCONT and SIGTERM, and the first two again every
// 500 ms; once the program is gone, so do the jobs it left; what is left after grace gets SIGKILL. Stop returns when
// nothing is left, or when something outlives SIGKILL by 2 s. Further calls wait
// for the first. After a program has exited by itself Stop does nothing: jobs
// that survived the hangup stay.
func (p *Process) Stop(grace time.Duration) {
	p.stop.Do(func() {
		if p.hasExited() {
			return
		}
		endSession(p.id, grace)
		select {
		case <-p.exited:
		case <-time.After(killLimit):
		}
	})
}

// Self returns who this process is.
func Self() Identity { return identify(os.Getpid()) }

// Alive reports whether the process with this identity runs on this machine. It
// is false if the start time or the boot id is unknown.
func Alive(id Identity) bool {
	return id.Start != 0 && id.Boot != "" && id.Boot == BootID() && runs(id)
}

// EndLeftovers ends the kernel session that the process with this identity
// leads, as Stop does with a grace of 2 s, and reports whether it did. It does
// nothing unless pid, start time and boot id all match, nor to the session that
// this process is in.
func EndLeftovers(id Identity) (ended bool) {
	if own, err := unix.Getsid(0); err != nil || own == id.PID || !Alive(id) {
		return false
	}
	return endSession(id, leftoverGrace)
}

// endSession ends every process of the kernel session that id leads and reports
// whether none is left.
func endSession(id Identity, grace time.Duration) bool {
	if slices.Contains(members(id), id.PID) {
		for _, sig := range []unix.Signal{unix.SIGHUP, unix.SIGCONT, unix.SIGTERM} {
			_ = unix.Kill(-id.PID, sig) // it may be gone by now
		}
	}
	told, again := false, time.Now().Add(hangupAgain)
	if await(id, grace, func(left []int) {
		if slices.Contains(left, id.PID) {
			if now := time.Now(); now.After(again) {
				again = now.Add(hangupAgain)
				_ = unix.Kill(-id.PID, unix.SIGHUP)
				_ = unix.Kill(-id.PID, unix.SIGCONT)
			}
			return
		}
		if told {
			return
		}
		told = true
		for _, pid := range left {
			signalMember(id, pid, unix.SIGHUP, unix.SIGCONT, unix.SIGTERM)
		}
	}) {
		return true
	}
	return await(id, killLimit, func(left []int) {
		for _, pid := range left {
			signalMember(id, pid, unix.SIGKILL)
		}
	})
}

// await looks at the session until nothing is left, which it reports, or the
// limit is over. Each time it calls act with what is left.
func await(id Identity, limit time.Duration, act func(left []int)) bool {
	end := time.Now().Add(limit)
	for pause := shortPause; ; pause = min(2*pause, longPause) {
		left := members(id)
		if len(left) == 0 {
			return true
		}
		act(left)
		if !time.Now().Before(end) {
			return false
		}
		time.Sleep(min(pause, time.Until(end)))
	}
}
