package session

import (
	"strings"
	"testing"
)

func TestPlainWriterLeavesTheText(t *testing.T) {
	for in, want := range map[string]string{
		"":                                     "",
		"a\tb\nc":                              "a\tb\nc",
		"a\r\nb\r\r\nc":                        "a\nb\nc",
		"10%\r20%\r\n":                         "10%\n20%\n",
		"\x1b[?2004l\rhi\r\n":                  "hi\n",
		"a\r":                                  "a\n",
		"\r\n\r\n":                             "\n\n",
		"\x1b[1;31mred\x1b[0m \x1b(Bplain":     "red plain",
		"\x1b]0;title\x07x\x1b]8;;u\x1b\\link": "xlink",
		"\x1bPq#0\x1b\\x\x1b_apc\x1b\\y":       "xy",
		"\x1b[12\x18z\x1bOAend":                "zend",
		"a\x00\x07\x08\x7fb":                   "ab",
		"é\xff\xc3(\u009b日":                    "é\uFFFD\uFFFD(日",
		"cut\x1b[3":                            "cut",
		"half \xe6\x97":                        "half \uFFFD\uFFFD",
	} {
		for _, piece := range []int{1, 2, 3, 1 << 10} {
			var b strings.Builder
			w := NewPlainWriter(&b)
			for rest := in; rest != ""; {
				n := min(piece, len(rest))
				if _, err := w.Write([]byte(rest[:n])); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			if err := w.Close(); err != nil || b.String() != want {
				t.Errorf("text of %q in pieces of %d = %q, %v; want %q", in, piece, &b, err, want)
			}
		}
	}
}
