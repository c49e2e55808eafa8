package cli

import (
	"fmt"
	"slices"
	"testing"
)

// However keys come together, the ones that end a line are told apart.
func TestKeysOfTheCommandLine(t *testing.T) {
	for _, tt := range []struct {
		typed string
		want  []string
	}{
		{"/help", []string{"/help"}},
		{"/help\r\x1b", []string{"/help\r", "\x1b"}},
		{"/he\x1b\x1d", []string{"/he", "\x1b", "\x1d"}},
		{"\x1b\r", []string{"\x1b", "\r"}},
		{"\x1b\x1b[A\x1bOB", []string{"\x1b", "\x1b[A\x1bOB"}},
		{"a\x1bb\x03\x04\n", []string{"a\x1bb\x03", "\x04", "\n"}},
	} {
		t.Run(fmt.Sprintf("%q", tt.typed), func(t *testing.T) {
			k := &keys{line: []byte(tt.typed)}
			k.more.L = &k.mu
			var got []string
			for p := make([]byte, 64); len(k.line) > 0; {
				n, err := k.Read(p)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, string(p[:n]))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("read %q, want %q", got, tt.want)
			}
		})
	}
}
