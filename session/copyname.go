package session

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// copied is the name of a copy: what it is a copy of, and its number from 2 on.
var copied = regexp.MustCompile(`^(.*\S) \(copy(?: ([2-9]|[1-9]\d{1,7}))?\)$`)

// copyName is what a copy of a session with a name and a program is called if
// nobody says more: "x (copy)", and its copy "x (copy 2)". A name that would be
// too long is cut before that. Without a name the program's stands for it, if that
// can be one.
func copyName(name string, argv []string) string {
	if name == "" && len(argv) > 0 {
		name = filepath.Base(argv[0])
	}
	if name == "" || checkName(name) != nil {
		return ""
	}
	suffix := " (copy)"
	if m := copied.FindStringSubmatch(name); m != nil {
		n, _ := strconv.Atoi(m[2]) // empty: 0
		name, suffix = m[1], fmt.Sprintf(" (copy %d)", max(n, 1)+1)
	}
	for len(name)+len(suffix) > MaxName {
		_, n := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-n]
	}
	return strings.TrimRight(name, " "+string(joiner)) + suffix
}
