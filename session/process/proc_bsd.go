//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package process

import (
	"encoding/hex"

	"golang.org/x/sys/unix"
)

// BootID returns the machine's boot id, which is new after every boot, or "" if
// it is unknown. The BSDs have only the time of the boot, which also changes
// when the clock is set.
func BootID() string {
	if id, err := unix.Sysctl("kern.bootsessionuuid"); err == nil { // macOS
		return id
	}
	at, err := unix.SysctlRaw("kern.boottime")
	if err != nil {
		return ""
	}
	return hex.EncodeToString(at)
}

// identify returns the identity of a process of this machine. Its start time is
// unknown.
func identify(pid int) Identity { return Identity{PID: pid, Boot: BootID()} }

// runs is not known without a start time.
func runs(Identity) bool { return false }

// Getenv is not known of other processes here.
func Getenv(Identity, string) (string, bool) { return "", false }

// members returns id.PID as long as its process group exists. There is no cheap
// list of a kernel session here.
func members(id Identity) []int {
	if unix.Kill(-id.PID, 0) == unix.ESRCH {
		return nil
	}
	return []int{id.PID}
}

// signalMember signals the process group that pid leads.
func signalMember(_ Identity, pid int, signals ...unix.Signal) {
	for _, sig := range signals {
		_ = unix.Kill(-pid, sig) // it may be gone by now
	}
}
