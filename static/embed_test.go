package static_test

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"holdfast/static"
)

// The browser blocks what the policy forbids, and only says so in its console.
func TestPageKeepsItsPolicy(t *testing.T) {
	page, err := fs.ReadFile(static.FS, "index.html")
	if err != nil {
		t.Fatal(err)
	}
	for what, pattern := range map[string]string{
		"inline script":      `<script(?:\s+(?:type="[^"]*"))*\s*>`,
		"inline style":       `<style|\sstyle="`,
		"inline handler":     `\son[a-z]+="`,
		"other host's files": `(?:src|href)="(?:[a-z]+:)?//`,
	} {
		if found := regexp.MustCompile(pattern).Find(page); found != nil {
			t.Errorf("index.html has an %s: %s", what, found)
		}
	}
	if strings.Contains(static.Policy, "unsafe") {
		t.Errorf("policy %q allows unsafe things", static.Policy)
	}
}

// A module that is missing from the binary breaks the page at run time. The
// emulator may be missing: the page has something in its place.
func TestModulesAreEmbedded(t *testing.T) {
	imports := regexp.MustCompile(`(?:from|import)\s*\(?'\./([^']+)'`)
	modules, err := fs.Glob(static.FS, "*.js")
	if err != nil || len(modules) == 0 {
		t.Fatalf("modules: %q, %v", modules, err)
	}
	for _, name := range modules {
		text, err := fs.ReadFile(static.FS, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range imports.FindAllSubmatch(text, -1) {
			file := string(found[1])
			if strings.HasPrefix(file, "vendor/") {
				continue
			}
			if _, err := fs.Stat(static.FS, file); err != nil {
				t.Errorf("%s imports %s, which is not there", name, file)
			}
		}
	}
}
