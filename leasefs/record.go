package leasefs

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// The sizes of the strings in a record, in bytes, are such that a record is
// always shorter than maxRecord. A write of that size within one page is
// rarely torn; the checksum tells when it was.
const (
	maxRecord = 512
	maxBoot   = 40
	maxHost   = 64
	maxFront  = 16
	maxAddr   = 240
)

// errRecord reports bytes that are not a holder record: torn, or not ours.
var errRecord = errors.New("holder record damaged")

// A Holder says who holds a lease, for people to read. As a record it lies at
// the beginning of the lock file: the CRC-32 of the JSON in hex, a space, the
// JSON, a newline.
//
// Strings that come out of a record are printable, have no quotes and no
// backslashes; what goes in is made so.
type Holder struct {
	PID   int       `json:"pid"`
	Start uint64    `json:"start"`          // start of the process, in clock ticks since boot
	Boot  string    `json:"boot"`           // boot id of its machine
	Host  string    `json:"host"`           // host name, at most 64 bytes
	Since time.Time `json:"since"`          // UTC; set by Acquire
	Front string    `json:"front"`          // serve, run or acp
	Addr  string    `json:"addr,omitempty"` // where to attach, without a token
}

// A HeldError says who has a lease. It matches ErrHeld.
type HeldError struct {
	Holder *Holder // nil if the record could not be read
	Own    bool    // it is this process
}

func (e *HeldError) Error() string { return "session is in use by " + e.By() }

// By says who has the session.
func (e *HeldError) By() string {
	switch {
	case e.Own:
		return "this process"
	case e.Holder == nil:
		return "another process"
	}
	on := ""
	if host := clean(e.Holder.Host, maxHost); host != "" {
		on = " on " + host
	}
	return fmt.Sprintf("pid %d%s since %s", e.Holder.PID, on, e.Holder.Since.Local().Format(time.DateTime))
}

// Is makes a HeldError match ErrHeld.
func (e *HeldError) Is(target error) bool { return target == ErrHeld }

// ReadHolder returns the record in a lock file, which says who holds the
// lease if anybody does. It never locks and never writes. A record that is
// just being written is read again for at most 100 ms. No record, or no file,
// is nil and no error.
func ReadHolder(path string) (*Holder, error) {
	for begun := time.Now(); ; time.Sleep(time.Millisecond) {
		h, err := readRecord(path)
		if !errors.Is(err, errRecord) || time.Since(begun) >= retryFor {
			return h, err
		}
	}
}

// readRecord reads the record once.
func readRecord(path string) (*Holder, error) {
	f, err := openFile(path, os.O_RDONLY|noFollow, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := recordBytes(f)
	if err != nil || len(b) == 0 {
		return nil, err
	}
	return decodeHolder(b)
}

// recordBytes reads what is where the record belongs, and one byte more than
// a record may have.
func recordBytes(f *file) ([]byte, error) {
	b := make([]byte, maxRecord)
	n, err := f.ReadAt(b, 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	return b[:n], nil
}

// encode returns h as a record. What encoding/json does takes as long as half
// the system calls of a lease.
func (h Holder) encode() []byte {
	const sumSize = len("00000000 ")
	b := make([]byte, sumSize, maxRecord/2) // most are shorter
	b = strconv.AppendInt(append(b, `{"pid":`...), int64(h.PID), 10)
	b = strconv.AppendUint(append(b, `,"start":`...), h.Start, 10)
	b = appendClean(append(b, `,"boot":`...), h.Boot, maxBoot)
	b = appendClean(append(b, `,"host":`...), h.Host, maxHost)
	b = h.Since.AppendFormat(append(b, `,"since":"`...), time.RFC3339Nano)
	b = appendClean(append(b, `","front":`...), h.Front, maxFront)
	if h.Addr != "" && len(h.Addr) <= maxAddr { // half an address leads nowhere
		b = appendClean(append(b, `,"addr":`...), h.Addr, maxAddr)
	}
	b = append(b, '}')
	var sum [crc32.Size]byte
	binary.BigEndian.PutUint32(sum[:], crc32.ChecksumIEEE(b[sumSize:]))
	hex.Encode(b, sum[:])
	b[sumSize-1] = ' '
	return append(b, '\n')
}

// appendClean adds what clean makes of s to dst as a JSON string.
func appendClean(dst []byte, s string, limit int) []byte {
	dst = append(dst, '"')
	return append(append(dst, clean(s, limit)...), '"')
}

// decodeHolder is the reverse of encode. It returns errRecord for anything
// that encode would not write; only members that it does not know are let
// pass, since a newer version may have written them.
func decodeHolder(b []byte) (*Holder, error) {
	line, ended := bytes.CutSuffix(b, []byte("\n"))
	sum, doc, found := bytes.Cut(line, []byte(" "))
	if !ended || !found || len(b) >= maxRecord || string(sum) != fmt.Sprintf("%08x", crc32.ChecksumIEEE(doc)) {
		return nil, errRecord
	}
	var h Holder
	if err := json.Unmarshal(doc, &h); err != nil {
		return nil, errRecord
	}
	h.Since = h.Since.UTC()
	switch {
	case h.PID <= 0,
		h.Since.IsZero(), h.Since.Year() < 0, h.Since.Year() > 9999,
		h.Boot != clean(h.Boot, maxBoot),
		h.Host != clean(h.Host, maxHost),
		h.Front != clean(h.Front, maxFront),
		h.Addr != clean(h.Addr, maxAddr):
		return nil, errRecord
	}
	return &h, nil
}

// clean returns s, at most limit bytes of it, with a question mark for
// everything that a terminal might act on or that JSON would escape.
func clean(s string, limit int) string {
	if len(s) <= limit && plain(s) {
		return s
	}
	s = strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || r == '"' || r == '\\' || !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "")
	}
	return s
}

// plain reports whether s is of ASCII that clean lets be. Most strings are.
func plain(s string) bool {
	for i := range len(s) {
		if b := s[i]; b < ' ' || b > '~' || b == '"' || b == '\\' {
			return false
		}
	}
	return true
}
