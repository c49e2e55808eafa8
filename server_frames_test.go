package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"holdfast/session"
	"holdfast/store"
)

const someID = "0193c6a2-7b1d-4e5f-8a90-b1c2d3e4f506"

func TestFrames(t *testing.T) {
	exit := 3
	view := &session.View{ID: someID, State: "ended", ExitCode: &exit}
	for _, tt := range []struct {
		name string
		ev   session.Event
		want string
	}{
		{"output", session.Event{Kind: session.KindOutput, ID: someID, Cursor: 7, Data: []byte("a\r\n\x00\x1b[m\"\\\u2028é\x7f")},
			"id: " + someID + "/7\nevent: output\ndata: \"a\\r\\n\\u0000\\u001b[m\\\"\\\\\u2028é\x7f\"\n\n"},
		{"bytes", session.Event{Kind: session.KindBytes, ID: someID, Cursor: 9, Data: []byte("\xff\n")},
			"id: " + someID + "/9\nevent: bytes\ndata: \"/wo=\"\n\n"},
		{"resize", session.Event{Kind: session.KindResize, ID: someID, Cursor: 9, Cols: 132, Rows: 50},
			"id: " + someID + "/9\nevent: resize\ndata: {\"cols\":132,\"rows\":50}\n\n"},
		{"terminal", session.Event{Kind: session.KindTerminal, ID: someID, Cursor: 9, Answers: true},
			"id: " + someID + "/9\nevent: terminal\ndata: {\"answers\":true}\n\n"},
		{"live", session.Event{Kind: session.KindLive, ID: someID, Cursor: 9},
			"id: " + someID + "/9\nevent: live\ndata: {\"cursor\":9}\n\n"},
		{"gap", session.Event{Kind: session.KindGap, ID: someID, Cursor: 40, From: 9, To: 40},
			"id: " + someID + "/40\nevent: gap\ndata: {\"from\":9,\"to\":40}\n\n"},
		{"ping", session.Event{Kind: session.KindPing, ID: someID, Cursor: 9},
			"id: " + someID + "/9\nevent: ping\ndata: {\"cursor\":9}\n\n"},
		{"ping with nothing bound", session.Event{Kind: session.KindPing},
			"event: ping\ndata: {\"cursor\":0}\n\n"},
		{"end", session.Event{Kind: session.KindEnd, ID: someID, Cursor: 9, View: view},
			"id: " + someID + "/9\nevent: end\ndata: {\"state\":\"ended\",\"exit_code\":3,\"signal\":\"\"}\n\n"},
		{"bind", session.Event{Kind: session.KindBind, ID: someID},
			"event: bind\ndata: {\"id\":\"" + someID + "\"}\n\n"},
		{"bind of nothing", session.Event{Kind: session.KindBind},
			"event: bind\ndata: {\"id\":null}\n\n"},
		{"deleted", session.Event{Kind: session.KindSessions, ID: someID, Deleted: true},
			"event: sessions\ndata: {\"id\":\"" + someID + "\",\"deleted\":true}\n\n"},
	} {
		got, err := appendFrame(nil, &tt.ev)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: frame %q, %v; want %q", tt.name, got, err, tt.want)
		}
	}
	for _, kind := range []session.EventKind{session.KindSession, session.KindSessions} {
		ev := session.Event{Kind: kind, ID: someID, Cursor: 9, View: view}
		got, err := appendFrame(nil, &ev)
		if err != nil || !strings.HasPrefix(string(got), "event: "+string(kind)+"\ndata: {\"id\":\""+someID+"\"") {
			t.Errorf("%s: frame %q, %v; want the session and no id line", kind, got, err)
		}
	}
}

func TestEventIDs(t *testing.T) {
	for in, want := range map[string]int64{
		someID + "/0": 0, someID + "/4711": 4711, someID + "/9223372036854775807": 1<<63 - 1,
	} {
		if id, cursor, ok := parseEventID(in); id != someID || cursor != want || !ok {
			t.Errorf("parseEventID(%q) = %q, %d, %v; want %q, %d, true", in, id, cursor, ok, someID, want)
		}
	}
	for _, in := range []string{
		"", "7", "/7", someID, someID + "/", someID + "/-1", someID + "/+1", someID + "/1/2", someID + "/9223372036854775808",
		someID + "/1_0", someID + "/0x1", "../" + someID + "/1", strings.ToUpper(someID) + "/1", someID + "/1 ", "\x00/1",
	} {
		if id, cursor, ok := parseEventID(in); id != "" || cursor != 0 || ok {
			t.Errorf("parseEventID(%q) = %q, %d, %v; want no id", in, id, cursor, ok)
		}
	}
}

func FuzzEventID(f *testing.F) {
	for _, seed := range []string{"", someID + "/4711", someID + "/-1", "x/1", someID + "//1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		id, cursor, ok := parseEventID(in)
		if !ok {
			if id != "" || cursor != 0 {
				t.Fatalf("parseEventID(%q) refuses and returns %q, %d", in, id, cursor)
			}
			return
		}
		if !store.ValidID(id) || cursor < 0 {
			t.Fatalf("parseEventID(%q) = %q, %d", in, id, cursor)
		}
		frame, err := appendFrame(nil, &session.Event{Kind: session.KindLive, ID: id, Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		again, c, ok := parseEventID(parseFrames(t, frame)[0].id)
		if again != id || c != cursor || !ok {
			t.Fatalf("parseEventID(%q) = %q, %d; read back %q, %d, %v", in, id, cursor, again, c, ok)
		}
	})
}

// Whatever a program prints, the frame around it is read back as one event
// with the same bytes, and its string is the one that encoding/json makes.
func FuzzFrame(f *testing.F) {
	for _, seed := range []string{"", "plain", "a\r\nb\rc\nd", "\ufeffdata: x\n\n", "\x00\x01\b\f\t\x1b[0m\x7f", "\u2028\u2029é\"\\/", "\xff\xfe", "\xe2\x82"} {
		f.Add([]byte(seed), int64(4711))
	}
	f.Fuzz(func(t *testing.T, data []byte, cursor int64) {
		kind := session.KindBytes
		if utf8.Valid(data) {
			kind = session.KindOutput
		}
		frame, err := appendFrame(nil, &session.Event{Kind: kind, ID: someID, Cursor: cursor & (1<<62 - 1), Data: data})
		if err != nil {
			t.Fatal(err)
		}
		events := parseFrames(t, frame)
		if len(events) != 1 || events[0].event != string(kind) {
			t.Fatalf("frame of %q is read as %+v", data, events)
		}
		if got := events[0].bytes(t); !bytes.Equal(got, data) {
			t.Fatalf("frame of %q is read as %q", data, got)
		}
		if kind == session.KindOutput {
			var std bytes.Buffer
			enc := json.NewEncoder(&std)
			enc.SetEscapeHTML(false)
			if err := enc.Encode(string(data)); err != nil {
				t.Fatal(err)
			}
			// encoding/json escapes these two for old JavaScript; a program
			// that prints the escape itself is left out.
			want := strings.NewReplacer(`\u2028`, "\u2028", `\u2029`, "\u2029").Replace(strings.TrimSuffix(std.String(), "\n"))
			if !strings.Contains(string(data), `\u202`) && events[0].data != want {
				t.Fatalf("string of %q (-encoding/json +ours):\n%s", data, cmp.Diff(want, events[0].data))
			}
		}
	})
}

// An event is what an EventSource makes of a frame.
type event struct {
	id, event, data string
}

// bytes returns the output that an output or bytes event carries.
func (e event) bytes(t *testing.T) []byte {
	t.Helper()
	b, err := e.decode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// decode returns the output that an event has.
func (e event) decode() ([]byte, error) {
	var s string
	err := json.Unmarshal([]byte(e.data), &s)
	b := []byte(s)
	if err == nil && e.event == "bytes" {
		b, err = base64.StdEncoding.DecodeString(s)
	}
	if err != nil {
		return nil, fmt.Errorf("%s %q: %w", e.event, e.data, err)
	}
	return b, nil
}

func parseFrames(t *testing.T, stream []byte) []event {
	t.Helper()
	r := newEventReader(bytes.NewReader(stream))
	var all []event
	for {
		e, err := r.next()
		if err != nil {
			return all
		}
		all = append(all, e)
	}
}

func BenchmarkFrame(b *testing.B) {
	for name, line := range map[string]string{
		"text":    "The quick brown fox jumps over the lazy dog, and then it sits down.\r\n",
		"colours": "\x1b[32m-rw-r--r--\x1b[0m 1 root root   44 Nov 30 23:05 some \"quoted\" name.go\r\n",
	} {
		data := []byte(strings.Repeat(line, 32<<10/len(line)))
		dst := make([]byte, 0, 128<<10)
		b.Run("data="+name+"/side=holdfast", func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				appendString(dst, data)
			}
		})
		b.Run("data="+name+"/side=encoding-json", func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, err := json.Marshal(string(data)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
