package process

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// BootID returns the machine's boot id, which is new after every boot, or "" if
// it is unknown.
func BootID() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(id))
}

// identify returns the identity of a process of this machine.
func identify(pid int) Identity {
	st, _ := readStat(pid) // the zero start is unknown
	return Identity{PID: pid, Start: st.start, Boot: BootID()}
}

// runs reports whether the process with this pid and start time is alive.
func runs(id Identity) bool {
	st, ok := readStat(id.PID)
	return ok && st.start == id.Start && !st.dead
}

// Getenv returns what a variable was when the process with this identity
// started its program, and whether that is known.
func Getenv(id Identity, name string) (string, bool) {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(id.PID) + "/environ")
	if err != nil || !runs(id) { // in this order: what was read is of this process
		return "", false
	}
	for entry := range bytes.SplitSeq(env, []byte{0}) {
		if value, ok := bytes.CutPrefix(entry, []byte(name+"=")); ok {
			return string(value), true
		}
	}
	return "", false
}

// members returns the living processes of the kernel session that id leads or
// led. A session's number is not given to a new process as long as the session
// has members; a leader with another start time means that ours had none left.
func members(id Identity) []int {
	if st, ok := readStat(id.PID); ok && st.start != id.Start {
		return nil
	}
	names := []string{strconv.Itoa(id.PID)} // all that is known without /proc, as when no descriptor is left
	if proc, err := os.Open("/proc"); err == nil {
		names, _ = proc.Readdirnames(-1) // what was read so far is as good
		proc.Close()
	}
	var found []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && isMember(id, pid) {
			found = append(found, pid)
		}
	}
	return found
}

// isMember reports whether pid is alive in the session of id. One of which
// nothing can be read counts as alive until it is reaped.
func isMember(id Identity, pid int) bool {
	sid, err := unix.Getsid(pid)
	if err != nil || sid != id.PID {
		return false
	}
	if st, ok := readStat(pid); ok {
		return !st.dead
	}
	_, err = unix.Getsid(pid)
	return err == nil // or it has just gone
}

// signalMember signals pid if it is still in the session of id. os.FindProcess
// holds on to the process by a pidfd, so that its successor is never hit.
func signalMember(id Identity, pid int, signals ...unix.Signal) {
	proc, err := os.FindProcess(pid)
	if err != nil {
		return
	}
	defer proc.Release()
	if sid, err := unix.Getsid(pid); err != nil || sid != id.PID {
		return
	}
	for _, sig := range signals {
		_ = proc.Signal(sig) // it may be gone by now
	}
}

// procStat is what the package reads of /proc/PID/stat, see proc(5).
type procStat struct {
	dead  bool   // a zombie without living threads
	start uint64 // clock ticks from boot to its start
}

func readStat(pid int) (st procStat, ok bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return st, false
	}
	// The second field is the program's name in parentheses; it may hold any
	// byte.
	f := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	if len(f) < 20 {
		return st, false
	}
	state, threads := f[0][0], string(f[17])
	st.dead = (state == 'Z' || state == 'X') && threads <= "1"
	st.start, err = strconv.ParseUint(string(f[19]), 10, 64)
	return st, err == nil
}
