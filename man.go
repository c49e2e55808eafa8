package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
)

// printMan prints the manual page, whose text is the help of the commands.
func printMan(ctx context.Context, stdout io.Writer) error {
	var m manual
	fmt.Fprintf(&m, ".TH HOLDFAST 1 \"\" %s \"User commands\"\n.nh\n.ad l\n", manQuote("holdfast "+version()))
	m.WriteString(".SH NAME\nholdfast \\- run terminal programs in sessions that outlive the tab, the network and the server\n")
	m.WriteString(".SH SYNOPSIS\n.B holdfast\n.I command\n[flags]\n")
	m.WriteString(".SH COMMANDS\n")
	for _, c := range commands() {
		var help bytes.Buffer
		c.run(ctx, []string{"--help"}, &help, io.Discard) // fails with flag.ErrHelp
		fmt.Fprintf(&m, ".SS %s\n", manQuote(c.name))
		m.help(help.String())
	}
	m.WriteString(".SH EXIT STATUS\n")
	m.term("0", "orderly end")
	m.term("1", "something went wrong; one line on standard error says what")
	m.term("2", "the command line is wrong")
	m.WriteString(".PP\n.B run\nexits as its program did.\n")
	m.WriteString(".SH FILES\n")
	m.term("~/.local/state/holdfast", "the store: sessions, their output, the server's token and socket")
	_, err := m.WriteTo(stdout)
	return err
}

// A manual is a page in the language of man(7).
type manual struct{ bytes.Buffer }

func (m *manual) term(term, text string) {
	fmt.Fprintf(m, ".TP\n.B %s\n%s\n", manText(term), manText(text))
}

// help sets the help of a command: its forms, prose in which indented lines stay
// as they are, and flags, each with its text in the line below.
func (m *manual) help(text string) {
	literal := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		indent := len(line) - len(strings.TrimLeft(line, " "))
		body := line[indent:]
		form := strings.TrimPrefix(body, "usage: ")
		isFlag := indent == 2 && body[0] == '-'
		if asIs := indent == 2 && !isFlag; asIs != literal {
			literal = asIs
			m.WriteString(map[bool]string{true: ".nf\n", false: ".fi\n"}[asIs])
		}
		switch {
		case body == "":
			m.WriteString(".PP\n")
		case form != body || indent == len("usage: "):
			fmt.Fprintf(m, ".br\n.B %s\n", manText(form))
		case isFlag:
			fmt.Fprintf(m, ".TP\n.B %s\n", manText(body))
		default:
			m.WriteString(manText(body) + "\n")
		}
	}
	if literal {
		m.WriteString(".fi\n")
	}
}

// manText keeps a line from being taken for a request of the language, and its
// dashes and quotes from being made typographic.
func manText(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", "\\(ga", "^", `\(ha`, "~", `\(ti`, `"`, `\(dq`).Replace(s)
	if strings.HasPrefix(s, ".") {
		s = `\&` + s
	}
	return s
}

func manQuote(s string) string { return `"` + manText(s) + `"` }
