package leasefs

import (
	"strings"
	"testing"
)

const mountinfo = `22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard,errors=remount-ro
40 27 0:40 / /mnt/v3 rw,relatime shared:7 - nfs server:/x rw,vers=3,nolock,proto=tcp,local_lock=all
41 27 0:41 / /mnt/v4 rw,relatime shared:8 master:2 - nfs4 server:/x rw,vers=4.2,hard,local_lock=none,addr=192.0.2.1
42 27 0:42 / /mnt/flock rw,relatime - nfs server:/x rw,vers=3,local_lock=flock
43 27 0:43 / /mnt/posix rw,relatime - nfs server:/x rw,vers=3,local_lock=posix
44 27 0:44 / /mnt/smb rw,relatime - cifs //server/x rw,vers=3.1.1,nobrl
45 27 0:45 / /mnt/nolock\040nolock rw,relatime - ext4 /dev/nolock rw
46 27 0:46 / /mnt/none rw,relatime - tmpfs  rw,size=4k
47 27 0:47 / /mnt/short rw
48 27 0:48 / /mnt/view rw,nosuid - fuse /srv/real rw,user_id=0,group_id=0,allow_other
49 27 0:49 / /mnt/ssh rw,nosuid - fuse.sshfs me@server:/srv rw,user_id=0,group_id=0
50 27 0:50 / /mnt/gluster rw - fuse.glusterfs server:/volume rw,user_id=0,group_id=0
51 27 0:51 / /mnt/lxc rw - fuse lxcfs rw,user_id=0,group_id=0
52 27 0:52 / /mnt/ntfs rw - fuseblk /dev/sdb1 rw,user_id=0,group_id=0
`

func TestMountsWhoseLocksStayOnThisHost(t *testing.T) {
	for id, want := range map[string]string{
		"22": "", "27": "", "41": "", "45": "", "46": "", "47": "", "50": "", "51": "", "52": "", "4": "", "": "",
		"40": "nfs is mounted with nolock,", "42": "nfs is mounted with local_lock=flock,", "43": "nfs is mounted with local_lock=posix,",
		"44": "cifs is mounted with nobrl,", "48": "a mount of fuse keeps", "49": "a mount of fuse.sshfs keeps",
	} {
		why := localLock(mountinfo, id)
		if !strings.HasPrefix(why, want) || want == "" && why != "" {
			t.Errorf("mount %q: %q, want %q", id, why, want)
		}
	}
}

func TestMountIDOfAnOpenFile(t *testing.T) {
	if got, want := mountID("pos:\t0\nflags:\t0100000\nmnt_id:\t40\nino:\t7\n"), "40"; got != want {
		t.Errorf("mount id %q, want %q", got, want)
	}
	if got := mountID("pos:\t0\n"); got != "" {
		t.Errorf("mount id %q, want none", got)
	}
}

func TestWhatIsNoLocalDisk(t *testing.T) {
	for _, dir := range []string{"/proc", "/sys", "/nonexistent"} {
		if onLocalDisk(dir) {
			t.Errorf("%s counts as a disk of this machine", dir)
		}
	}
}
