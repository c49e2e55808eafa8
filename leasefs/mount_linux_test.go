package leasefs

import "testing"

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
`

func TestMountsWhoseLocksStayOnThisHost(t *testing.T) {
	for _, test := range []struct{ id, kind, option string }{
		{"22", "", ""},
		{"27", "", ""},
		{"40", "nfs", "nolock"},
		{"41", "", ""},
		{"42", "nfs", "local_lock=flock"},
		{"43", "nfs", "local_lock=posix"},
		{"44", "cifs", "nobrl"},
		{"45", "", ""},
		{"46", "", ""},
		{"47", "", ""},
		{"4", "", ""},
		{"", "", ""},
	} {
		kind, option := localLock(mountinfo, test.id)
		if kind != test.kind || option != test.option {
			t.Errorf("mount %q: %q, %q, want %q, %q", test.id, kind, option, test.kind, test.option)
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
