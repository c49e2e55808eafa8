package acp

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdfast/session"
)

// A client that sends and does not read is stopped, whatever it sends.
func TestRequestsThatNobodyReadsAreBounded(t *testing.T) {
	c := connect(t, "cat")
	var taken atomic.Int64
	var sender sync.WaitGroup
	sender.Go(func() {
		for n := range 4 * maxRequests {
			// Each is larger than what is read ahead, and names another session.
			if _, err := fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%d,"method":"session/resume","params":{"sessionId":"s%d","cwd":"/","x":"%s"}}`+"\n",
				n, n, strings.Repeat("x", 70<<10)); err != nil {
				return
			}
			taken.Add(1)
		}
	})
	before := int64(-1)
	for n := taken.Load(); n != before || n == 0; n = taken.Load() {
		before = n
		<-time.After(500 * time.Millisecond)
	}
	if before > maxRequests+5 {
		t.Errorf("%d requests were taken; want no more than %d and a few that were refused", before, maxRequests)
	}
	c.end()
	<-c.result
	c.in.Close()
	sender.Wait()
}

func TestListIsPaged(t *testing.T) {
	c := connect(t, "cat")
	dir := t.TempDir()
	want := make(map[string]bool)
	for range 2*pageSize + 5 {
		v, err := c.ctl.Create(session.Spec{Argv: []string{"true"}, Cwd: dir, Name: "Ä name"})
		if err != nil {
			t.Fatal(err)
		}
		want[v.ID] = true
	}
	if _, err := c.ctl.Create(session.Spec{Argv: []string{"true"}, Cwd: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	cursor, pages := "", 0
	for {
		params := fmt.Sprintf(`{"cwd":%q}`, dir+"/.")
		if cursor != "" {
			params = fmt.Sprintf(`{"cwd":%q,"cursor":%q}`, dir, cursor)
		}
		c.send(`{"jsonrpc":"2.0","id":1,"method":"session/list","params":%s}`, params)
		result, _ := c.read()["result"].(map[string]any)
		sessions, _ := result["sessions"].([]any)
		if len(sessions) > pageSize {
			t.Errorf("a page has %d sessions", len(sessions))
		}
		for _, s := range sessions {
			info := s.(map[string]any)
			id := info["sessionId"].(string)
			if !want[id] || info["cwd"] != dir || info["title"] != "Ä name" || info["updatedAt"] == "" {
				t.Errorf("page %d has %v, known: %t", pages, info, want[id])
			}
			delete(want, id)
		}
		pages++
		next, ok := result["nextCursor"].(string)
		if !ok {
			break
		}
		cursor = next
	}
	if pages != 3 || len(want) > 0 {
		t.Errorf("%d pages, %d sessions missing; want 3 and none", pages, len(want))
	}
}

func TestTextOfAPrompt(t *testing.T) {
	text := func(s string) block { return block{Type: "text", Text: &s} }
	link := func(s string) block { return block{Type: "resource_link", URI: &s} }
	for _, tt := range []struct {
		blocks []block
		want   string
	}{
		{nil, ""},
		{[]block{text("a"), text("b")}, "ab"},
		{[]block{text("see"), link("file:///x%20y/z"), text("and more")}, "see /x y/z and more"},
		{[]block{text("see "), link("https://h/p?q"), text("\nmore")}, "see https://h/p?q\nmore"},
		{[]block{link("file:///a"), link("zed:///b")}, "/a zed:///b"},
		{[]block{link("%zz")}, "%zz"},
		{[]block{text("a\r\nb\rc\td")}, "a\nb\nc\td"},
		{[]block{text("a\x1b[201~\x03\x00\u009bb\xff")}, "a[201~b\uFFFD"},
	} {
		if got, err := textOf(tt.blocks); got != tt.want || err != nil {
			t.Errorf("text of %+v = %q, %v; want %q", tt.blocks, got, err, tt.want)
		}
	}
}

// A load that is cancelled while it tells the history opens nothing.
func TestCancelledLoad(t *testing.T) {
	c := connect(t, "cat")
	v, err := c.ctl.Create(session.Spec{Argv: []string{"sh", "-c", "yes 'a line without end' | head -n 400000"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.ctl.Wait(t.Context(), v.ID, session.WaitSpec{Exit: true}); err != nil {
		t.Fatal(err)
	}
	c.send(`{"jsonrpc":"2.0","id":"load","method":"session/load","params":{"sessionId":%q,"cwd":"/"}}`, v.ID)
	c.read()
	c.send(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"load"}}`)
	c.send(`{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":%q,"prompt":[]}}`, v.ID)
	m := c.read()
	for m["method"] != nil {
		m = c.read()
	}
	if e, _ := m["error"].(map[string]any); e["code"] != float64(codeCancelled) {
		t.Errorf("a cancelled load is answered by %v; want %d", m, codeCancelled)
	}
	m = c.read()
	if e, _ := m["error"].(map[string]any); e["code"] != float64(codeRequest) {
		t.Errorf("a prompt after it is answered by %v; want that it is not open", m)
	}
}
