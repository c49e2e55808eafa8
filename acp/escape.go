package acp

import "unicode/utf8"

// A decoder takes a terminal's byte stream apart, as the state machine of
// ECMA-48 and of DEC terminals does. Pieces may be cut anywhere.
type decoder struct {
	to    *screen
	state decoderState

	params  []int // of a control sequence; -1: not given
	private byte  // a character from < to ? before them, or 0
	inter   byte  // the last intermediate character, or 0
	rune    []byte
}

type decoderState uint8

const (
	inText         decoderState = iota
	inEscape                    // after ESC and its intermediate bytes
	inShift                     // after SS2 or SS3: one byte more
	inControl                   // after CSI
	inString                    // after OSC, DCS, SOS, PM or APC, until ST or BEL
	inStringEscape              // after ESC in a string
)

const (
	maxParams = 16
	maxParam  = 9999 // larger ones are as good
)

func (d *decoder) write(p []byte) {
	for _, b := range p {
		d.next(b)
	}
}

// next takes one byte.
func (d *decoder) next(b byte) {
	switch {
	case b == 0x18 || b == 0x1a: // CAN, SUB
		d.state = inText
		return
	case b == 0x1b && d.state == inString:
		d.state = inStringEscape
		return
	case b == 0x1b:
		d.flushRune()
		d.state, d.inter = inEscape, 0
		return
	}
	switch d.state {
	case inText:
		d.text(b)
	case inStringEscape:
		if d.state, d.inter = inEscape, 0; b == '\\' {
			d.state = inText
			return
		}
		d.escape(b)
	case inEscape:
		d.escape(b)
	case inShift:
		d.state = inText
	case inControl:
		d.control(b)
	case inString:
		if b == 0x07 {
			d.state = inText
		}
	}
}

// text takes a byte outside of sequences.
func (d *decoder) text(b byte) {
	if b < utf8.RuneSelf {
		d.flushRune()
		if b < ' ' {
			d.to.c0(b)
		} else if b != 0x7f {
			d.to.put(rune(b))
		}
		return
	}
	if utf8.RuneStart(b) {
		d.flushRune()
	}
	if d.rune = append(d.rune, b); utf8.FullRune(d.rune) {
		d.flushRune()
	}
}

// flushRune shows a character that is complete, or U+FFFD for what is none.
func (d *decoder) flushRune() {
	for len(d.rune) > 0 {
		r, n := utf8.DecodeRune(d.rune)
		d.rune = d.rune[n:]
		if r < 0x80 || r >= 0xa0 { // no C1 control
			d.to.put(r)
		}
	}
	d.rune = d.rune[:0]
}

func (d *decoder) escape(b byte) {
	switch {
	case b < ' ':
		d.to.c0(b)
	case b < 0x30:
		d.inter = b
	case d.inter != 0:
		d.state = inText
		if d.inter == '(' {
			d.to.lineDrawing = b == '0'
		}
	case b == '[':
		d.state, d.params, d.private = inControl, append(d.params[:0], -1), 0
	case b == ']' || b == 'P' || b == 'X' || b == '^' || b == '_':
		d.state = inString
	case b == 'N' || b == 'O':
		d.state = inShift
	default:
		d.state = inText
		d.to.esc(b)
	}
}

func (d *decoder) control(b byte) {
	last := len(d.params) - 1
	switch {
	case b < ' ':
		d.to.c0(b)
	case b >= '0' && b <= '9':
		d.params[last] = min(max(d.params[last], 0)*10+int(b-'0'), maxParam)
	case b == ';' || b == ':':
		if len(d.params) < maxParams {
			d.params = append(d.params, -1)
		}
	case b >= '<' && b <= '?':
		d.private = b
	case b < 0x40:
		d.inter = b
	case b < 0x7f:
		d.state = inText
		if d.inter == 0 {
			d.to.csi(d.private, b, d.params)
		}
	}
}
