package session

import (
	"bytes"
	"strconv"
)

// A colour is 0 for the terminal's own; else its kind and its value.
type colour uint32

const (
	basicColour   colour = 1 << 24 // 0 to 15
	paletteColour colour = 2 << 24 // 0 to 255
	rgbColour     colour = 3 << 24
)

// cutColour reads a colour from parameters of their own: 5;n or 2;r;g;b.
func cutColour(args []byte) (c colour, rest []byte, more, ok bool) {
	kind, rest, more := bytes.Cut(args, []byte{';'})
	values := 0
	switch number(kind, 0) {
	case 5:
		values = 1
	case 2:
		values = 3
	}
	length := len(kind)
	for ; values > 0 && more; values-- {
		var one []byte
		one, rest, more = bytes.Cut(rest, []byte{';'})
		length += 1 + len(one)
	}
	c, ok = colourOf(args[:length], ';')
	return c, rest, more, ok
}

// colourOf reads 5:n, 2:r:g:b and 2:space:r:g:b.
func colourOf(args []byte, separator byte) (colour, bool) {
	var v [5]int
	n := 0
	for more := true; more && n < len(v); n++ {
		var one []byte
		one, args, more = bytes.Cut(args, []byte{separator})
		v[n] = number(one, 0)
	}
	rgb := v[1:4]
	if separator == ':' && n == 5 {
		rgb = v[2:5]
	}
	switch {
	case v[0] == 5 && n >= 2 && v[1] < 256:
		return paletteColour | colour(v[1]), true
	case v[0] == 2 && n >= 4 && max(rgb[0], rgb[1], rgb[2]) < 256:
		return rgbColour | colour(rgb[0]<<16|rgb[1]<<8|rgb[2]), true
	default:
		return 0, false
	}
}

// appendTo adds the SGR of a colour, as 30 for text, 40 for the background and
// 50 for the underline, and a semicolon.
func (c colour) appendTo(dst []byte, base int) []byte {
	value := int(c & 0xffffff)
	red, green, blue := value>>16, value>>8&0xff, value&0xff
	switch c &^ 0xffffff {
	case basicColour:
		if value >= 8 {
			value += 60 - 8
		}
		dst = appendNumbers(dst, ';', base+value)
	case paletteColour:
		dst = appendNumbers(dst, separatorOf(base), base+8, 5, value)
	case rgbColour:
		if base == 50 {
			dst = append(appendNumbers(dst, ':', base+8, 2), ':', ':')
			dst = appendNumbers(dst, ':', red, green, blue)
		} else {
			dst = appendNumbers(dst, ';', base+8, 2, red, green, blue)
		}
	default:
		return dst
	}
	return append(dst, ';')
}

// separatorOf is a colon for the underline: a terminal that does not know its
// colour must not take the numbers for others.
func separatorOf(base int) byte {
	if base == 50 {
		return ':'
	}
	return ';'
}

func appendNumbers(dst []byte, separator byte, numbers ...int) []byte {
	for i, n := range numbers {
		if i > 0 {
			dst = append(dst, separator)
		}
		dst = strconv.AppendInt(dst, int64(n), 10)
	}
	return dst
}
