package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"

	"holdfast/metrics"
)

const (
	// defaultSegmentSize is the size of a segment in bytes where the options
	// give none.
	defaultSegmentSize = 8 << 20

	// holeSize is how far a log moves on after a reboot, in bytes: more than
	// can have been appended since the last sync.
	holeSize = 1 << 30
)

// logOptions say how a log is cut into segments and how much of it is kept.
type logOptions struct {
	SegmentSize int64 // bytes; 0: 8 MiB
	Keep        int64 // the last Keep bytes are always kept; 0: all
	End         int64 // where the log is known to have ended; what is missing before it stays missing
	Hole        bool  // begin a new segment 1 GiB after the end

	Syncs *metrics.Histogram // how long each sync of a segment took; may be nil

	hook hook // nil but in tests
}

// An outputLog appends to the output of one session.
//
// The log is a folder of segments, each named after the offset of its first
// byte. Only the last segment grows; it is complete and closed before the
// next one is created. An offset is never used for two different bytes.
//
// A crash of the process loses nothing that was appended. A crash of the
// machine can lose what was appended since the last sync: the log is then
// opened with a hole, and readers are told the range.
//
// append is for one goroutine; bounds, sync and seal may be called by others
// meanwhile, seal also after close. close comes after all appends.
type outputLog struct {
	dir  string
	opts logOptions

	oldest, end atomic.Int64 // what readers may see

	appendMu sync.Mutex // serialises append and seal, over their I/O; guards the next fields; taken before mu
	file     *os.File   // the last segment; nil once it is sealed and no next one could be created, and after close
	written  int64      // where the next byte goes; past end after an append that failed midway
	sealed   int64      // bytes in all segments but the last

	syncMu sync.Mutex // serialises sync, and guards the next field; taken before mu, so that append never waits for the disk
	synced int64      // everything before this offset is on disk

	mu   sync.Mutex // guards the fields below; segs is changed with appendMu held too, which is enough to read it
	segs []segment  // on disk, ascending; the last one is being written
	lost error      // sticky: a sync or a close failed, so what is on disk is unknown
}

// A segment is a file of the log.
type segment struct {
	first int64 // offset of its first byte
	size  int64 // bytes; 0 while it is the last
}

// openLog opens the log in dir for its one writer and creates the folder if
// it is missing. It goes on in the last segment, unless that is full or has
// bytes that are shared by a hard link.
func openLog(dir string, o logOptions) (*outputLog, error) {
	if o.SegmentSize == 0 {
		o.SegmentSize = defaultSegmentSize
	}
	l := &outputLog{dir: dir, opts: o}
	if err := l.open(); err != nil {
		if l.file != nil {
			l.file.Close()
		}
		return nil, fmt.Errorf("open output: %w", err)
	}
	l.oldest.Store(l.firstByte())
	l.end.Store(l.written)
	l.prune()
	return l, nil
}

func (l *outputLog) open() error {
	if err := os.Mkdir(l.dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	firsts, err := listSegments(l.dir)
	if err != nil {
		return err
	}
	var last fs.FileInfo
	for _, first := range firsts {
		if last, err = os.Lstat(segmentPath(l.dir, first)); err != nil {
			return err
		}
		l.segs = append(l.segs, segment{first, last.Size()})
		l.sealed += last.Size()
		l.written = first + last.Size()
	}
	next := l.written
	if l.opts.Hole {
		next += holeSize
	}
	next = max(next, l.opts.End)
	switch {
	case next > l.written:
		l.written = next
	case last != nil && (last.Size() == 0 || last.Size() < l.opts.SegmentSize && !linked(last)):
		return l.reopen()
	default:
		return l.create()
	}
	// What is missing is on disk before the first byte after it can be seen.
	// After another power cut the next hole then begins after this one.
	if err := l.create(); err != nil {
		return err
	}
	return syncDir(l.dir)
}

// reopen makes the last segment on disk the one that is written.
func (l *outputLog) reopen() error {
	last := l.last()
	f, err := os.OpenFile(segmentPath(l.dir, last.first), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	l.file = f
	l.sealed -= last.size
	l.mu.Lock()
	last.size = 0
	l.mu.Unlock()
	return nil
}

// append adds p to the log: one write, or one for each segment it touches.
//
// After an error readers see the log as it was. The caller keeps p and calls
// again with the same bytes, or with the same and more: append goes on after
// those that it has written, so that none is missing and none doubled. A
// crash meanwhile, or giving up, leaves the written ones as the log's end.
func (l *outputLog) append(p []byte) error {
	l.appendMu.Lock()
	defer l.appendMu.Unlock()
	end := l.end.Load()
	goal := end + int64(len(p))
	for l.written < goal {
		if err := l.makeRoom(); err != nil {
			return fmt.Errorf("append output: %w", err)
		}
		first := l.last().first
		to := min(goal, first+l.opts.SegmentSize)
		err := l.opts.hook.at("write")
		if err == nil {
			var n int
			n, err = l.file.WriteAt(p[l.written-end:to-end], l.written-first)
			l.written += int64(n)
		}
		if err != nil {
			return fmt.Errorf("append output: %w", err)
		}
	}
	if err := l.opts.hook.at("publish"); err != nil {
		return fmt.Errorf("append output: %w", err)
	}
	l.end.Store(goal)
	l.prune()
	return nil
}

// makeRoom leaves a last segment that can take a byte.
func (l *outputLog) makeRoom() error {
	if l.file == nil {
		return l.create()
	}
	if l.written-l.last().first < l.opts.SegmentSize {
		return nil
	}
	return l.next()
}

// seal begins a new segment, so that no byte comes to those that are there, and
// returns its offset: the end of the log, unless an append has failed midway or
// the log is closed. Then the last segment stays as it is.
func (l *outputLog) seal() (end int64, err error) {
	l.appendMu.Lock()
	defer l.appendMu.Unlock()
	end = l.end.Load()
	if l.file == nil || l.written != end || l.last().first == end {
		return end, nil
	}
	info, err := l.file.Stat()
	if err == nil && info.Size() != end-l.last().first {
		return end, nil // a write that met its error midway does not tell how far it came
	}
	if err == nil {
		err = l.next()
	}
	if err != nil && l.file == nil { // there was no room for another file
		err = errors.Join(err, l.reopen())
	}
	if err != nil {
		return 0, fmt.Errorf("seal output: %w", err)
	}
	return end, nil
}

// next goes on to a new segment.
func (l *outputLog) next() error {
	size := l.written - l.last().first
	if err := l.opts.hook.at("seal"); err != nil {
		return err
	}
	// Closed before its successor exists: on NFS that makes its size known
	// to the other hosts, which would take a short segment for a gap.
	if err := l.file.Close(); err != nil {
		l.lose(err)
		return err
	}
	l.file = nil
	l.mu.Lock()
	l.last().size = size
	l.mu.Unlock()
	l.sealed += size
	return l.create()
}

// create begins the segment at l.written.
func (l *outputLog) create() error {
	if err := l.opts.hook.at("create"); err != nil {
		return err
	}
	f, err := os.OpenFile(segmentPath(l.dir, l.written), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	l.file = f
	l.mu.Lock()
	l.segs = append(l.segs, segment{first: l.written})
	l.mu.Unlock()
	return nil
}

// prune removes whole segments from the front, as long as Keep bytes remain.
// It never removes the last. One that cannot be removed is tried again after
// the next append.
func (l *outputLog) prune() {
	for l.opts.Keep > 0 && len(l.segs) > 1 {
		rest := l.sealed - l.segs[0].size + l.end.Load() - l.last().first
		if rest < l.opts.Keep || l.opts.hook.at("remove") != nil {
			return
		}
		err := os.Remove(segmentPath(l.dir, l.segs[0].first))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return
		}
		l.sealed -= l.segs[0].size
		l.mu.Lock()
		l.segs = l.segs[1:]
		l.mu.Unlock()
		l.oldest.Store(l.firstByte())
	}
}

// firstByte returns the offset of the first byte there is, or the end.
func (l *outputLog) firstByte() int64 {
	for _, s := range l.segs {
		if s.size > 0 {
			return s.first
		}
	}
	return l.last().first
}

func (l *outputLog) last() *segment { return &l.segs[len(l.segs)-1] }

// bounds returns the offset of the oldest byte that is kept and the offset
// after the newest. Any goroutine may call it.
func (l *outputLog) bounds() (oldest, end int64) {
	oldest = l.oldest.Load() // first: neither ever falls, so it is not past end
	return oldest, l.end.Load()
}
