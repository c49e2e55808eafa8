package session

import (
	"os"
	"path/filepath"
	"testing"
)

func TestTheNewestSessionOfThisFolderComesFirst(t *testing.T) {
	here, link := t.TempDir(), filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(here, link); err != nil {
		t.Fatal(err)
	}
	damaged := View{ID: "damaged", State: Unreadable}
	newest, old := View{ID: "newest", Cwd: "/"}, View{ID: "old", Cwd: here}
	older := View{ID: "older", Cwd: here}
	gone := View{ID: "gone", Cwd: filepath.Join(here, "gone")}
	live, held := View{ID: "live", Cwd: here, Live: true}, View{ID: "held", Cwd: here, Holder: &Holder{}}
	for _, tt := range []struct {
		views []View
		dir   string
		want  string
	}{
		{nil, here, ""},
		{[]View{damaged}, here, ""},
		{[]View{damaged, newest}, here, "newest"},
		{[]View{newest, old, older}, here, "old"},
		{[]View{newest, old}, link, "old"},
		{[]View{newest, {ID: "linked", Cwd: link}}, here, "linked"},
		{[]View{newest, old}, filepath.Dir(here), "newest"},
		{[]View{newest, gone}, gone.Cwd, "gone"},
		{[]View{newest, gone}, "", "newest"},
		{[]View{gone, newest}, "", "gone"},
		{[]View{newest, live, held, old, older}, here, "old"},
		{[]View{live, held, old, newest}, "", "old"},
		{[]View{newest, held, live}, here, "held"},
		{[]View{held, live}, "", "held"},
	} {
		if v, ok := Newest(tt.views, tt.dir, false); v.ID != tt.want || ok != (tt.want != "") {
			t.Errorf("newest of %v in %q = %q, %v; want %q", tt.views, tt.dir, v.ID, ok, tt.want)
		}
	}
	if v, _ := Newest([]View{newest, held, old}, here, true); v.ID != "held" {
		t.Errorf("newest to copy = %q, want the one that is held", v.ID)
	}
}
