package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"holdfast/state"
)

// An Entry is a line of a session's journal: something that happened to the
// session and is not output. Which fields are set depends on Kind.
type Entry struct {
	Kind string    `json:"kind"` // "run", "exit", "state", "size", "turn", "clock" or "modes"
	At   int64     `json:"at"`   // the log's end when it happened, in bytes
	Time time.Time `json:"time"` // UTC

	Run      int         `json:"run,omitempty"` // number of the run, from 1
	PID      int         `json:"pid,omitempty"`
	Cols     uint16      `json:"cols,omitempty"`
	Rows     uint16      `json:"rows,omitempty"`
	State    state.State `json:"state,omitempty"`
	Cause    state.Cause `json:"cause,omitempty"`
	ExitCode *int        `json:"exit_code,omitempty"`
	Signal   string      `json:"signal,omitempty"`
	Turn     int         `json:"turn,omitempty"`    // number of the turn, from 1
	Preview  string      `json:"preview,omitempty"` // the beginning of its input
	Modes    string      `json:"modes,omitempty"`   // what brings a fresh terminal to where the output up to At has brought it
}

// wakes reports whether those who follow a session have to look at the entry:
// it says what size its terminal has. A turn or a mark of the time comes with
// every Enter, or second, and would have each of them read the journal.
func (e *Entry) wakes() bool { return e.Kind == "run" || e.Kind == "size" }

// A journal appends to the journal of one session. Each entry is one line
// and one write, not synced one by one: a crash of the process leaves whole
// lines, a crash of the machine may leave a torn or NUL-filled tail, which
// the next openJournal cuts. Its methods may be called from any goroutine.
type journal struct {
	file *os.File
	end  atomic.Int64 // size in bytes; the writer's own view, not stat's
	told atomic.Int64 // the same up to the last entry that followers are woken for

	mu sync.Mutex // serialises append
}

// openJournal opens the journal at path for its one writer, creates it if it
// is missing, and cuts what follows its last newline.
func openJournal(path string) (*journal, error) {
	if err := regular(path); err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	end, err := wholeLines(f)
	if err == nil {
		err = f.Truncate(end)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("open journal: %w", err)
	}
	j := &journal{file: f}
	j.end.Store(end)
	j.told.Store(end)
	return j, nil
}

// wholeLines returns the offset after the last newline of f.
func wholeLines(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	var buf [4096]byte
	for to := info.Size(); to > 0; {
		from := max(0, to-int64(len(buf)))
		n, err := f.ReadAt(buf[:to-from], from)
		if err != nil && err != io.EOF {
			return 0, err
		}
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			return from + int64(i) + 1, nil
		}
		to = from
	}
	return 0, nil
}

// append adds e as the last line. On error the journal is as it was.
func (j *journal) append(e Entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("append to journal: %w", err)
	}
	line = append(line, '\n')
	j.mu.Lock()
	defer j.mu.Unlock()
	end := j.end.Load()
	if _, err := j.file.WriteAt(line, end); err != nil {
		// Readers do not take a line without its newline, and the next append
		// writes over it; cutting it only spares them a mixture.
		j.file.Truncate(end)
		return fmt.Errorf("append to journal: %w", err)
	}
	j.end.Store(end + int64(len(line)))
	if e.wakes() {
		j.told.Store(j.end.Load())
	}
	return nil
}

// size returns the size of the journal in bytes.
func (j *journal) size() int64 { return j.end.Load() }

// close syncs and closes the journal.
func (j *journal) close() error {
	return errors.Join(j.file.Sync(), j.file.Close())
}

// readJournal returns the entries of the journal at path from the byte
// position from on, which is 0 or a next that it returned before. A last line
// without its newline is left for the next call; damaged counts the whole
// lines that are no entries. A journal that is missing has no entries.
func readJournal(path string, from int64) (es []Entry, next int64, damaged int, err error) {
	data, err := readFrom(path, from)
	if err != nil {
		return nil, from, 0, fmt.Errorf("read journal: %w", err)
	}
	n, damaged := eachEntry(data, func(_ []byte, e Entry) { es = append(es, e) })
	return es, from + n, damaged, nil
}

func readFrom(path string, from int64) ([]byte, error) {
	if err := regular(path); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.NewSectionReader(f, from, math.MaxInt64-from))
}

// eachEntry calls fn with each good line of data, newline included, and
// returns the length of all whole lines and the number of damaged ones.
func eachEntry(data []byte, fn func(line []byte, e Entry)) (whole int64, damaged int) {
	for {
		i := bytes.IndexByte(data, '\n') + 1
		if i == 0 {
			return whole, damaged
		}
		var e Entry
		if err := json.Unmarshal(data[:i], &e); err != nil || e.Kind == "" || e.At < 0 {
			damaged++
		} else {
			fn(data[:i], e)
		}
		data = data[i:]
		whole += int64(i)
	}
}
