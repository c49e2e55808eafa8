// Package store keeps sessions in a folder: a JSON file for what a session is,
// an append-only log for its output, and a small journal for all the rest.
//
//	<store>/                0700
//	  sessions/<id>/        0700
//	    session.json        0600, replaced atomically: Row
//	    journal.jsonl       0600, append-only: Entry
//	    output/             segments of raw bytes, append-only
//	  sessions/.new-<id>/   a session in the making
//	  locks/<id>.lock       not this package's; it only names the path
//	  trash/<id>/           a session on its way out
//
// # What is promised
//
//   - session.json, and any file written by ReplaceFile, is at every moment the
//     old or the new one, whole: after a crash of the process, a full disk, an
//     I/O error, or a power cut.
//   - A durable change survives a power cut from the moment the call returns.
//     One that is not durable survives the crash of the process; a power cut
//     may bring the state before it back.
//   - A session is created, and removed, by one rename: a crash leaves it whole
//     or not there. Leftovers finds what is to be cleared away then.
//   - A damaged session.json, or a newer version's, is never overwritten, and
//     its session is the only one that suffers. Members of the JSON object
//     that this version does not know survive a rewrite.
//   - What Append and Record took survives the crash of the process. A Writer
//     that finds another epoch in session.json writes nothing more; it looks at
//     each Update and Sync, and before an Append or Record that comes after a
//     second without.
//   - Whoever follows a session, in this process or another, misses no byte and
//     gets none twice.
//
// This holds on file systems with POSIX rename: ext4, xfs, btrfs, tmpfs (less
// the power cut), NFSv4, CephFS.
//
// # What is not promised
//
//   - Appended output and journal entries are not durable before Sync; a power
//     cut can take what came after it.
//   - The epoch is the second line of defence. The first is a lease, which the
//     caller takes: Create, OpenWriter and Remove must be called under it.
//   - A change by hand to session.json while a Writer is open may be
//     overwritten.
//   - On Windows folders cannot be synced, and a replacement fails while
//     another program has the file open.
//   - On network file systems another host's change is seen as late as their
//     attribute caches allow. Two changes within one tick of the file
//     server's clock are told apart only while its clock and ours agree within
//     a tenth of a second.
//
// # Concurrency
//
// A Store and its Writers may be used from any goroutine; a Follower belongs to
// one. Lock order: Writer.syncMu, Writer.mu, Store.mu, hub.mu: an update ends by
// publishing in the store and waking the hub's followers. Store.mu and hub.mu
// are never held over I/O.
package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"holdfast/metrics"
)

const (
	sessionFile = "session.json"
	journalFile = "journal.jsonl"
	outputDir   = "output"

	// newMark begins the name of the folder in which a session is made.
	newMark = ".new-"
)

// Options say how a store is kept.
type Options struct {
	Boot        string // this start of the machine; "" if not known
	SegmentSize int64  // bytes in a segment of the output log; 0: 8 MiB
	Keep        int64  // bytes of output to keep for each session; 0: all
}

// A Store is one folder of sessions.
type Store struct {
	dir     string
	options Options
	hook    hook // nil outside tests; set before the first use
	meter   Meter

	mu   sync.Mutex      // guards the fields below; order in the package doc
	rows map[string]seen // what was last read of sessions without a writer here
	hubs map[string]*hub // sessions that this process writes or follows

	rowsMu sync.Mutex // makes Rows read once for all who ask meanwhile; held over I/O; guards found
	found  found
}

// Open makes dir a store if it is none, with folders of mode 0700, and opens
// it. A folder that other users can change is refused: what is in it may be
// theirs. It reads no session.
func Open(dir string, o Options) (*Store, error) {
	s := &Store{
		dir:     dir,
		options: o,
		rows:    make(map[string]seen),
		hubs:    make(map[string]*hub),
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("open store: %s is not a directory", dir)
	}
	for _, sub := range []string{"sessions", "locks", "trash"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return nil, fmt.Errorf("open store: %w", err)
		}
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0 {
		return nil, errors.New("open store: other users can change its folder; chmod go-w it, and check what is in it")
	}
	return s, nil
}

// A Meter has what a Store has done since Open, in this process. Its fields may
// be read at any time.
type Meter struct {
	Appended atomic.Int64      // bytes of output
	Appends  metrics.Histogram // of output to a log, one for each Append that worked
	Syncs    metrics.Histogram // of files with output: how long the disk took
}

// Meter returns what the store counts.
func (s *Store) Meter() *Meter { return &s.meter }

// Followers returns how many Followers are open.
func (s *Store) Followers() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, h := range s.hubs {
		n += h.followers
	}
	return n
}

// Dir returns the store's folder, as it was given to Open.
func (s *Store) Dir() string { return s.dir }

// LockPath returns the path of the lease file of a session. It panics if id is
// not valid: a path must not be made of it.
func (s *Store) LockPath(id string) string {
	if !ValidID(id) {
		panic(fmt.Sprintf("store: lock path of an invalid id %q", id))
	}
	return filepath.Join(s.dir, "locks", id+".lock")
}

// IDs returns the ids of all sessions, damaged ones too, sorted.
func (s *Store) IDs() ([]string, error) {
	entries, err := os.ReadDir(s.sessions())
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	ids := make([]string, 0, len(entries))
	for _, e := range entries {
		if e.IsDir() && ValidID(e.Name()) {
			ids = append(ids, e.Name())
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.rows {
		if _, found := slices.BinarySearch(ids, id); !found {
			delete(s.rows, id)
		}
	}
	return ids, nil
}

// Leftovers returns the ids of sessions whose creation or removal was cut
// short by a crash, or is under way in another process. Clear, called under the
// session's lease, clears one away.
func (s *Store) Leftovers() ([]string, error) {
	var ids []string
	for sub, mark := range map[string]string{"sessions": newMark, "trash": ""} {
		entries, err := os.ReadDir(filepath.Join(s.dir, sub))
		if err != nil {
			return nil, fmt.Errorf("list leftovers: %w", err)
		}
		for _, e := range entries {
			if id, ok := strings.CutPrefix(e.Name(), mark); ok && ValidID(id) {
				ids = append(ids, id)
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// Torn returns the ids of sessions whose session.json was being replaced when
// a process died, or is by another process. OpenWriter, called under the
// session's lease, removes what is left of that. It looks at each folder.
func (s *Store) Torn() ([]string, error) {
	temps, err := fs.Glob(os.DirFS(s.dir), "sessions/*/."+sessionFile+tempMark+"*")
	if err != nil {
		return nil, fmt.Errorf("list temp files: %w", err)
	}
	var ids []string
	for _, temp := range temps {
		if id := path.Base(path.Dir(temp)); ValidID(id) {
			ids = append(ids, id)
		}
	}
	return slices.Compact(ids), nil
}
