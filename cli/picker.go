package cli

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"holdfast/session"
)

// A picker is a list of sessions to choose from with the arrow keys. What is
// typed narrows it.
type picker struct {
	views  []session.View
	filter string
	row    int // in the list as it is narrowed
}

// pick lets the person choose. It returns nil if nothing was chosen.
func (f *front) pick(views []session.View) (*session.View, error) {
	p := picker{views: views}
	buf := make([]byte, 256)
	for {
		p.draw(f)
		n, err := f.keys.Read(buf)
		if err != nil {
			return nil, hangup
		}
		v, done := p.press(string(buf[:n]))
		if done {
			f.tty.write(clearScreen)
			return v, nil
		}
	}
}

// press takes keys that came together.
func (p *picker) press(keys string) (chosen *session.View, done bool) {
	for keys != "" && !done {
		key := firstKey(keys)
		keys = keys[len(key):]
		chosen, done = p.pressOne(key)
	}
	return chosen, done
}

func (p *picker) pressOne(key string) (chosen *session.View, done bool) {
	switch key {
	case "\x1b[A", "\x1bOA", "\x10": // up, ^P
		p.row--
	case "\x1b[B", "\x1bOB", "\x0e": // down, ^N
		p.row++
	case "\r", "\n":
		if fit := p.fit(); len(fit) > 0 {
			return &fit[p.row], true
		}
	case "\x1b", "\x03", "\x04", string(rune(commandKey)):
		return nil, true
	case "\x7f", "\b":
		_, n := utf8.DecodeLastRuneInString(p.filter)
		p.filter = p.filter[:len(p.filter)-n]
	case "\x15": // ^U
		p.filter = ""
	default:
		if Plain(key) == key {
			p.filter += key
			p.row = 0
		}
	}
	p.row = max(0, min(p.row, len(p.fit())-1))
	return nil, false
}

// firstKey is the key that keys begins with: a character, or the sequence of a
// key that has none.
func firstKey(keys string) string {
	if len(keys) > 2 && keys[0] == 0x1b && (keys[1] == '[' || keys[1] == 'O') {
		for i := 2; i < len(keys); i++ {
			if keys[i] >= 0x40 && keys[i] < 0x7f {
				return keys[:i+1]
			}
		}
		return keys
	}
	_, n := utf8.DecodeRuneInString(keys)
	return keys[:n]
}

// fit are the sessions that the filter leaves.
func (p *picker) fit() []session.View {
	var fit []session.View
	for _, v := range p.views {
		if (session.Filter{Query: p.filter}).Match(&v) {
			fit = append(fit, v)
		}
	}
	return fit
}

// draw writes the list around the chosen row, as much as fits.
func (p *picker) draw(f *front) {
	cols, rows := f.tty.size()
	fit := p.fit()
	room := max(1, rows-4)
	first := max(0, min(p.row-room/2, len(fit)-room))
	var b strings.Builder
	b.WriteString(clearScreen + cut("Enter goes there, Esc leads back, the arrow keys move, what you type narrows the list", cols) + "\r\n")
	fmt.Fprintf(&b, "%s\r\n", cut(fmt.Sprintf("%d of %d sessions  %s", len(fit), len(p.views), Plain(p.filter)), cols))
	for i := first; i < min(len(fit), first+room); i++ {
		v, mark := &fit[i], "  "
		if i == p.row {
			mark = "> "
		}
		line := cut(fmt.Sprintf("%s%-8s  %-16s %-22s %-12s %s", mark, shortID(v), cut(cmp.Or(Plain(v.Name), "-"), 16), stateText(v),
			ago(v.ActiveAt, time.Now()), programText(v)), cols)
		if i == p.row {
			line = reverse + line + normal
		}
		b.WriteString("\r\n" + line)
	}
	f.tty.write(b.String())
}
