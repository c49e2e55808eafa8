package session

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"holdfast/store"
)

// printed runs a program that prints text, as it is, and ends.
func printed(t *testing.T, c *Controller, text string) View {
	t.Helper()
	path := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	v := newSession(t, c, "sh", "-c", `stty raw; cat "$1"`, "sh", path)
	v = waitOver(t, c, v.ID)
	if got := output(t, c, v.ID); got != text {
		t.Fatalf("printed %d bytes, want %d", len(got), len(text))
	}
	return v
}

// tailOf returns where the tail of a session begins, the modes that stand in
// front of it, and whether they came in an event of their own. It checks that
// the rest is what the log has, and that every byte after the cut is there.
func tailOf(t *testing.T, c *Controller, id, log string) (cut int, modes string, alone bool) {
	t.Helper()
	s := openStream(t, c, StreamOptions{ID: id})
	cut = int(s.Cursor())
	all, text := events(t, s, KindEnd)
	modes, ok := strings.CutSuffix(string(text), log[cut:])
	if !ok {
		t.Fatalf("the tail from %d has %d bytes, and does not end like the log of %d", cut, len(text), len(log))
	}
	for _, e := range all {
		if e.Kind == KindOutput || e.Kind == KindBytes {
			if want := int64(cut + len(e.Data) - len(modes)); e.Cursor != want {
				t.Errorf("first output of %d bytes has the cursor %d, want %d", len(e.Data), e.Cursor, want)
			}
			if alone = e.Cursor == int64(cut); alone && e.Kind != KindOutput {
				t.Errorf("modes came as %q", e.Kind)
			}
			break
		}
	}
	if strings.Contains(modes, "x") {
		t.Errorf("more than modes in front of the tail: %.200q", modes)
	}
	return cut, modes, alone
}

func TestModesStandInFrontOfATail(t *testing.T) {
	c := open(t, t.TempDir())
	long, short := strings.Repeat("x", 700<<10), strings.Repeat("x", 100<<10)
	colours := strings.Repeat("\x1b[38;2;10;20;30m\x1b[48;5;17mxx", 20<<10)
	for _, tt := range []struct{ name, log, want string }{
		{"set long before", "\x1b[?1049h\x1b[?1002;1006h\x1b[?2004h\x1b[?1h\x1b[2;20r\x1b[31m" + long, "\x1b7\x1b[2;20r\x1b8\x1b[?1049h\x1b[31m\x1b[?1h\x1b[?2004h\x1b[?1002h\x1b[?1006h"},
		{"set and reset long before", "\x1b[?1049h\x1b[31m" + long + "\x1b[m\x1b[?1049l" + long, ""},
		{"set shortly before", long + "\x1b[?2004h" + long[:tailBytes+10], "\x1b[?2004h"},
		{"reset shortly before", "\x1b[?2004h" + long + "\x1b[?2004l" + long[:tailBytes+10], ""},
		{"set after the cut", long + "\x1b[?2004h" + long[:tailBytes-20], ""},
		{"cut inside a sequence", long + "\x1b[?2004h" + long[:tailBytes-2], "\x1b[?2004h"},
		{"cut inside a character", "\x1b[1m" + long + "€" + long[:tailBytes-2], "\x1b[1m"},
		{"noted inside a sequence", long[:modesEvery-4] + "\x1b[?2004h" + long, "\x1b[?2004h"},
		{"noted inside a string", long[:modesEvery-4] + "\x1b]0;[?2004h\x07" + long, ""},
		{"set in a string that never ends", "\x1b[1m" + long + "\x1b]0;" + long, "\x1b[1m\x1b^"},
		{"from the first byte", "\x1b[1m" + short, ""},
		{"all colours", colours, "\x1b[38;2;10;20;30;48;5;17m"},
	} {
		v := printed(t, c, tt.log)
		cut, modes, alone := tailOf(t, c, v.ID, tt.log)
		if modes != tt.want || alone {
			t.Errorf("%s: modes in front of the tail = %q (alone: %t), want %q", tt.name, modes, alone, tt.want)
		}
		if tail := len(tt.log) - cut; cut > 0 && (tail > tailBytes || tail < tailBytes-chunkBytes) {
			t.Errorf("%s: tail of %d bytes, want %d or a little less", tt.name, tail, tailBytes)
		}
	}
}

// The notes in the journal and what is read after them say the same as all of
// the output.
func TestModesInFrontOfATailAreThoseOfTheWholeLog(t *testing.T) {
	c := open(t, t.TempDir())
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 2))
	for range 6 {
		var log strings.Builder
		for log.Len() < 400<<10+r.IntN(400<<10) {
			if r.IntN(3) == 0 {
				log.WriteString(strings.Repeat("text ", r.IntN(9000)))
			}
			for range r.IntN(40) {
				log.WriteString(outputs[r.IntN(len(outputs)-2)]) // no long strings
			}
		}
		v := printed(t, c, log.String())
		s := openStream(t, c, StreamOptions{ID: v.ID})
		cut := s.Cursor()
		_, text := events(t, s, KindEnd)
		want := string(modesOf(log.String()[:cut]).Set())
		if got, _ := strings.CutSuffix(string(text), log.String()[cut:]); got != want {
			t.Fatalf("seed %d: modes at %d = %q, want %q", seed, cut, got, want)
		}
	}
}

func TestModesComeAloneBeforeBytes(t *testing.T) {
	c := open(t, t.TempDir())
	log := "\x1b[1m" + strings.Repeat("x", 400<<10) + strings.Repeat("\xff", tailBytes)
	v := printed(t, c, log)
	if cut, modes, alone := tailOf(t, c, v.ID, log); modes != "\x1b[1m" || !alone {
		t.Errorf("modes before bytes at %d = %q (alone: %t), want them alone", cut, modes, alone)
	}
}

func TestNamedCursorsGetTheLogAlone(t *testing.T) {
	c := open(t, t.TempDir())
	log := "\x1b[1m\x1b[?2004h" + strings.Repeat("x", 600<<10)
	v := printed(t, c, log)
	for _, from := range []Cursor{FromOffset(0), FromOffset(1000), FromLast(tailBytes), FromLast(1)} {
		s := openStream(t, c, StreamOptions{ID: v.ID, From: from})
		at := s.Cursor()
		if _, text := events(t, s, KindEnd); string(text) != log[at:] {
			t.Errorf("from %+v: %d bytes that begin with %.20q, want the log from %d", from, len(text), text, at)
		}
	}
}

func TestNewRunBeginsWithFreshModes(t *testing.T) {
	dir := t.TempDir()
	c := open(t, dir)
	path := filepath.Join(t.TempDir(), "second")
	v := newSession(t, c, "sh", "-c", `stty raw; if [ -e "$1" ]; then head -c 300000 /dev/zero | tr '\0' y; else
		: >"$1"; printf '\033[?1049h\033[31m\033]0;open'; head -c 300000 /dev/zero | tr '\0' x; fi`, "sh", path)
	v = waitOver(t, c, v.ID)
	if _, err := c.Start(v.ID); err != nil {
		t.Fatal(err)
	}
	v = waitOver(t, c, v.ID)
	if _, modes, _ := tailOf(t, c, v.ID, output(t, c, v.ID)); modes != "" {
		t.Errorf("modes in the second run = %q, want none", modes)
	}

	// Of the tail of a fork that ends in the first run they are its own.
	at := v.Cursor - 310000
	f, err := c.Fork(v.ID, ForkSpec{At: &at, Argv: []string{"true"}}, false)
	if err != nil {
		t.Fatal(err)
	}
	waitOver(t, c, f.ID)
	log := output(t, c, f.ID)
	if cut, modes, _ := tailOf(t, c, f.ID, log); modes != "\x1b[?1049h\x1b[31m\x1b^" || cut == 0 {
		t.Errorf("modes in the fork at %d = %q", cut, modes)
	}

	removeNotes(t, dir, v.ID)
	if _, modes, _ := tailOf(t, c, v.ID, output(t, c, v.ID)); modes != "" {
		t.Errorf("modes in the second run without notes = %q, want none", modes)
	}
}

func TestTailIsCutWhereARunBegins(t *testing.T) {
	c := open(t, t.TempDir())
	path := filepath.Join(t.TempDir(), "second")
	v := newSession(t, c, "sh", "-c", `stty raw; if [ -e "$1" ]; then head -c "$2" /dev/zero | tr '\0' y; else
		: >"$1"; printf '\033[31m\033]0;open'; fi`, "sh", path, fmt.Sprint(tailBytes-2))
	first := waitOver(t, c, v.ID)
	if _, err := c.Start(v.ID); err != nil {
		t.Fatal(err)
	}
	waitOver(t, c, v.ID)
	s := openStream(t, c, StreamOptions{ID: v.ID})
	if got, want := s.Cursor(), first.Cursor; got != want {
		t.Errorf("tail begins at %d, want %d, where the run does", got, want)
	}
	all, text := events(t, s, KindEnd)
	if got, want := kinds(all[:3]), "session run resize"; got != want || text[0] != 'y' {
		t.Errorf("it begins with %s and %.20q, want %s and no modes", got, text, want)
	}
}

func TestSizeEndsTheScrollRegionOfATail(t *testing.T) {
	c := open(t, t.TempDir())
	v := newSession(t, c, "sh", "-c", `stty raw -echo; printf '\033[1;23r\033[1m'; for n in 300000 200000; do read x; head -c $n /dev/zero | tr '\0' y; done
		read x; printf '\033[1;30r'; head -c 400000 /dev/zero | tr '\0' z`)
	waitOutput(t, c, v.ID, "\x1b[1m")
	if err := c.Resize(v.ID, 90, 40); err != nil {
		t.Fatal(err)
	}
	for _, end := range []int64{300000, 500000} { // what the journal says, and what it notes
		typeIn(t, c, v.ID, "\n")
		waitFor(t, c, v.ID, "more output", func(v View) bool { return v.Cursor >= end })
		s := openStream(t, c, StreamOptions{ID: v.ID})
		if _, text := events(t, s, KindLive); !bytes.HasPrefix(text, []byte("\x1b[1my")) {
			t.Errorf("after a new size the tail begins with %.30q, want no scroll region", text)
		}
	}
	typeIn(t, c, v.ID, "\n")
	waitOver(t, c, v.ID)
	s := openStream(t, c, StreamOptions{ID: v.ID})
	if _, text := events(t, s, KindEnd); !bytes.HasPrefix(text, []byte("\x1b7\x1b[1;30r\x1b8\x1b[1mz")) {
		t.Errorf("after a new region the tail begins with %.30q", text)
	}
}

func TestModesSurviveTheRemovalOfOldOutput(t *testing.T) {
	dir := t.TempDir()
	st, err := store.Open(dir, store.Options{SegmentSize: 10000, Keep: 30000})
	if err != nil {
		t.Fatal(err)
	}
	c := open(t, dir, func(cfg *Config) { cfg.Store = st })
	v := newSession(t, c, "sh", "-c", `stty raw; printf '\033[?2004h\033]0;'; head -c 135000 /dev/zero | tr '\0' y; printf '\007\033[1m'
		head -c 60000 /dev/zero | tr '\0' x`)
	v = waitOver(t, c, v.ID)
	s := openStream(t, c, StreamOptions{ID: v.ID})
	if v.Oldest == 0 || s.Cursor() != v.Oldest {
		t.Fatalf("tail begins at %d, want the oldest byte, %d", s.Cursor(), v.Oldest)
	}
	if _, text := events(t, s, KindEnd); !bytes.HasPrefix(text, []byte("\x1b[?2004hx")) {
		t.Errorf("the tail begins with %.30q, want the modes of what is gone, as far as they were noted", text)
	}
}

// A journal of a version that did not note the modes still gives those that
// were set not too long before.
func TestModesOfAJournalWithoutNotes(t *testing.T) {
	dir := t.TempDir()
	c := open(t, dir)
	log := "\x1b[?1h" + strings.Repeat("x", blindScan+1000) + "\x1b[?2004h" + strings.Repeat("x", 400<<10)
	v := printed(t, c, log)
	removeNotes(t, dir, v.ID)
	if _, modes, _ := tailOf(t, c, v.ID, log); modes != "\x1b[?2004h" {
		t.Errorf("modes = %q, want those that are found in the output before", modes)
	}
}

// removeNotes makes the journal of a session one of a version that did not note
// the modes.
func removeNotes(t *testing.T, dir, id string) {
	t.Helper()
	path := filepath.Join(dir, "sessions", id, "journal.jsonl")
	journal, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var kept []string
	for line := range strings.Lines(string(journal)) {
		if !strings.Contains(line, `"kind":"modes"`) {
			kept = append(kept, line)
		}
	}
	if err := os.WriteFile(path, []byte(strings.Join(kept, "")), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestJournalNotesModesOnlyWhenTheyChange(t *testing.T) {
	c := open(t, t.TempDir())
	text := strings.Repeat("x", modesEvery)
	v := printed(t, c, text+text+"\x1b[1m"+text+text+text+"\x1b[m"+text+text)
	f, err := c.Follow(v.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	entries, _, err := f.Entries(0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		if e.Kind == "modes" {
			got = append(got, fmt.Sprintf("%d %q", e.At/modesEvery, e.Modes))
			if e.At%modesEvery != 0 || !utf8.ValidString(e.Modes) {
				t.Errorf("modes noted at %d: %q", e.At, e.Modes)
			}
		}
	}
	if want := `0 "", 3 "\x1b[1m", 6 ""`; strings.Join(got, ", ") != want {
		t.Errorf("noted %s, want %s", strings.Join(got, ", "), want)
	}
}
