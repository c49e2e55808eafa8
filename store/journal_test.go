package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdfast/state"
)

func testEntries() []Entry {
	at := time.Date(2026, 11, 30, 14, 5, 9, 123456789, time.UTC)
	code := 0
	return []Entry{
		{Kind: "run", Time: at, Run: 1, PID: 4242, Cols: 80, Rows: 24},
		{Kind: "size", At: 10, Time: at, Cols: 65535, Rows: 1},
		{Kind: "turn", At: 20, Time: at, Turn: 1, Preview: "line\none \x1b[A <&> \u2028 wide: 語"},
		{Kind: "exit", At: 30, Time: at, Run: 1, ExitCode: &code},
		{Kind: "state", At: 30, Time: at, State: state.Interrupted, Cause: state.CauseGatewayCrash, Signal: "KILL"},
		{Kind: "clock", At: 1 << 61, Time: at},
		{Kind: "modes", At: 1 << 61, Time: at, Modes: "\x1b[?1049h\x1b[1;31m"},
	}
}

func mustOpenJournal(t *testing.T, path string) *journal {
	t.Helper()
	j, err := openJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.close() })
	return j
}

func mustRecord(t *testing.T, j *journal, es ...Entry) {
	t.Helper()
	for _, e := range es {
		if err := j.append(e); err != nil {
			t.Fatal(err)
		}
	}
}

// wantEntries reads the journal from from on, checks it, and returns next.
func wantEntries(t *testing.T, path string, from int64, damaged int, want ...Entry) int64 {
	t.Helper()
	got, next, d, err := readJournal(path, from)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entries from %d (-want +got):\n%s", from, diff)
	}
	if d != damaged {
		t.Errorf("damaged lines from %d = %d, want %d", from, d, damaged)
	}
	return next
}

func TestJournalGivesBackWhatWasRecorded(t *testing.T) {
	path, want := filepath.Join(t.TempDir(), "journal.jsonl"), testEntries()
	mustRecord(t, mustOpenJournal(t, path), want[:3]...)
	j := mustOpenJournal(t, path)
	mustRecord(t, j, want[3:]...)
	next := wantEntries(t, path, 0, 0, want...)
	if got := j.size(); got != next {
		t.Errorf("size = %d, but the journal was read up to %d", got, next)
	}
}

func TestJournalIsReadOnFromAPosition(t *testing.T) {
	path, es := filepath.Join(t.TempDir(), "journal.jsonl"), testEntries()
	next := wantEntries(t, path, 0, 0) // before it exists
	j := mustOpenJournal(t, path)
	for _, e := range es {
		mustRecord(t, j, e)
		next = wantEntries(t, path, next, 0, e)
		next = wantEntries(t, path, next, 0)
	}
}

func TestUnfinishedLineIsNotConsumed(t *testing.T) {
	path, e := filepath.Join(t.TempDir(), "journal.jsonl"), testEntries()[2]
	mustRecord(t, mustOpenJournal(t, path), e)
	line, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range len(line) {
		writeFile(t, path, append(line[:len(line):len(line)], line[:cut]...))
		next := wantEntries(t, path, 0, 0, e)
		if next != int64(len(line)) {
			t.Fatalf("with %d bytes of a second line: next = %d, want %d", cut, next, len(line))
		}
		writeFile(t, path, append(line[:len(line):len(line)], line...))
		wantEntries(t, path, next, 0, e)
	}
}

func TestOpenJournalCutsATornTail(t *testing.T) {
	long := strings.Repeat("x", 10000)
	for _, tail := range []string{"", "{", `{"kind":"turn","at":5`, "\x00", strings.Repeat("\x00", 634), long, `{"kind":"` + long} {
		path, es := filepath.Join(t.TempDir(), "journal.jsonl"), testEntries()
		j := mustOpenJournal(t, path)
		mustRecord(t, j, es[:2]...)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, path, append(data, tail...))
		next := wantEntries(t, path, 0, 0, es[:2]...)
		j = mustOpenJournal(t, path)
		if got, err := os.ReadFile(path); err != nil || string(got) != string(data) {
			t.Errorf("opened with the tail %.20q: %d bytes are left, %v, want %d", tail, len(got), err, len(data))
		}
		mustRecord(t, j, es[2])
		wantEntries(t, path, 0, 0, es[:3]...)
		wantEntries(t, path, next, 0, es[2])
	}
}

func TestJournalOfOnlyATornLineIsEmptied(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	writeFile(t, path, []byte(strings.Repeat("\x00", 9000)))
	j := mustOpenJournal(t, path)
	if got := j.size(); got != 0 {
		t.Errorf("size = %d, want 0", got)
	}
	mustRecord(t, j, testEntries()[0])
	wantEntries(t, path, 0, 0, testEntries()[0])
}

func TestDamagedLinesAreSkippedAndCounted(t *testing.T) {
	path, es := filepath.Join(t.TempDir(), "journal.jsonl"), testEntries()
	j := mustOpenJournal(t, path)
	mustRecord(t, j, es[0])
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	bad := []string{
		"", "x", "{", "null", "[]", "1", "{}", `{"kind":""}`, `{"kind":"run","at":-1}`, `{"kind":"run","at":"1"}`,
		`{"kind":"size","cols":70000}`, `{"kind":"run","time":"yesterday"}`, "\x00\x00\x00" + strings.TrimSpace(string(good)),
	}
	writeFile(t, path, []byte(string(good)+strings.Join(bad, "\n")+"\n"+string(good)))
	wantEntries(t, path, 0, len(bad), es[0], es[0])
}

func TestFieldsOfNewerVersionsDoNotHideAnEntry(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	writeFile(t, path, []byte(`{"kind":"mark","at":7,"time":"2026-11-30T14:05:09Z","colour":{"a":[1]}}`+"\n"))
	wantEntries(t, path, 0, 0, Entry{Kind: "mark", At: 7, Time: time.Date(2026, 11, 30, 14, 5, 9, 0, time.UTC)})
}

func FuzzReadJournal(f *testing.F) {
	path := filepath.Join(f.TempDir(), "journal.jsonl")
	j, err := openJournal(path)
	if err != nil {
		f.Fatal(err)
	}
	for _, e := range testEntries() {
		if err := j.append(e); err != nil {
			f.Fatal(err)
		}
	}
	if err := j.close(); err != nil {
		f.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole, 0)
	f.Add(whole[:len(whole)/2], 100)
	f.Add([]byte("{}\n\x00\x00\n{\"kind\":\"x\"}\n\n"), 3)
	f.Fuzz(func(t *testing.T, data []byte, cut int) {
		// Found half written, and read on once it is whole.
		cut = min(max(cut, 0), len(data))
		writeFile(t, path, data[:cut])
		head, next, d1, err1 := readJournal(path, 0)
		writeFile(t, path, data)
		tail, last, d2, err2 := readJournal(path, next)

		all, end, damaged, err := readJournal(path, 0)
		if err != nil || end != int64(bytes.LastIndexByte(data, '\n')+1) {
			t.Fatalf("readJournal up to %d, %v", end, err)
		}
		if diff := cmp.Diff(all, append(head, tail...)); diff != "" {
			t.Fatalf("in two steps, cut at %d (-once +twice):\n%s", cut, diff)
		}
		if got, want := fmt.Sprint(last, d1+d2, err1, err2), fmt.Sprint(end, damaged, nil, nil); got != want {
			t.Fatalf("in two steps: %s, want %s", got, want)
		}

		// What was accepted is stable.
		var lines []byte
		for _, e := range all {
			line, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(append(lines, line...), '\n')
		}
		var again []Entry
		eachEntry(lines, func(_ []byte, e Entry) { again = append(again, e) })
		if diff := cmp.Diff(all, again); diff != "" {
			t.Fatalf("round trip (-first +again):\n%s", diff)
		}
	})
}

// A turn comes with every Enter, a mark of the time with every second of
// output: no follower is to read the journal for those.
func TestEntriesThatFollowersNeedNotRead(t *testing.T) {
	s := openTestStore(t, "", Options{})
	w := mustCreate(t, s, newRow())
	f := mustFollow(t, s, w.id)
	told, changed := f.Told(), f.Changed()
	for _, kind := range []string{"turn", "clock", "modes", "exit"} {
		if err := w.Record(Entry{Kind: kind}); err != nil {
			t.Fatal(err)
		}
		if isClosed(changed) || f.Told() != told {
			t.Errorf("an entry %q was told to followers", kind)
		}
	}
	if err := w.Record(Entry{Kind: "run"}); err != nil {
		t.Fatal(err)
	}
	if !isClosed(changed) || f.Told() != f.JournalSize() {
		t.Errorf("a run: told up to %d of %d bytes", f.Told(), f.JournalSize())
	}
}
