package session

import (
	"bytes"
	"math/bits"
	"strconv"
)

// A pen is how text is drawn, as DECSC keeps it.
type pen struct {
	ink
	sets   [4]byte // G0 to G3 by the final byte of their name; 0: ASCII
	shift  byte    // the one that is in use
	origin bool    // lines count from the scroll region
}

// An ink is what SGR sets.
type ink struct {
	attrs     uint16 // bit n: SGR n, of 1 to 9 without 4; bit 10: overline
	underline byte   // style, as SGR 4:n numbers it
	fore      colour
	back      colour
	line      colour // of the underline
}

const overline = 10

// designate makes a character set one of G0 to G3.
func (p *pen) designate(g int, set byte) {
	if set == 'B' {
		set = 0
	}
	p.sets[g] = set
}

// render is SGR with the parameters args.
func (k *ink) render(args []byte) {
	for more := true; more; {
		var one []byte
		one, args, more = bytes.Cut(args, []byte{';'})
		name, sub, isSub := bytes.Cut(one, []byte{':'})
		n := number(name, 0)
		switch {
		case n == 38 || n == 48 || n == 58:
			var c colour
			var ok bool
			if isSub {
				c, ok = colourOf(sub, ':')
			} else {
				c, args, more, ok = cutColour(args)
			}
			if ok {
				*k.colour(n) = c
			}
		case n == 4 && isSub:
			k.underline = byte(min(number(sub, 0), 5))
		case n == 0 && len(name) > 0 && name[0] != '0': // no number
		default:
			k.attribute(n)
		}
	}
}

// colour returns the colour that SGR n sets.
func (k *ink) colour(n int) *colour {
	switch n / 10 {
	case 4:
		return &k.back
	case 5:
		return &k.line
	default:
		return &k.fore
	}
}

func (k *ink) attribute(n int) {
	switch {
	case n == 0:
		*k = ink{}
	case n == 4:
		k.underline = 1
	case n >= 1 && n <= 9:
		k.attrs |= 1 << n
	case n == 21:
		k.underline = 2
	case n == 22:
		k.attrs &^= 1<<1 | 1<<2
	case n == 24:
		k.underline = 0
	case n == 25:
		k.attrs &^= 1<<5 | 1<<6
	case n == 23 || n >= 27 && n <= 29:
		k.attrs &^= 1 << (n - 20)
	case n == 53:
		k.attrs |= 1 << overline
	case n == 55:
		k.attrs &^= 1 << overline
	case n == 39 || n == 49 || n == 59:
		*k.colour(n) = 0
	case n >= 30 && n <= 37:
		k.fore = basicColour | colour(n-30)
	case n >= 40 && n <= 47:
		k.back = basicColour | colour(n-40)
	case n >= 90 && n <= 97:
		k.fore = basicColour | colour(n-90+8)
	case n >= 100 && n <= 107:
		k.back = basicColour | colour(n-100+8)
	}
}

// appendChange adds what makes a terminal that draws with from draw with p.
func (p *pen) appendChange(dst []byte, from *pen) []byte {
	dst = p.appendRender(dst, &from.ink)
	for g, set := range p.sets {
		if set == from.sets[g] {
			continue
		}
		if set == 0 {
			set = 'B'
		}
		dst = append(dst, escByte, "()*+"[g], set)
	}
	if p.shift != from.shift {
		dst = append(dst, [...]string{"\x0f", "\x0e", "\x1bn", "\x1bo"}[p.shift]...)
	}
	if p.origin != from.origin {
		dst = appendSwitch(dst, modeOrigin, false, p.origin)
	}
	return dst
}

// appendRender adds the SGR of appendChange.
func (k *ink) appendRender(dst []byte, from *ink) []byte {
	if *k == *from {
		return dst
	}
	if *k == (ink{}) {
		return append(dst, "\x1b[m"...)
	}
	dst = append(dst, "\x1b["...)
	if *from != (ink{}) {
		dst = append(dst, "0;"...)
	}
	for attrs := k.attrs; attrs != 0; attrs &= attrs - 1 {
		n := bits.TrailingZeros16(attrs)
		if n == overline {
			n = 53
		}
		dst = append(strconv.AppendInt(dst, int64(n), 10), ';')
	}
	switch k.underline {
	case 0:
	case 1:
		dst = append(dst, "4;"...)
	default:
		dst = append(dst, '4', ':', '0'+k.underline, ';')
	}
	dst = k.fore.appendTo(dst, 30)
	dst = k.back.appendTo(dst, 40)
	dst = k.line.appendTo(dst, 50)
	dst[len(dst)-1] = 'm'
	return dst
}
