package acp

import (
	"cmp"
	"net/url"
	"strings"
	"unicode"
)

// maxPrompt is the length of a prompt's text in bytes.
const maxPrompt = 1 << 20

// A block is a piece of a prompt.
type block struct {
	Type string  `json:"type"`
	Text *string `json:"text"`
	URI  *string `json:"uri"`
}

// textOf returns the text of a prompt. A link stands in it as the path of its
// file, or as its address, apart from the words around it.
func textOf(blocks []block) (string, error) {
	var text strings.Builder
	link := false // the block before was one
	for _, b := range blocks {
		piece := cmp.Or(b.Text, new(""))
		switch {
		case b.Type == "text" && b.Text != nil:
		case b.Type == "resource_link" && b.URI != nil:
			piece = new(linkText(*b.URI))
		case b.Type == "text" || b.Type == "resource_link":
			return "", refuse(codeParams, "prompt: a %s block lacks its text or uri", b.Type)
		default:
			return "", refuse(codeParams, "prompt: blocks of type %.64q are not taken, only text and resource_link", b.Type)
		}
		if (link || b.Type == "resource_link") && text.Len() > 0 && *piece != "" && !spaced(text.String(), *piece) {
			text.WriteByte(' ')
		}
		text.WriteString(*piece)
		link = b.Type == "resource_link"
	}
	if text.Len() > maxPrompt {
		return "", refuse(codeParams, "prompt is longer than 1 MiB")
	}
	return cleanText(text.String()), nil
}

// spaced reports whether there is space between two pieces.
func spaced(a, b string) bool {
	const space = " \t\r\n"
	return strings.ContainsRune(space, rune(a[len(a)-1])) || strings.ContainsRune(space, rune(b[0]))
}

func linkText(uri string) string {
	if u, err := url.Parse(uri); err == nil && u.Scheme == "file" && u.Path != "" {
		return u.Path
	}
	return uri
}

// cleanText leaves only characters that stand for themselves, so that no text
// is a key, nor ends the paste that it is part of. Lines end in LF.
func cleanText(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r':
			return '\n'
		case unicode.IsControl(r) && r != '\n' && r != '\t':
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// keys are what is typed for a text: pasted if the program asked for that, then
// Enter.
func keys(text string, paste bool) []byte {
	text = strings.ReplaceAll(text, "\n", "\r")
	if paste {
		text = "\x1b[200~" + text + "\x1b[201~"
	}
	return []byte(text + "\r")
}
