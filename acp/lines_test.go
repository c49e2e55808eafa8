package acp

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func TestLinesHaveALimit(t *testing.T) {
	long := strings.Repeat("x", 100<<10) // more than what is read at once
	for _, tt := range []struct {
		in   string
		max  int
		want []string // "!" for one that is too long
	}{
		{"", 10, nil},
		{"a\nb\n", 10, []string{"a", "b"}},
		{"a\n\nb", 10, []string{"a", ""}},
		{"1234567890\n12345678901\nx\n", 10, []string{"1234567890", "!", "x"}},
		{long + "\nx\n", 10, []string{"!", "x"}},
		{long + "\nx\n", len(long), []string{long, "x"}},
		{long + "\nx\n", len(long) - 1, []string{"!", "x"}},
		{long, 10, nil},
	} {
		for name, r := range map[string]io.Reader{"whole": strings.NewReader(tt.in), "in pieces": iotest.OneByteReader(strings.NewReader(tt.in))} {
			if got := allLines(t, newLines(r, tt.max)); !slices.Equal(got, tt.want) {
				t.Errorf("%.20q of %d bytes, at most %d, %s: %.40q, want %.40q", tt.in, len(tt.in), tt.max, name, got, tt.want)
			}
		}
	}
}

// allLines reads to the end.
func allLines(t *testing.T, l *lines) (all []string) {
	t.Helper()
	for {
		line, err := l.next()
		switch {
		case errors.Is(err, errTooLong):
			all = append(all, "!")
		case errors.Is(err, io.EOF):
			return all
		case err != nil:
			t.Fatal(err)
		default:
			all = append(all, string(line))
		}
	}
}

// FuzzMessages checks that whatever a client sends is read the same however it
// is cut, and is either refused with nothing taken from it, or a message that
// encodes to what it was.
func FuzzMessages(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}` + "\n",
		`{"jsonrpc":"2.0","id":"a","method":"x","params":null}` + "\n" + `[]` + "\n\n",
		`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"x"}}` + "\r\n" + `{"jsonrpc":"2.0","id":null,"result":{}}` + "\n",
		`{"jsonrpc":"1.0","id":{}}` + "\n{\"id\":1,\"method\":\"\xff\"}\n{\"half",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		const limit = 200
		whole := allLines(t, newLines(bytes.NewReader(in), limit))
		if got := allLines(t, newLines(iotest.OneByteReader(bytes.NewReader(in)), limit)); !slices.Equal(got, whole) {
			t.Errorf("in pieces it is %q, whole %q", got, whole)
		}
		if n := bytes.Count(in, []byte("\n")); len(whole) != n {
			t.Errorf("%d lines of %d", len(whole), n)
		}
		for _, line := range whole {
			checkMessage(t, line)
		}
	})
}

func checkMessage(t *testing.T, line string) {
	t.Helper()
	m, err := parse([]byte(line))
	if err != nil {
		e, ok := errors.AsType[*rpcError](err)
		if !ok || !slices.Contains([]int{codeParse, codeRequest, codeParams}, e.Code) || m.method != "" || m.params != nil {
			t.Errorf("%q is refused with %v, and gives %+v", line, err, m)
		}
	}
	if m.id != nil && !json.Valid(m.id) {
		t.Errorf("%q has the id %q", line, m.id)
	}
	if m.method == "" {
		return
	}
	again, err := parse(bytes.TrimSuffix(encode(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id,omitempty"`
		Method  string          `json:"method"`
		Params  json.RawMessage `json:"params"`
	}{"2.0", m.id, m.method, m.params}), []byte("\n")))
	if err != nil || again.method != m.method || (again.id == nil) != (m.id == nil) {
		t.Errorf("%q is read as %+v, and that as %+v, %v", line, m, again, err)
	}
}
