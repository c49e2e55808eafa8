package session

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// cast is a recording taken apart.
type cast struct {
	head   castHeader
	output string
	sizes  []string
	times  []float64
}

func record(t *testing.T, c *Controller, id string) cast {
	t.Helper()
	var b bytes.Buffer
	if _, err := c.Record(t.Context(), &b, id); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(&b)
	lines.Buffer(nil, 1<<20)
	lines.Scan()
	var r cast
	if err := json.Unmarshal(lines.Bytes(), &r.head); err != nil {
		t.Fatalf("header %q: %v", lines.Text(), err)
	}
	for lines.Scan() {
		var e [3]any
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatalf("line %q: %v", lines.Text(), err)
		}
		r.times = append(r.times, e[0].(float64))
		switch e[1] {
		case "o":
			r.output += e[2].(string)
		case "r":
			r.sizes = append(r.sizes, e[2].(string))
		default:
			t.Errorf("line %q has an unknown code", lines.Text())
		}
	}
	return r
}

func TestRecordingHasTheSameBytes(t *testing.T) {
	c := open(t, t.TempDir())
	want := junk(200 << 10)
	file := filepath.Join(t.TempDir(), "junk")
	if err := os.WriteFile(file, want, 0o600); err != nil {
		t.Fatal(err)
	}
	v := newSession(t, c, "sh", "-c", "stty raw; exec cat "+file)
	waitOver(t, c, v.ID)
	r := record(t, c, v.ID)
	text, bad := toText(want)
	if r.output != text || r.head.Replaced != int64(bad) || r.head.Missing != 0 {
		t.Errorf("recording has %d bytes with %d replaced, want %d with %d", len(r.output), r.head.Replaced, len(text), bad)
	}
	if r.head.Version != 2 || r.head.Width != 80 || r.head.Height != 24 || r.head.Timestamp == 0 {
		t.Errorf("header = %+v", r.head)
	}
}

func TestRecordingOfALiveSessionHasTimesAndSizes(t *testing.T) {
	c := open(t, t.TempDir())
	v := newSession(t, c, "sh", "-c", "stty -echo; printf é; read x; printf '%s' $x; cat")
	waitOutput(t, c, v.ID, "é")
	if err := c.Resize(v.ID, 100, 30); err != nil {
		t.Fatal(err)
	}
	// Two marks need a pause between them.
	waitFor(t, c, v.ID, "a pause", func(v View) bool { return timeSince(v) > markPause })
	typeIn(t, c, v.ID, "x\r")
	waitOutput(t, c, v.ID, "éx")
	r := record(t, c, v.ID)
	if r.output != "éx" || strings.Join(r.sizes, " ") != "100x30" {
		t.Errorf("recording = %q with sizes %q, want éx and 100x30", r.output, r.sizes)
	}
	for i, at := range r.times {
		if at < 0 || i > 0 && at < r.times[i-1] {
			t.Errorf("times = %v, want them in order", r.times)
		}
	}
	if last := r.times[len(r.times)-1]; last < markPause.Seconds() {
		t.Errorf("last output at %v s, want it after the pause", last)
	}
}

func TestToTextCountsWhatItReplaces(t *testing.T) {
	for _, tt := range []struct {
		in, want string
		bad      int
	}{
		{"plain", "plain", 0}, {"a\xffb", "a\uFFFDb", 1}, {"\xe2\x82", "\uFFFD\uFFFD", 2}, {"\uFFFD", "\uFFFD", 0}, {"", "", 0},
	} {
		if got, bad := toText([]byte(tt.in)); got != tt.want || bad != tt.bad || !utf8.ValidString(got) {
			t.Errorf("toText(%q) = %q, %d; want %q, %d", tt.in, got, bad, tt.want, tt.bad)
		}
	}
}
