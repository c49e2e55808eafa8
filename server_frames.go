package main

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"strconv"
	"strings"

	"holdfast/session"
	"holdfast/store"
)

// appendFrame adds an event to dst as one frame of an event stream. It is a
// function of the event alone.
//
// A frame never has a raw carriage return, line feed or NUL in its data: JSON
// escapes them. An event that stands for a place in a session's output has
// that place as its id, so that a client which comes back misses nothing and
// sees nothing twice. The others leave the client's last id as it is.
func appendFrame(dst []byte, ev *session.Event) ([]byte, error) {
	if placed(ev) {
		dst = append(dst, "id: "...)
		dst = append(dst, ev.ID...)
		dst = append(dst, '/')
		dst = strconv.AppendInt(dst, ev.Cursor, 10)
		dst = append(dst, '\n')
	}
	dst = append(dst, "event: "...)
	dst = append(dst, ev.Kind...)
	dst = append(dst, "\ndata: "...)
	switch ev.Kind {
	case session.KindOutput:
		dst = appendString(dst, ev.Data)
	case session.KindBytes:
		dst = append(dst, '"')
		dst = base64.StdEncoding.AppendEncode(dst, ev.Data)
		dst = append(dst, '"')
	default:
		data, err := json.Marshal(frameData(ev))
		if err != nil {
			return nil, err
		}
		dst = append(dst, data...)
	}
	return append(dst, "\n\n"...), nil
}

func placed(ev *session.Event) bool {
	switch ev.Kind {
	case session.KindSession, session.KindSessions, session.KindBind:
		return false
	default:
		return ev.ID != "" // a ping comes also while nothing is bound
	}
}

// The data of the events that are not output.
type (
	resizeData struct {
		Cols uint16 `json:"cols"`
		Rows uint16 `json:"rows"`
	}
	runData struct {
		Run int `json:"run"`
	}
	cursorData struct {
		Cursor int64 `json:"cursor"`
	}
	terminalData struct {
		Answers bool `json:"answers"`
	}
	gapData struct {
		From int64 `json:"from"`
		To   int64 `json:"to"`
	}
	endData struct {
		State    string `json:"state"`
		ExitCode *int   `json:"exit_code"`
		Signal   string `json:"signal"`
	}
	bindData struct {
		ID *string `json:"id"` // null: nothing is bound
	}
	deletedData struct {
		ID      string `json:"id"`
		Deleted bool   `json:"deleted"`
	}
)

func frameData(ev *session.Event) any {
	switch ev.Kind {
	case session.KindResize:
		return resizeData{ev.Cols, ev.Rows}
	case session.KindRun:
		return runData{ev.Run}
	case session.KindLive, session.KindPing:
		return cursorData{ev.Cursor}
	case session.KindTerminal:
		return terminalData{ev.Answers}
	case session.KindGap:
		return gapData{ev.From, ev.To}
	case session.KindEnd:
		return endData{ev.View.State, ev.View.ExitCode, ev.View.Signal}
	case session.KindBind:
		if ev.ID == "" {
			return bindData{}
		}
		return bindData{&ev.ID}
	case session.KindSessions:
		if ev.Deleted {
			return deletedData{ev.ID, true}
		}
	}
	return ev.View
}

// plain returns where the next byte of p is, from i on, that does not stand
// for itself in a JSON string, or len(p). It looks at 8 bytes at once: most of
// what programs print stands for itself.
func plain(p []byte, i int) int {
	const each, high = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(p); i += 8 {
		w := binary.LittleEndian.Uint64(p[i:])
		quote, slash := w^each*'"', w^each*'\\'
		// The lowest bit that is set is that of the first byte which is
		// below ' ', or 0 after the XOR; what is above it may be wrong.
		if found := ((w-each*' ')&^w | (quote-each)&^quote | (slash-each)&^slash) & high; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for i < len(p) && p[i] >= ' ' && p[i] != '"' && p[i] != '\\' {
		i++
	}
	return i
}

// appendString adds p, which must be valid UTF-8, to dst as a JSON string. It
// is what encoding/json does, without its checks and its HTML escapes, and
// several times as fast: output is most of what a server sends.
func appendString(dst, p []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for start := 0; ; start++ {
		i := plain(p, start)
		dst = append(dst, p[start:i]...)
		if i == len(p) {
			return append(dst, '"')
		}
		start = i
		b := p[i]
		switch b {
		case '"', '\\':
			dst = append(dst, '\\', b)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[b>>4], hex[b&15])
		}
	}
}

// parseEventID reads what appendFrame wrote as id. Anything else is no id.
func parseEventID(s string) (id string, cursor int64, ok bool) {
	id, digits, _ := strings.Cut(s, "/")
	n, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || !store.ValidID(id) {
		return "", 0, false
	}
	return id, int64(n), true
}
