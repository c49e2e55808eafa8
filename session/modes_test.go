package session

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// modesOf follows output to its end.
func modesOf(output string) *Modes {
	var m Modes
	m.Write([]byte(output))
	return &m
}

var sameModes = cmp.AllowUnexported(modeState{}, pen{}, ink{}, keyboard{})

// leftOn is output, and what brings a fresh terminal to its modes and back.
var leftOn = []struct{ name, output, set, reset string }{
	{"nothing", "plain text\r\n\tand \x07 bells\x1b[2J\x1b[H\x1b[5A", "", ""},
	{"what is off again", "\x1b[?2004h\x1b[1m\x1b[?25l$ \x1b[?25h\x1b[m\x1b[?2004l", "", ""},
	{"paste", "\x1b[?2004h", "\x1b[?2004h", "\x1b[?2004l"},
	{"several modes at once", "\x1b[?1;2004;25;7l\x1b[?1;2004h", "\x1b[?1h\x1b[?7l\x1b[?25l\x1b[?2004h", "\x1b[?1l\x1b[?7h\x1b[?25h\x1b[?2004l"},
	{"alternate screen", "\x1b[?1049h", "\x1b[?1049h", "\x1b[?1049l"},
	{"older alternate screen", "\x1b[?47h", "\x1b[?47h", "\x1b[?47l"},
	{"colours of both screens", "\x1b[31m\x1b[?1049h\x1b[32m", "\x1b[31m\x1b[?1049h\x1b[0;32m", "\x1b[?1049l\x1b[m\x1b7"},
	{"back from the alternate screen", "\x1b[31m\x1b[?1049h\x1b[32m\x1b[?1049l", "\x1b[31m\x1b7", "\x1b[m\x1b7"},
	{"mouse", "\x1b[?1000h\x1b[?1002h\x1b[?1006h", "\x1b[?1000h\x1b[?1002h\x1b[?1006h", "\x1b[?1000l\x1b[?1002l\x1b[?1006l"},
	{"the mouse mode that came last", "\x1b[?1002h\x1b[?1000h", "\x1b[?1002h\x1b[?1000h", "\x1b[?1000l\x1b[?1002l"},
	{"the end of one mouse mode", "\x1b[?1002h\x1b[?1000h\x1b[?1000l", "", ""},
	{"focus", "\x1b[?1004h", "\x1b[?1004h", "\x1b[?1004l"},
	{"keypad", "\x1b=", "\x1b[?66h", "\x1b[?66l"},
	{"keypad off", "\x1b=\x1b>", "", ""},
	{"insert", "\x1b[4h", "\x1b[4h", "\x1b[4l"},
	{"cursor style", "\x1b[5 q", "\x1b[5 q", "\x1b[0 q"},
	{"scroll region", "\x1b[2;20r", "\x1b7\x1b[2;20r\x1b8", "\x1b7\x1b[r\x1b8"},
	{"scroll region from the top", "\x1b[;20r", "\x1b7\x1b[1;20r\x1b8", "\x1b7\x1b[r\x1b8"},
	{"scroll region to the bottom", "\x1b[5r", "\x1b7\x1b[5r\x1b8", "\x1b7\x1b[r\x1b8"},
	{"scroll region that is the screen", "\x1b[2;20r\x1b[r", "", ""},
	{"scroll region that is none", "\x1b[20;2r", "", ""},
	{"origin", "\x1b[?6h", "\x1b[?6h", "\x1b[?6l"},
	{"attributes", "\x1b[1;3;4;7;9m", "\x1b[1;3;7;9;4m", "\x1b[m"},
	{"attributes taken back", "\x1b[1;2;3;4;5;7;8;9;53m\x1b[22;23;24;25;27;28;29;55m", "", ""},
	{"curly underline", "\x1b[4:3m", "\x1b[4:3m", "\x1b[m"},
	{"bright", "\x1b[97;100m", "\x1b[97;100m", "\x1b[m"},
	{"256 colours", "\x1b[38;5;200;48;5;17m", "\x1b[38;5;200;48;5;17m", "\x1b[m"},
	{"256 colours with colons", "\x1b[38:5:200m", "\x1b[38;5;200m", "\x1b[m"},
	{"true colours", "\x1b[1;38;2;1;2;3;4m", "\x1b[1;4;38;2;1;2;3m", "\x1b[m"},
	{"true colours with colons", "\x1b[48:2::1:2:3m\x1b[38:2:4:5:6m", "\x1b[38;2;4;5;6;48;2;1;2;3m", "\x1b[m"},
	{"colour of the underline", "\x1b[58:2::1:2:3m", "\x1b[58:2::1:2:3m", "\x1b[m"},
	{"colour that is none", "\x1b[38;5;300;38;9;1m\x1b[22m\x1b[38;2;1m", "", ""},
	{"line drawing", "\x1b(0", "\x1b(0", "\x1b(B"},
	{"line drawing by a shift", "\x1b)0\x0e", "\x1b)0\x0e", "\x1b)B\x0f"},
	{"what was saved", "\x1b[1m\x1b7\x1b[m", "\x1b[1m\x1b7\x1b[m", "\x1b7"},
	{"what was restored", "\x1b[1m\x1b7\x1b[m\x1b8", "\x1b[1m\x1b7", "\x1b[m\x1b7"},
	{"keyboard flags", "\x1b[>1u\x1b[>5u\x1b[<u", "\x1b[>1u", "\x1b[<8u\x1b[=0u"},
	{"more keyboard flags than are kept", strings.Repeat("\x1b[>1u", 5) + strings.Repeat("\x1b[>2u", 5) + "\x1b[<7u", "\x1b[=1u\x1b[>1u", "\x1b[<8u\x1b[=0u"},
	{"keys with modifiers", "\x1b[>4;2m", "\x1b[>4;2m", "\x1b[>4m"},
	{"a drawing that is not finished", "\x1b[?2026h", "", "\x1b[?2026l"},
	{"half a sequence", "\x1b[?20", "", "\x18"},
	{"half a string", "\x1b]0;title\x1b", "", "\x18"},
	{"text in a string", "\x1b]0;\x1b\\\x1b]0;[?2004h\x07", "", ""},
	{"a sequence that is too long", "\x1b[" + strings.Repeat("1;", maxSequence) + "1m", "", ""},
	{"a cancelled sequence", "\x1b[?2004\x18h", "", ""},
	{"a control inside of a sequence", "\x1b[?20\r\n04h", "\x1b[?2004h", "\x1b[?2004l"},
	{"a sequence that cuts a string off", "\x1bPx\x1b[?2004h", "\x1b[?2004h", "\x1b[?2004l"},
	{"reset", "\x1b[?1049h\x1b[?1000;2004h\x1b[31m\x1b(0\x1bc", "", ""},
	{"soft reset", "\x1b[?1;6h\x1b[?7;25l\x1b[4h\x1b[2;3r\x1b[31m\x1b7\x1b=\x1b[!p", "", ""},
	{"soft reset and the screen", "\x1b[?1049h\x1b[?2004h\x1b[!p", "\x1b[?1049h\x1b[?2004h", "\x1b[?1049l\x1b[?2004l"},
}

func TestSetNamesWhatTheProgramLeftOn(t *testing.T) {
	for _, tt := range leftOn {
		m := modesOf(tt.output)
		if got := string(m.Set()); got != tt.set {
			t.Errorf("%s: Set after %q = %q, want %q", tt.name, tt.output, got, tt.set)
		}
		if got := string(m.Reset()); got != tt.reset {
			t.Errorf("%s: Reset after %q = %q, want %q", tt.name, tt.output, got, tt.reset)
		}
		checkModes(t, tt.output)
	}
}

func TestBracketedPasteFollowsTheProgram(t *testing.T) {
	var m Modes
	for _, step := range []struct {
		output string
		want   bool
	}{{"", false}, {"\x1b[?20", false}, {"04h$ ", true}, {"ls\r\n\x1b[?2004l", false}, {"\x1b[?2004h", true}, {"\x1bc", false}} {
		m.Write([]byte(step.output))
		if got := m.BracketedPaste(); got != step.want {
			t.Errorf("after %q: bracketed paste = %t, want %t", step.output, got, step.want)
		}
	}
}

func TestNewSizeEndsTheScrollRegion(t *testing.T) {
	m := modesOf("\x1b[1m\x1b[1;23r")
	m.resized()
	if got, want := string(m.Set()), "\x1b[1m"; got != want {
		t.Errorf("after a new size: Set = %q, want %q", got, want)
	}
}

// checkModes wants of any output: Set brings a fresh terminal there, Reset
// brings it back, and the same in pieces is the same.
func checkModes(t *testing.T, output string) {
	t.Helper()
	m := modesOf(output)
	want := m.now
	want.sync = false
	set := m.Set()
	if diff := cmp.Diff(want, modesOf(string(set)).now, sameModes); diff != "" {
		t.Errorf("after %q, of a terminal that was given Set %q (-want +got):\n%s", output, set, diff)
	}
	back := modesOf(output)
	reset := m.Reset()
	back.Write(reset)
	if diff := cmp.Diff(modeState{}, back.now, sameModes); diff != "" || !back.esc.ground() {
		t.Errorf("after %q, of a terminal that was given Reset %q (-want +got):\n%s", output, reset, diff)
	}
	if again := back.Reset(); len(again) > 0 {
		t.Errorf("after %q: Reset of a fresh terminal = %q", output, again)
	}
	blind := modesOf(output)
	blind.Write(ResetAll())
	for _, p := range []*pen{&blind.now.pen, &blind.now.saved[0], &blind.now.saved[1]} {
		p.origin = false
	}
	if diff := cmp.Diff(modeState{}, blind.now, sameModes); diff != "" || !blind.esc.ground() {
		t.Errorf("after %q, of a terminal that was given ResetAll (-want +got):\n%s", output, diff)
	}
	for i := range len(output) {
		// What is known at any place says all about the rest.
		m := modesOf(output[:i])
		rest := modesOf(string(m.Set()) + string(m.unfinished()))
		rest.now.sync = m.now.sync
		m.Write([]byte(output[i:]))
		rest.Write([]byte(output[i:]))
		if got := modesOf(output).now; got != m.now {
			t.Fatalf("%q cut at %d (-whole +cut):\n%s", output, i, cmp.Diff(got, m.now, sameModes))
		}
		if m.now != rest.now || m.esc != rest.esc {
			t.Fatalf("%q gone on with at %d (-whole +cut):\n%s", output, i, cmp.Diff(m.now, rest.now, sameModes))
		}
	}
}

// outputs are pieces of which a program's output is made.
var outputs = strings.Split(strings.NewReplacer(" | ", "\x00", "^[", "\x1b", "^N", "\x0e", "^O", "\x0f", "^G", "\x07", "^X", "\x18").Replace(
	"text | € | ^[ | ^[[ | ; | : | ? | 1 | 2004 | h | l | m | ^N | ^O | ^G | ^X | ^[\\ | ^[7 | ^[8 | ^[c | ^[= | ^[> | ^[n | ^[o | "+
		"^[(0 | ^[(B | ^[)0 | ^[*A | ^[[!p | ^[[s | ^[[u | ^[[1;31m | ^[[4:3m | ^[[21;97;104m | ^[[38;5;9;48;2;1;2;3m | ^[[58:5:7m | ^[[m | ^[[39;49;22m | "+
		"^[[?1h | ^[[?6h | ^[[?6l | ^[[?7l | ^[[?9h | ^[[?25l | ^[[?47h | ^[[?47l | ^[[?1000h | ^[[?1002h | ^[[?1003l | ^[[?1004h | ^[[?1006h | ^[[?1015h | ^[[?1015l | "+
		"^[[?1047h | ^[[?1048h | ^[[?1048l | ^[[?1049h | ^[[?1049l | ^[[?2004h | ^[[?2026h | ^[[?2026l | ^[[4h | ^[[20h | ^[[3 q | ^[[0 q | "+
		"^[[2;10r | ^[[r | ^[[>1u | ^[[>u | ^[[<2u | ^[[=3;2u | ^[[>4;1m | ^[]0;title | ^[P"+strings.Repeat("q", maxSequence)), "\x00")

func TestModesOfAnyOutput(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	for range 400 {
		var b strings.Builder
		for range r.IntN(12) {
			b.WriteString(outputs[r.IntN(len(outputs))])
		}
		if checkModes(t, b.String()); t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func FuzzModes(f *testing.F) {
	for _, p := range outputs {
		f.Add([]byte(p))
	}
	f.Add([]byte("\x1b[?1049h\x1b[31;1mx\x1b7\x1b[2;5r\x1b]11;?\x1b\\\x1b[>1u\x1b[38:2::1:2:3m"))
	f.Fuzz(func(t *testing.T, output []byte) {
		checkModes(t, string(output[:min(len(output), 200)]))
	})
}
