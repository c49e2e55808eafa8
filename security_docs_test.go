package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each threat in docs/security.md that is defended against names tests, and
// those are there.
func TestEveryDefenceHasItsTests(t *testing.T) {
	page := readPage(t, "docs/security.md")
	_, table, _ := strings.Cut(page, "| threat |")
	table, _, _ = strings.Cut(table, "\n## ")
	there := testNames(t)
	named := regexp.MustCompile("`(Test\\w+|static/test/[\\w.]+)`")
	rows := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) != 3 || !strings.HasPrefix(line, "| ") {
			continue
		}
		rows++
		tests := named.FindAllStringSubmatch(cells[2], -1)
		if len(tests) == 0 {
			t.Errorf("no test is named for %q", cells[0])
		}
		for _, m := range tests {
			if _, err := os.Stat(m[1]); err != nil && !there[m[1]] {
				t.Errorf("there is no %s, which stands for %q", m[1], cells[0])
			}
		}
	}
	if rows < 20 {
		t.Errorf("the table has %d rows", rows)
	}
}

// testNames are the tests of all packages.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	names := make(map[string]bool)
	err := filepath.WalkDir(".", func(path string, e os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(path)
		for _, m := range declared.FindAllSubmatch(b, -1) {
			names[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
