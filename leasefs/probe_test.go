package leasefs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Locks of file systems that get them wrong.
var (
	grantsAll = locker{
		try:    func(*file) error { return nil },
		unlock: func(*file) error { return nil },
		busy:   func(*file) (bool, error) { return false, nil },
	}
	knowsNone = locker{
		try:    func(*file) error { return ErrUnsafe },
		unlock: func(*file) error { return nil },
		busy:   func(*file) (bool, error) { return false, nil },
	}
	refusesAll = locker{
		try:    func(*file) error { return errRefused },
		unlock: func(*file) error { return nil },
		busy:   func(*file) (bool, error) { return true, nil },
	}
	keepsAll = locker{
		try:    lockers[0].try,
		unlock: func(*file) error { return nil },
		busy:   lockers[0].busy,
	}
	hidesAll = locker{
		try:    lockers[0].try,
		unlock: lockers[0].unlock,
		busy:   func(*file) (bool, error) { return false, nil },
	}
)

func TestProbeFindsLocksThatWork(t *testing.T) {
	right := lockers[len(lockers)-1]
	broken := errors.New("broken")
	breaks := locker{try: func(*file) error { return broken }}
	for name, test := range map[string]struct {
		lockers []locker
		family  Family
		want    error
		text    string
	}{
		"first is right":             {[]locker{right, grantsAll}, 0, nil, ""},
		"first does nothing":         {[]locker{grantsAll, right}, 1, nil, ""},
		"first is not known":         {[]locker{knowsNone, right}, 1, nil, ""},
		"first stays after unlock":   {[]locker{keepsAll, right}, 1, nil, ""},
		"first cannot be asked":      {[]locker{hidesAll, right}, 1, nil, ""},
		"first refuses its own file": {[]locker{refusesAll, right}, 1, nil, ""},
		"none does anything":         {[]locker{grantsAll, grantsAll}, 0, ErrUnsafe, "granted twice"},
		"another error":              {[]locker{breaks, right}, 0, broken, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			family, err := probe(dir, test.lockers)
			if !errors.Is(err, test.want) || family != test.family {
				t.Errorf("probe = %d, %v, want %d, %v", family, err, test.family, test.want)
			}
			if err != nil && !strings.Contains(err.Error(), test.text) {
				t.Errorf("error %q does not say %q", err, test.text)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
				t.Errorf("left in the folder: %v, %v", left, err)
			}
		})
	}
}

func TestProbeOnThisMachine(t *testing.T) {
	dir := t.TempDir()
	if family, err := Probe(dir); family&^localDisk != 0 || err != nil {
		t.Errorf("Probe = %d, %v, want the first family", family, err)
	}
	if _, err := Probe(filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Probe of a missing folder = %v", err)
	}
}

// Whoever sweeps the folder may take the file of a probe for one that was left
// behind.
func TestProbeSurvivesTheRemovalOfItsFile(t *testing.T) {
	dir := t.TempDir()
	for range 1000 {
		var sweeper sync.WaitGroup
		sweeper.Go(func() {
			for range 5 {
				entries, _ := os.ReadDir(dir)
				for _, e := range entries {
					if IsProbe(e.Name()) {
						os.Remove(filepath.Join(dir, e.Name()))
					}
				}
			}
		})
		_, err := Probe(dir)
		sweeper.Wait()
		if err != nil {
			t.Fatal(err)
		}
	}
}
