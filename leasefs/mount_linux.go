package leasefs

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Mount options that keep locks from other hosts, though each host by itself
// finds them in order. NFS says local_lock=none when all is well.
var localLocks = map[string]bool{
	"nolock":           true, // NFS 3
	"local_lock=all":   true, // NFS
	"local_lock=flock": true,
	"local_lock=posix": true,
	"nobrl":            true, // SMB
	"localflocks":      true, // OCFS2, GFS2
	"localflock":       true, // Lustre
}

// checkMount fails with ErrUnsafe if f is on a mount whose locks do not leave
// this host. Where the kernel does not tell the mount, there is nothing to
// refuse.
func checkMount(f *os.File) error {
	info, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", f.Fd()))
	if err != nil {
		return nil
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	kind, option := localLock(string(mounts), mountID(string(info)))
	if option == "" {
		return nil
	}
	return fmt.Errorf("%w: %s is mounted with %s, so other hosts do not see them", ErrUnsafe, kind, option)
}

// mountID returns the mount of an open file from its fdinfo, or "".
func mountID(fdinfo string) string {
	for line := range strings.Lines(fdinfo) {
		if id, found := strings.CutPrefix(line, "mnt_id:"); found {
			return strings.TrimSpace(id)
		}
	}
	return ""
}

// localLock returns the kind of file system of the mount with that id and the
// option that makes its locks local, or "" if there is none. See proc(5) for
// the format: id, parent, device, root, mount point, options, any number of
// tags, a dash, the kind, the source, more options.
func localLock(mountinfo, id string) (kind, option string) {
	for line := range strings.Lines(mountinfo) {
		mount, super, found := strings.Cut(line, " - ")
		own, rest := strings.Fields(mount), strings.Fields(super)
		if !found || len(own) < 6 || len(rest) < 2 || own[0] != id {
			continue
		}
		for o := range strings.SplitSeq(own[5]+","+rest[len(rest)-1], ",") {
			if localLocks[o] {
				return rest[0], o
			}
		}
	}
	return "", ""
}

// onLocalDisk reports whether dir is on a file system that no server has a part
// in.
func onLocalDisk(dir string) bool {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return false
	}
	switch uint32(st.Type) { // 32 bits wide in some architectures, and signed
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, unix.TMPFS_MAGIC:
		return true
	}
	return false
}
