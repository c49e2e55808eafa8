package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// A prompt asks for lines at the terminal, and keeps them for the arrow keys.
type prompt struct {
	*term.Terminal
	keys     io.Reader
	screen   io.Writer
	width    func() int // of it, in cells
	complete func(line string) (words []string, from int)
	key      byte // that was read last
}

const (
	promptText = "holdfast> "
	shownWords = 100 // of those that complete a line
)

// newPrompt returns a prompt on a terminal whose keys are k. The words that
// complete returns can stand at the end of a line, from a byte of it on.
func newPrompt(k *keys, w io.Writer, width func() int, complete func(line string) (words []string, from int)) *prompt {
	p := &prompt{screen: w, width: width, complete: complete}
	p.keys = promptKeys{k, p}
	p.renew(nil)
	return p
}

// renew makes a terminal that has read nothing yet: a line that was left stays
// in the old one, and would end the next one too.
func (p *prompt) renew(history term.History) {
	p.Terminal = term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{p.keys, p.screen}, promptText)
	p.AutoCompleteCallback = p.tab
	if history != nil {
		p.History = history
	}
}

// line asks for a line under a prompt. It returns an error if the line is left.
func (p *prompt) line(text string) (string, error) {
	p.SetPrompt(text)
	line, err := p.ReadLine()
	if err != nil {
		io.WriteString(p.screen, "\r\n") // what is said next does not stand behind it
		p.renew(p.History)
	}
	return line, err
}

// tab completes the word that the line ends with.
func (p *prompt) tab(line string, pos int, key rune) (string, int, bool) {
	if key != '\t' || pos != len(line) {
		return "", 0, false
	}
	words, from := p.complete(line)
	if len(words) == 0 {
		return line, pos, true
	}
	longer := line[:from] + commonPrefix(words)
	switch {
	case len(words) == 1:
		longer += " "
	case len(longer) <= len(line):
		if more := len(words) - shownWords; more > 0 {
			words = append(words[:shownWords:shownWords], fmt.Sprintf("(%d more)", more))
		}
		p.say(strings.Join(words, "  "))
	}
	return longer, len(longer), true
}

// say prints lines above the prompt. One that is too wide goes on below.
func (p *prompt) say(lines ...string) {
	for _, line := range lines {
		for _, text := range wrap(Plain(line), p.width()) {
			io.WriteString(p, strings.TrimRight(text, " ")+"\n")
		}
	}
}

// promptKeys makes the keys that leave the line, Esc alone and the command key,
// into the one that does so in package term.
type promptKeys struct {
	*keys
	p *prompt
}

func (r promptKeys) Read(b []byte) (int, error) {
	n, err := r.keys.Read(b)
	if n == 0 {
		return n, err
	}
	r.p.key = b[n-1]
	if n == 1 && b[0] == escKey || b[n-1] == commandKey {
		b[n-1] = leaveKey
	}
	return n, err
}

func commonPrefix(words []string) string {
	p := words[0]
	for _, w := range words[1:] {
		for !strings.HasPrefix(w, p) {
			_, n := utf8.DecodeLastRuneInString(p)
			p = p[:len(p)-n]
		}
	}
	return p
}
