package store

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// mountTmpfs returns a folder on a file system of its own, of size bytes.
func mountTmpfs(t *testing.T, size int) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root to mount a file system")
	}
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// Each round fills the disk up to a random fill, lets appends fail, makes
// room, and tries again: nothing may be missing or doubled.
func TestFullDiskLosesAndDoublesNothing(t *testing.T) {
	const page = 4096
	disk := mountTmpfs(t, 64*page)
	inPart := 0
	for _, segment := range []int64{1000, 3 * page, 1 << 20} {
		dir, ballast := filepath.Join(disk, "output"), filepath.Join(disk, "ballast")
		l := mustOpenLog(t, dir, logOptions{SegmentSize: segment})
		reader := newLogReader(dir, l.bounds)
		for _, size := range []int{10, page, 2*page + 5, 5 * page} {
			fillUp(t, ballast, 3*page)
			var err error
			for err == nil {
				_, end := l.bounds()
				err = l.append(outputFrom(end, size))
			}
			if !errors.Is(err, syscall.ENOSPC) {
				t.Fatalf("append on a full disk: %v, want %v", err, syscall.ENOSPC)
			}
			_, end := l.bounds()
			if l.written > end {
				inPart++
			}
			for range 2 { // still full
				if err := l.append(outputFrom(end, size)); !errors.Is(err, syscall.ENOSPC) {
					t.Fatalf("second try on a full disk: %v, want %v", err, syscall.ENOSPC)
				}
			}
			if got := spansOf(t, reader); len(got) > 1 || len(got) == 1 && got[0] != (span{0, end}) {
				t.Fatalf("on a full disk %v can be read, want 0 to %d", got, end)
			}
			if err := os.Remove(ballast); err != nil {
				t.Fatal(err)
			}
			mustAppend(t, l, size)
			wantSpans(t, dir, span{0, end + int64(size)})
		}
		reader.close()
		if err := errors.Join(l.close(), os.RemoveAll(dir)); err != nil {
			t.Fatal(err)
		}
	}
	if inPart < 3 {
		t.Errorf("only %d appends failed midway, the test shows nothing", inPart)
	}
}

// fillUp makes a file at path that leaves the disk room for free bytes.
func fillUp(t *testing.T, path string, free int64) {
	t.Helper()
	var st unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(path), &st); err != nil {
		t.Fatal(err)
	}
	n := int64(st.Bavail)*st.Bsize - free
	if n < 0 {
		t.Fatalf("the disk has no room for %d bytes", free)
	}
	writeFile(t, path, make([]byte, n))
}

func TestFullDiskLeavesTheJournalAsItWas(t *testing.T) {
	disk := mountTmpfs(t, 64<<10)
	path, ballast := filepath.Join(disk, "journal.jsonl"), filepath.Join(disk, "ballast")
	j := mustOpenJournal(t, path)
	small, big := testEntries()[0], testEntries()[2]
	big.Preview = strings.Repeat("p", 3000) // no multiple of a page
	mustRecord(t, j, small)
	fillUp(t, ballast, 0)
	want := []Entry{small}
	var err error
	for err == nil {
		if err = j.append(big); err == nil {
			want = append(want, big)
		}
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("append on a full disk: %v, want %v", err, syscall.ENOSPC)
	}
	next := wantEntries(t, path, 0, 0, want...)
	if j.size() != next {
		t.Errorf("size = %d, but the journal was read up to %d", j.size(), next)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	mustRecord(t, j, small)
	wantEntries(t, path, next, 0, small)
}

func TestForkToAnotherFileSystemCopies(t *testing.T) {
	src, dst := filepath.Join(t.TempDir(), "output"), filepath.Join(mountTmpfs(t, 1<<20), "output")
	mustAppend(t, mustOpenLog(t, src, logOptions{SegmentSize: 100}), 250)
	mustCopyLog(t, src, dst, 240)
	wantSegments(t, dst, 0, 100, 200, 240)
	wantSpans(t, dst, span{0, 240})
}

func TestForkOnAFullDiskFails(t *testing.T) {
	src, dst := filepath.Join(t.TempDir(), "output"), filepath.Join(mountTmpfs(t, 16<<10), "output")
	mustAppend(t, mustOpenLog(t, src, logOptions{}), 64<<10)
	if err := copyLog(src, dst, 64<<10); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("fork to a full disk: %v, want %v", err, syscall.ENOSPC)
	}
}

// A process that is killed at any step leaves every byte that a reader was
// shown, and the next writer goes on at the next offset.
func TestKilledWriterLosesNothing(t *testing.T) {
	if spec := os.Getenv("HOLDFAST_TEST_KILL"); spec != "" {
		appendUntilKilled(t, spec)
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []string{"write", "publish", "seal", "create", "remove", "sync"} {
		dir := t.TempDir()
		for _, nth := range []int{1, 2, 7} {
			cmd := exec.CommandContext(t.Context(), exe, "-test.run=^TestKilledWriterLosesNothing$")
			cmd.Env = append(os.Environ(), fmt.Sprintf("HOLDFAST_TEST_KILL=%s %d %s", step, nth, dir))
			cmd.Stderr = t.Output()
			shown, err := cmd.Output()
			if cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
				t.Fatalf("%s %d: the writer ended by itself: %v\n%s", step, nth, err, shown)
			}
			checkAfterKill(t, dir, step, string(shown))
		}
	}
}

const (
	killAppend  = 170 // bytes in one append
	killSegment = 100
	killKeep    = 1000
)

// appendUntilKilled is the child: it prints the end after each append.
func appendUntilKilled(t *testing.T, spec string) {
	var step, dir string
	var nth int
	if _, err := fmt.Sscan(spec, &step, &nth, &dir); err != nil {
		t.Fatal(err)
	}
	o := logOptions{SegmentSize: killSegment, Keep: killKeep}
	l := mustOpenLog(t, dir, o)
	l.opts.hook = func(s string) error {
		if s == step {
			if nth--; nth == 0 {
				return syscall.Kill(os.Getpid(), syscall.SIGKILL)
			}
		}
		return nil
	}
	for range 100 {
		mustAppend(t, l, killAppend)
		_, end := l.bounds()
		fmt.Println(end)
		if err := l.sync(); err != nil {
			t.Fatal(err)
		}
	}
}

func checkAfterKill(t *testing.T, dir, step, shown string) {
	t.Helper()
	_, end, err := folderBounds(dir)
	if err != nil {
		t.Fatal(err)
	}
	var last int64
	lines := bufio.NewScanner(strings.NewReader(shown))
	for lines.Scan() {
		if last, err = strconv.ParseInt(lines.Text(), 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	if end < last || last > 0 && end > last+killAppend {
		t.Errorf("killed at %q: end = %d, want %d to %d", step, end, last, last+killAppend)
	}
	l := mustOpenLog(t, dir, logOptions{SegmentSize: killSegment, Keep: killKeep})
	if _, got := l.bounds(); got != end {
		t.Errorf("killed at %q: opened at %d, want %d", step, got, end)
	}
	mustAppend(t, l, killAppend)
	oldest, end := l.bounds()
	if kept := end - oldest; kept < min(killKeep, end) || kept > killKeep+killSegment {
		t.Errorf("killed at %q: %d bytes are kept", step, kept)
	}
	wantSpans(t, dir, span{oldest, end})
}
