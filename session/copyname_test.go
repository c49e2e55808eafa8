package session

import (
	"errors"
	"strings"
	"testing"
)

func TestCopyName(t *testing.T) {
	for _, tt := range []struct{ name, want string }{
		{"", ""},
		{"x", "x (copy)"},
		{"x (copy)", "x (copy 2)"},
		{"x (copy 2)", "x (copy 3)"},
		{"x (copy 9)", "x (copy 10)"},
		{"x (copy 99)", "x (copy 100)"},
		{"x (copy) (copy)", "x (copy) (copy 2)"},
		{"x (copy 1)", "x (copy 1) (copy)"}, // not ours
		{"x (copy 02)", "x (copy 02) (copy)"},
		{"x (copy 99999999999999999999)", "x (copy 99999999999999999999) (copy)"},
		{"x(copy)", "x(copy) (copy)"},
		{"(copy)", "(copy) (copy)"},
		{" (copy)", " (copy) (copy)"},
		{"ends in space ", "ends in space (copy)"},
		{strings.Repeat("n", MaxName), strings.Repeat("n", MaxName-7) + " (copy)"},
		{strings.Repeat("n", MaxName-7) + " (copy)", strings.Repeat("n", MaxName-9) + " (copy 2)"},
		{strings.Repeat("n", MaxName-9) + " (copy 9)", strings.Repeat("n", MaxName-10) + " (copy 10)"},
		{strings.Repeat("語", MaxName/3), strings.Repeat("語", (MaxName-7)/3) + " (copy)"},
		{strings.Repeat("n", MaxName-8) + " words", strings.Repeat("n", MaxName-8) + " (copy)"},
		{strings.Repeat("n", MaxName-10) + "\u200dwords", strings.Repeat("n", MaxName-10) + " (copy)"}, // cut behind the joiner
	} {
		got := copyName(tt.name, nil)
		if got != tt.want {
			t.Errorf("copyName(%q, nil) = %q, want %q", tt.name, got, tt.want)
		}
		if err := checkName(got); err != nil {
			t.Errorf("copyName(%q) is no name: %v", tt.name, err)
		}
	}
}

func TestCopyNameOfAProgram(t *testing.T) {
	for _, tt := range []struct{ program, want string }{
		{"cat", "cat (copy)"},
		{"/usr/bin/cat", "cat (copy)"},
		{"./two words", "two words (copy)"},
		{"/tmp/\x1b[31mred", ""},
		{"/tmp/\xff", ""},
		{"/tmp/ ", ""},
		{strings.Repeat("n", MaxName+1), ""},
	} {
		if got := copyName("", []string{tt.program}); got != tt.want {
			t.Errorf("a copy of %q is called %q, want %q", tt.program, got, tt.want)
		}
	}
}

// Whoever makes a copy, and however: it can be told from what it is a copy of.
func TestACopyIsCalledOne(t *testing.T) {
	c := open(t, t.TempDir())
	for _, name := range []string{"it", ""} {
		want := "it (copy)"
		if name == "" {
			want = "cat (copy)"
		}
		v, err := c.Create(Spec{Argv: []string{"cat"}, Name: name})
		if err != nil {
			t.Fatal(err)
		}
		fork, err1 := c.Fork(v.ID, ForkSpec{}, false)
		cp, err2 := c.Copy(v.ID, ForkSpec{})
		next, err3 := c.Switch(v.ID, SwitchSpec{Argv: []string{"cat"}}, false)
		if fork.Name != want || cp.Name != want || next.Name != want || errors.Join(err1, err2, err3) != nil {
			t.Errorf("copies of %q are %q, %q and %q, want %q; %v", name, fork.Name, cp.Name, next.Name, want, errors.Join(err1, err2, err3))
		}
		if old, err := c.Get(v.ID); err != nil || old.Name != name {
			t.Errorf("%q is called %q now, %v", name, old.Name, err)
		}
		own, err := c.Fork(v.ID, ForkSpec{Name: "own"}, false)
		if err != nil || own.Name != "own" {
			t.Errorf("a copy that has a name is called %q, %v", own.Name, err)
		}
	}
}
