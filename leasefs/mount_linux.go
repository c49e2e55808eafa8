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

// File systems that hand no locks on to what is behind them.
var localKinds = map[string]bool{
	"fuse.bindfs": true,
	"fuse.rclone": true,
	"fuse.s3fs":   true,
	"fuse.sshfs":  true,
}

// checkMount fails with ErrUnsafe if f is on a mount whose locks do not leave
// this host. Where the kernel does not tell the mount, there is nothing to
// refuse.
func checkMount(f *file) error {
	info, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", f.Fd()))
	if err != nil {
		return nil
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	if why := localLock(string(mounts), mountID(string(info))); why != "" {
		return fmt.Errorf("%w: %s", ErrUnsafe, why)
	}
	return nil
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

// localLock says why the locks of the mount with that id do not leave it, or
// returns "". See proc(5) for the format: id, parent, device, root, mount
// point, options, any number of tags, a dash, the kind, the source, more
// options.
func localLock(mountinfo, id string) (why string) {
	for line := range strings.Lines(mountinfo) {
		mount, super, found := strings.Cut(line, " - ")
		own, rest := strings.Fields(mount), strings.Fields(super)
		if !found || len(own) < 6 || len(rest) < 2 || own[0] != id {
			continue
		}
		for o := range strings.SplitSeq(own[5]+","+rest[len(rest)-1], ",") {
			if localLocks[o] {
				return fmt.Sprintf("%s is mounted with %s, so other hosts do not see them", rest[0], o)
			}
		}
		// What bindfs mounts has the other folder as its source, and no kind.
		if view := rest[0] == "fuse" && strings.HasPrefix(rest[1], "/"); view || localKinds[rest[0]] {
			return fmt.Sprintf("a mount of %s keeps them to itself, and who comes to its files by another way does not see them", rest[0])
		}
	}
	return ""
}

// onLocalDisk reports whether dir is on a file system that no server has a part
// in.
func onLocalDisk(dir string) bool {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return false
	}
	switch uint32(st.Type) { // 32 bits wide in some architectures, and signed
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, unix.TMPFS_MAGIC,
		unix.OVERLAYFS_SUPER_MAGIC:
		return true
	}
	return false
}
