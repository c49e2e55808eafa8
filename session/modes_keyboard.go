package session

import "fmt"

// A keyboard has the flags of the kitty keyboard protocol, and those that were
// pushed away. https://sw.kovidgoyal.net/kitty/keyboard-protocol/
type keyboard struct {
	flags byte
	depth byte
	stack [8]byte // the first depth of them; the others are 0
}

// change carries out a push (>), a pop (<) or a change (=) of the flags.
func (k *keyboard) change(how byte, args []byte) {
	first, rest := field(args)
	second, _ := field(rest)
	flags := byte(number(first, 0) & 0x1f)
	switch how {
	case '>':
		k.push(flags)
	case '<':
		for n := max(number(first, 1), 1); n > 0 && *k != (keyboard{}); n-- {
			k.pop()
		}
	default:
		switch number(second, 1) {
		case 1:
			k.flags = flags
		case 2:
			k.flags |= flags
		case 3:
			k.flags &^= flags
		}
	}
}

func (k *keyboard) push(flags byte) {
	if int(k.depth) == len(k.stack) { // the oldest gives way
		copy(k.stack[:], k.stack[1:])
		k.depth--
	}
	k.stack[k.depth] = k.flags
	k.depth++
	k.flags = flags
}

func (k *keyboard) pop() {
	if k.depth == 0 {
		k.flags = 0
		return
	}
	k.depth--
	k.flags, k.stack[k.depth] = k.stack[k.depth], 0
}

// appendSet adds what brings a fresh keyboard here.
func (k *keyboard) appendSet(dst []byte) []byte {
	for i, flags := range append(k.stack[:k.depth:k.depth], k.flags) {
		if i > 0 {
			dst = fmt.Appendf(dst, "\x1b[>%du", flags)
		} else if flags > 0 {
			dst = fmt.Appendf(dst, "\x1b[=%du", flags)
		}
	}
	return dst
}

// appendReset adds what brings it back to a fresh one.
func (k *keyboard) appendReset(dst []byte) []byte {
	if *k == (keyboard{}) {
		return dst
	}
	return fmt.Appendf(dst, "\x1b[<%du\x1b[=0u", len(k.stack))
}
