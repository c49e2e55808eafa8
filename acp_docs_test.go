//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

func TestTheExamplesOfTheEditorInterface(t *testing.T) {
	t.Parallel()
	dir := shortStore(t)
	other := startEditor(t, dir, "--", "cat")
	held := other.open()
	e := startEditor(t, dir, "--", "sh", "-c", `while printf "> " && read l; do echo "you said $l"; done`)
	ids := strings.NewReplacer("HELD", held)
	for i, line := range strings.Split(readPage(t, "docs/acp.md"), "\n") {
		where := fmt.Sprintf("docs/acp.md:%d", i+1)
		kind, text, _ := strings.Cut(line, " {")
		text = "{" + text
		switch kind {
		case ">":
			e.write(ids.Replace(text) + "\n")
		case "<":
			got := e.readText(where, ids.Replace(text))
			if strings.Contains(text, `"sessionId":"ID","configOptions"`) {
				var m struct{ Result struct{ SessionID string } }
				if err := json.Unmarshal([]byte(got), &m); err != nil {
					t.Fatal(err)
				}
				ids = strings.NewReplacer("HELD", held, `"ID"`, fmt.Sprintf("%q", m.Result.SessionID))
			}
			sameShape(t, where, got, ids.Replace(text))
		}
	}
	e.leave()
	other.leave()
}

// readText reads a message that the page has as want. Text is compared to the
// byte; it may come in more messages than in the page.
func (e *editor) readText(where, want string) string {
	e.t.Helper()
	var w acpMessage
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		e.t.Fatalf("%s: %v", where, err)
	}
	text := ""
	for {
		m := e.read()
		u := m.Params.Update
		if m.Method == "" || u.Kind != w.Params.Update.Kind {
			return string(m.raw)
		}
		if text += u.Content.Text; text == w.Params.Update.Content.Text {
			return string(m.raw)
		}
		if !strings.HasPrefix(w.Params.Update.Content.Text, text) {
			e.t.Fatalf("%s: the text is %q", where, text)
		}
	}
}

func TestEveryEditorMethodIsDocumented(t *testing.T) {
	page := readPage(t, "docs/acp.md")
	methods := regexp.MustCompile(`(?m)^\tcase "([^"]+)":$`).FindAllStringSubmatch(readPage(t, "acp/call.go"), -1)
	if len(methods) == 0 {
		t.Fatal("no methods were found")
	}
	for _, m := range methods {
		if !strings.Contains(page, "\n### "+m[1]+"\n") {
			t.Errorf("docs/acp.md has no %s", m[1])
		}
	}
}
