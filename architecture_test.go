package main

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The table in docs/architecture.md has every package with what it imports of
// this module.
func TestImportsAreAsDrawn(t *testing.T) {
	const module = "holdfast"
	drawn := make(map[string][]string)
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z/]+)`[^|]*\\|([^|]*)\\|$").FindAllStringSubmatch(readPage(t, "docs/architecture.md"), -1) {
		drawn[m[1]] = strings.Fields(strings.ReplaceAll(m[2], ",", " "))
	}
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", "./...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := packages.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		var imports []string
		for _, path := range p.Imports {
			if rest, ok := strings.CutPrefix(path, module+"/"); ok {
				imports = append(imports, rest)
			}
		}
		want, ok := drawn[name]
		if !ok || !slices.Equal(imports, want) {
			t.Errorf("%s imports %q; the table says %q", name, imports, want)
		}
		delete(drawn, name)
	}
	for name := range drawn {
		t.Errorf("the table has %s, which is no package", name)
	}
}

// What has to be scrolled through is not read.
func TestFilesAndFunctionsAreShort(t *testing.T) {
	const longFile, longFunction = 400, 60
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.Contains(path, "node_modules") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		line := func(p token.Pos) int { return files.Position(p).Line }
		if n := line(file.FileEnd); n > longFile {
			t.Errorf("%s has %d lines, want %d at most", path, n, longFile)
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && line(f.End())-line(f.Pos()) >= longFunction {
				t.Errorf("%s: %s has %d lines, want %d at most", path, f.Name, line(f.End())-line(f.Pos())+1, longFunction)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
