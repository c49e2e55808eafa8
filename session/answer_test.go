package session

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/store"
)

func TestAnswersAreThoseOfATerminal(t *testing.T) {
	row := &store.Row{Cols: 90, Rows: 30}
	for _, tt := range []struct{ name, output, want string }{
		{"primary attributes", "\x1b[c", "\x1b[?1;2c"},
		{"primary attributes with a zero", "\x1b[0c", "\x1b[?1;2c"},
		{"secondary attributes", "\x1b[>c\x1b[>0c", "\x1b[>0;276;0c\x1b[>0;276;0c"},
		{"name and version", "\x1b[>q\x1b[>0q", "\x1bP>|holdfast\x1b\\\x1bP>|holdfast\x1b\\"},
		{"status", "\x1b[5n", "\x1b[0n"},
		{"place of the cursor", "\x1b[6n\x1b[?6n", "\x1b[1;1R\x1b[?1;1R"},
		{"light or dark", "\x1b[?996n", "\x1b[?997;1n"},
		{"size", "\x1b[18t", "\x1b[8;30;90t"},
		{"a mode that is on", "\x1b[?2004h\x1b[?2004$p", "\x1b[?2004;1$y"},
		{"a mode that is off", "\x1b[?2004$p", "\x1b[?2004;2$y"},
		{"a mode that is on at first", "\x1b[?25$p\x1b[?25l\x1b[?25$p", "\x1b[?25;1$y\x1b[?25;2$y"},
		{"modes that are more than a bit", "\x1b[?2026$p\x1b[?1049h\x1b[?1049$p\x1b[?6$p", "\x1b[?2026;2$y\x1b[?1049;1$y\x1b[?6;2$y"},
		{"a mode that nobody knows", "\x1b[?4711$p\x1b[99$p", "\x1b[?4711;0$y\x1b[99;0$y"},
		{"an ANSI mode", "\x1b[4h\x1b[4$p\x1b[20$p", "\x1b[4;1$y\x1b[20;2$y"},
		{"background", "\x1b]11;?\x07", "\x1b]11;rgb:1e1e/1e1e/1e1e\x07"},
		{"text and background, ended by ST", "\x1b]10;?;?\x1b\\", "\x1b]10;rgb:d4d4/d4d4/d4d4\x1b\\\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\"},
		{"palette", "\x1b]4;1;?;16;?;231;?;255;?\x07", "\x1b]4;1;rgb:cccc/0000/0000\x07\x1b]4;16;rgb:0000/0000/0000\x07\x1b]4;231;rgb:ffff/ffff/ffff\x07\x1b]4;255;rgb:eeee/eeee/eeee\x07"},
		{"colours that are set", "\x1b]11;#fff\x07\x1b]4;1;red\x07\x1b]4;300;?\x07\x1b]4;?\x07", ""},
		{"a query that is cancelled", "\x1b]11;?\x18\x1b[\x18c", ""},
		{"a query inside of a string", "\x1bP[c\x1b\\\x1b]0;\x18[c", ""},
		{"no query", "\x1b[?u\x1b[14t\x1b[1;1R\x1b[?1;2c\x1b[>0;276;0c\x1b[0n\x1b[?997;1n\x1b[8;30;90t\x1b[?2004;1$y\x1bP>|holdfast\x1b\\\x1b]11;rgb:0/0/0\x07\x1b[p\x1b[$p\x1b[?$p\x1b]11\x07\x1b]\x07", ""},
	} {
		for cut := range tt.output {
			var m Modes
			var got string
			m.ask = func(seq []byte, end byte) { got += answerTo(seq, end, &m, row) }
			m.Write([]byte(tt.output[:cut]))
			m.Write([]byte(tt.output[cut:]))
			if got != tt.want {
				t.Errorf("%s: %q, cut at %d, is answered with %q, want %q", tt.name, tt.output, cut, got, tt.want)
				break
			}
		}
	}
}

func FuzzAnswers(f *testing.F) {
	for _, s := range []string{"[c", "[?2004$p", "]11;?", "]4;1;?;2;?", "[$p", "]4;;;", "[?$p", "P", "$p"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, seq []byte) {
		if len(seq) == 0 || len(seq) > maxSequence {
			return
		}
		answer := answerTo(seq, '\\', &Modes{}, &store.Row{Cols: 80, Rows: 24})
		if strings.ContainsAny(answer, "\r\n\x03\x04") || len(answer) > maxAnswers {
			t.Fatalf("%q is answered with %q", seq, answer)
		}
		// A program that prints what is typed must not be answered for ever.
		m := Modes{ask: func(seq []byte, end byte) {
			if again := answerTo(seq, end, &Modes{}, &store.Row{}); again != "" {
				t.Fatalf("the answer %q is answered with %q", answer, again)
			}
		}}
		m.Write([]byte(answer))
	})
}

// asker is a program that asks for the status at each G that is typed, and says
// who answered: S for the server, T for what a test types as a terminal. It
// tells what else is typed.
func asker(t *testing.T, c *Controller) View {
	v := newSession(t, c, "sh", "-c", `stty raw -echo; byte() { dd bs=1 count="$1" 2>/dev/null; }; printf ready
		while :; do
			g=$(byte 1); [ "$g" = G ] || printf 'extra;'
			printf '\033[5n'
			case $(byte 1) in T) printf 'T;' ;; *) byte 3 >/dev/null; printf 'S;' ;; esac
		done`)
	waitOutput(t, c, v.ID, "ready")
	return v
}

// asked is what the asker said.
func asked(t *testing.T, c *Controller, id string) string {
	return strings.ReplaceAll(strings.TrimPrefix(output(t, c, id), "ready"), "\x1b[5n", "")
}

func TestServerAnswersUntilATerminalIsLive(t *testing.T) {
	c := open(t, t.TempDir())
	v := asker(t, c)
	ask := func(want string) {
		t.Helper()
		typeIn(t, c, v.ID, "G")
		waitFor(t, c, v.ID, "an answer", func(View) bool { return len(asked(t, c, v.ID)) >= len(want) })
		if got := asked(t, c, v.ID); got != want {
			t.Fatalf("the program was answered %q, want %q", got, want)
		}
	}
	ask("S;")
	reader := openStream(t, c, StreamOptions{ID: v.ID})
	events(t, reader, KindLive)
	ask("S;S;") // a reader is no terminal

	s := openStream(t, c, StreamOptions{ID: v.ID, Terminal: true})
	ask("S;S;S;") // it does not show yet
	events(t, s, KindTerminal)
	typeIn(t, c, v.ID, "GT")
	waitFor(t, c, v.ID, "an answer", func(View) bool { return len(asked(t, c, v.ID)) >= 8 })
	if got := asked(t, c, v.ID); got != "S;S;S;T;" {
		t.Fatalf("with a terminal the program was answered %q", got)
	}
	s.Close()
	ask("S;S;S;T;S;")
}

// Terminals that come, take over from each other and go while a program asks:
// each question is answered once, by one of them or by the server.
func TestQueryIsAnsweredOnceWhileTerminalsComeAndGo(t *testing.T) {
	c := open(t, t.TempDir())
	v := asker(t, c)
	var asking sync.Mutex   // a terminal that goes while it is asked gives no answer
	var inside sync.RWMutex // read-locked by each terminal that is there
	var all sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	defer all.Wait()
	defer cancel()
	for range 2 {
		all.Go(func() {
			for ctx.Err() == nil {
				visit, done := context.WithTimeout(ctx, time.Duration(rand.IntN(8_000))*time.Microsecond)
				inside.RLock()
				answerAsTerminal(t, visit, c, v.ID, &asking)
				inside.RUnlock()
				done()
				<-time.After(time.Duration(rand.IntN(4_000)) * time.Microsecond)
			}
		})
	}
	for n := range 100 {
		alone := n%10 == 9 // or on a busy machine some terminal is always there
		if alone {
			inside.Lock()
		}
		asking.Lock()
		typeIn(t, c, v.ID, "G")
		waitFor(t, c, v.ID, "an answer", func(View) bool { return len(asked(t, c, v.ID)) >= 2*(n+1) })
		asking.Unlock()
		if alone {
			inside.Unlock()
		}
		<-time.After(time.Duration(rand.IntN(500)) * time.Microsecond)
	}
	cancel()
	all.Wait()
	said := asked(t, c, v.ID)
	if by := strings.Count(said, "T;"); len(said) != 200 || by == 0 || by > 90 {
		t.Errorf("100 questions were answered %q", said)
	}
}

// answerAsTerminal follows a session as a terminal does, until ctx ends. While
// it is the one that answers it does not go if a program may ask.
func answerAsTerminal(t *testing.T, ctx context.Context, c *Controller, id string, asking *sync.Mutex) {
	s, err := c.Stream(StreamOptions{ID: id, From: FromLast(0), Terminal: true})
	if err != nil {
		t.Error(err)
		return
	}
	defer s.Close()
	for mine := false; ; {
		if mine && ctx.Err() != nil && asking.TryLock() {
			defer asking.Unlock()
			s.Close()
			return
		}
		look, done := context.WithTimeout(t.Context(), time.Millisecond)
		e, err := s.Next(look)
		done()
		switch {
		case err != nil && ctx.Err() != nil && !mine:
			return
		case e.Kind == KindTerminal:
			mine = e.Answers
		case mine && strings.Contains(string(e.Data), "\x1b[5n"):
			if _, err := c.Input(t.Context(), id, Input{Data: []byte("T")}); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestTheLastTerminalAnswersBehindWhatWasAnswered(t *testing.T) {
	var all terminals
	at := func(id string, cursor int64) *Stream { return &Stream{id: id, cursor: cursor} }
	join := func(s *Stream, over bool) bool { ok, _ := all.join(s, over); return ok }
	all.begin("a")
	if !all.absent("a", 0, 10) {
		t.Error("nobody is there, but somebody answers")
	}
	one := at("a", 10)
	if join(at("a", 9), true) || !join(one, false) || !join(at("b", 0), false) {
		t.Error("want a terminal to join only behind what was answered, in its own session")
	}
	if !all.absent("a", 5, 10) || all.absent("a", 10, 20) {
		t.Error("want a terminal to answer what comes after it has joined, and nothing before")
	}
	if n := all.pass(one, 15); n != 15 {
		t.Errorf("a terminal alone has %d of 15 bytes", n)
	}
	one.cursor = 25
	two := at("a", 30)
	if join(at("a", 24), true) || join(two, false) || !join(two, true) {
		t.Error("want a terminal to take over only where that is asked, and behind what the other was given")
	}
	if all.over(one) || all.pass(one, 15) != 5 || all.absent("a", 29, 30) || all.absent("a", 30, 31) {
		t.Error("want one terminal to answer up to 30, and the other from there on")
	}
	if one.cursor = 30; !all.over(one) || !all.leave(one) || all.leave(one) {
		t.Error("want a terminal to leave when it has passed its part")
	}
	all.pass(two, 5)
	all.leave(two)
	if join(at("a", 34), true) || !all.absent("a", 35, 40) {
		t.Error("a terminal that has left answers, or what it was given is answered again")
	}
}

func TestAnswersAreNoPartOfATurn(t *testing.T) {
	c := open(t, t.TempDir())
	v := newSession(t, c, "sh", "-c", `stty raw -echo; printf '\033[c'; dd bs=1 count=7 2>/dev/null | od -An -c; printf ready; dd bs=1 count=3 2>/dev/null; sleep 1000`)
	waitOutput(t, c, v.ID, "ready")
	if got := strings.Join(strings.Fields(output(t, c, v.ID)[3:]), ""); got != "033[?1;2cready" {
		t.Errorf("the program read %q", got)
	}
	end := typeIn(t, c, v.ID, "ls\r").Cursor
	turns, err := c.Turns(v.ID)
	if err != nil || len(turns) != 1 || turns[0].At != end || turns[0].Preview != "ls" {
		t.Errorf("turns = %+v, %v; want one, of what was typed, at %d", turns, err, end)
	}
}

func TestProgramThatAsksAndDoesNotReadIsNotHurt(t *testing.T) {
	c := open(t, t.TempDir())
	file := filepath.Join(t.TempDir(), "read")
	v := newSession(t, c, "sh", "-c", `stty raw -echo; yes "$(printf '\033[c\033]11;?\007')" | head -n 20000; printf done
		while [ ! -e "$1" ]; do sleep 0.01; done; exec cat`, "sh", file)
	waitOutput(t, c, v.ID, "done")
	q := c.lookup(v.ID).input
	q.mu.Lock()
	if q.answers > maxAnswers {
		t.Errorf("%d bytes of answers wait, want %d at most", q.answers, maxAnswers)
	}
	q.mu.Unlock()
	writeScript(t, file, "")
	typeIn(t, c, v.ID, "typed") // though answers fill the terminal
	waitOutput(t, c, v.ID, "typed")
}

func TestAnswersLeaveRoomInALine(t *testing.T) {
	c := open(t, t.TempDir())
	v := newSession(t, c, "sh", "-c", `stty -echo; i=0; while [ $i -lt 400 ]; do printf '\033[c'; i=$((i+1)); done
		printf ready; read -r x; stty echo; printf '\033[5n%.0s' $(seq 200); read -r x`)
	waitOutput(t, c, v.ID, "ready")
	typeIn(t, c, v.ID, strings.Repeat("x", 3000)+"\n")
	waitFor(t, c, v.ID, "200 answers, as the terminal echoes them", func(View) bool {
		return strings.Count(output(t, c, v.ID), "^[[0n") == 200
	})
}

func TestAnswerThatIsLateIsNotTyped(t *testing.T) {
	c := open(t, t.TempDir())
	v := newSession(t, c, "cat")
	c.lookup(v.ID).input.typeNow(&item{data: []byte("late"), answer: true, deadline: time.Now(), done: make(chan struct{})})
	typeIn(t, c, v.ID, "typed\n")
	waitOutput(t, c, v.ID, "typed\r\n")
	if got := output(t, c, v.ID); strings.Contains(got, "late") {
		t.Errorf("output = %q", got)
	}
}

// Vim asks for the version of its terminal, and goes on when it hears.
func TestVimHearsAnAnswer(t *testing.T) {
	vim, err := exec.LookPath("vim")
	if err != nil {
		t.Fatal(err)
	}
	c := open(t, t.TempDir())
	heard := filepath.Join(t.TempDir(), "heard")
	v := newSession(t, c, vim, "-u", "NONE", "-N", "--cmd", "au TermResponse * call writefile([v:termresponse], '"+heard+"')")
	waitFor(t, c, v.ID, "vim to hear an answer", func(View) bool {
		text, _ := os.ReadFile(heard)
		return string(text) == "\x1b[>0;276;0c\n"
	})
}
