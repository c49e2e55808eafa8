package cli

import (
	"errors"
	"strings"
)

// splitWords splits a line at spaces that do not stand in quotes or behind a
// backslash, as a shell does, without its expansions.
func splitWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune
	inWord, escaped := false, false
	for _, r := range line {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			inWord, escaped = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			inWord, quote = true, r
		case quote == 0 && (r == ' ' || r == '\t'):
			if inWord {
				words = append(words, word.String())
				word.Reset()
			}
			inWord = false
		default:
			inWord = true
			word.WriteRune(r)
		}
	}
	if quote != 0 || escaped {
		return nil, errors.New("the line ends within quotes; nothing was done")
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}
