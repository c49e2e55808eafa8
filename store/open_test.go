package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdfast/state"
)

func TestOpenWriterRaisesTheEpochEachTime(t *testing.T) {
	s := openTestStore(t, "", Options{Boot: "b1"})
	row := mustHave(t, s)
	for want := int64(2); want < 5; want++ {
		w, err := s.OpenWriter(row.ID)
		if err != nil {
			t.Fatal(err)
		}
		if got := w.Row().Epoch; got != want {
			t.Errorf("epoch = %d, want %d", got, want)
		}
		mustClose(t, w)
		mustClose(t, w)
		if got := mustRow(t, s, row.ID).Epoch; got != want {
			t.Errorf("epoch on disk = %d, want %d", got, want)
		}
	}
}

func TestOneWriterForEachSessionAndProcess(t *testing.T) {
	s := openTestStore(t, "", Options{})
	w := mustCreate(t, s, newRow())
	_, openErr := s.OpenWriter(w.id)
	_, createErr := s.Create(w.Row(), nil)
	for call, err := range map[string]error{"OpenWriter": openErr, "Create": createErr, "Remove": s.Remove(w.id)} {
		if !errors.Is(err, errBusy) {
			t.Errorf("%s beside a writer = %v, want errBusy", call, err)
		}
	}
	mustClose(t, w)
	if _, err := w.Update(false, func(*Row) error { return nil }); !errors.Is(err, ErrClosed) {
		t.Errorf("Update after Close = %v, want ErrClosed", err)
	}
	if err := w.Sync(); !errors.Is(err, ErrClosed) {
		t.Errorf("Sync after Close = %v, want ErrClosed", err)
	}
}

func TestOpenWriterRepairsWhatACrashLeft(t *testing.T) {
	s := openTestStore(t, "", Options{})
	w := mustCreate(t, s, newRow())
	entry := Entry{Kind: "size", Time: time.Unix(1, 0).UTC(), Cols: 80, Rows: 24}
	if err := w.Record(entry); err != nil {
		t.Fatal(err)
	}
	mustClose(t, w)
	journal := filepath.Join(s.folder(w.id), journalFile)
	f, err := os.OpenFile(journal, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(`{"kind":"si` + "\x00\x00")
	temp := filepath.Join(s.folder(w.id), "."+sessionFile+tempMark+"123")
	if err := errors.Join(err, f.Close(), os.WriteFile(temp, []byte("{"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if w, err = s.OpenWriter(w.id); err != nil {
		t.Fatal(err)
	}
	defer mustClose(t, w)
	if err := w.Record(entry); err != nil {
		t.Fatal(err)
	}
	es, _, damaged, err := readJournal(journal, 0)
	if diff := cmp.Diff([]Entry{entry, entry}, es); diff != "" || damaged != 0 || err != nil {
		t.Errorf("journal has %d damaged lines, %v (-want +got):\n%s", damaged, err, diff)
	}
}

func TestOpenWriterFailureAtAnyStepKeepsTheRow(t *testing.T) {
	s := openTestStore(t, "", Options{})
	row := mustHave(t, s)
	open := func(h hook) {
		s.hook = h
		if w, err := s.OpenWriter(row.ID); err == nil {
			mustClose(t, w)
		}
		s.hook = nil
	}
	steps := stepsOf(open)
	row = mustRow(t, s, row.ID)
	for _, step := range steps {
		open(failAt(step))
		if diff := rowDiff(row, mustRow(t, s, row.ID)); diff != "" {
			t.Errorf("row after a failure at %q (-want +got):\n%s", step, diff)
		}
		checkFolder(t, s.Dir())
	}
}

// A reader that saw bytes which a power cut took must find itself in a gap.
func TestRebootLeavesAHoleWhereBytesMayBeLost(t *testing.T) {
	for _, tc := range []struct {
		name       string
		then, now  string // boot ids
		last       state.State
		cut        int64 // bytes lost
		wantEnd    int64
		wantPID    int
		wantReboot string
	}{
		{"same boot, live", "b1", "b1", state.Running, 0, 10, 7, "b1"},
		{"reboot, live", "b1", "b2", state.Running, 0, 10 + holeSize, 0, "b2"},
		{"reboot, live, bytes lost", "b1", "b2", state.Running, 3, 7 + holeSize, 0, "b2"},
		{"reboot, orderly ended", "b1", "b2", state.Ended, 0, 10, 0, "b2"},
		{"reboot, ended, bytes lost", "b1", "b2", state.Ended, 3, 7 + holeSize, 0, "b2"},
		{"unknown boot", "", "b2", state.Running, 0, 10, 0, "b2"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := openTestStore(t, "", Options{Boot: tc.then})
			w := mustCreate(t, s, newRow())
			if err := w.Append(outputFrom(0, 10)); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Update(true, func(r *Row) error { r.State, r.PID, r.PIDStart = tc.last, 7, 8; return nil }); err != nil {
				t.Fatal(err)
			}
			mustClose(t, w)
			if err := os.Truncate(segmentPath(filepath.Join(s.folder(w.id), outputDir), 0), 10-tc.cut); err != nil {
				t.Fatal(err)
			}
			w, err := openTestStore(t, s.Dir(), Options{Boot: tc.now}).OpenWriter(w.id)
			if err != nil {
				t.Fatal(err)
			}
			defer mustClose(t, w)
			row := w.Row()
			if _, end := w.Bounds(); end != tc.wantEnd || row.Cursor != end || row.PID != tc.wantPID || row.Boot != tc.wantReboot {
				t.Errorf("end = %d, cursor %d, pid %d, boot %q; want %d twice, %d, %q",
					end, row.Cursor, row.PID, row.Boot, tc.wantEnd, tc.wantPID, tc.wantReboot)
			}
		})
	}
}

func TestSecondOpenAfterARebootAddsNoSecondHole(t *testing.T) {
	s := openTestStore(t, "", Options{Boot: "b1"})
	w := mustCreate(t, s, newRow())
	mustClose(t, w)
	after := openTestStore(t, s.Dir(), Options{Boot: "b2"})
	for range 2 {
		w, err := after.OpenWriter(w.id)
		if err != nil {
			t.Fatal(err)
		}
		if _, end := w.Bounds(); end != holeSize {
			t.Errorf("end = %d, want one hole: %d", end, holeSize)
		}
		mustClose(t, w)
	}
}
