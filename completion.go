package main

import (
	"context"
	"flag"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"holdfast/cli"
	"holdfast/session"
)

// printCompletion prints the script that teaches a shell to complete our
// command lines. The script asks for words with "completion words".
func printCompletion(ctx context.Context, args []string, stdout, _ io.Writer) error {
	if len(args) > 1 && args[0] == "words" {
		return printCandidates(ctx, args[1:], stdout)
	}
	fs := flag.NewFlagSet("completion", flag.ContinueOnError)
	const usage = `holdfast completion bash|zsh|fish

Prints a script for a shell, which then completes commands, flags and the names and ids of sessions:

  bash:  source <(holdfast completion bash)     in ~/.bashrc
  zsh:   source <(holdfast completion zsh)      in ~/.zshrc, after compinit
  fish:  holdfast completion fish | source      in ~/.config/fish/config.fish`
	words, err := cli.ParseWords(fs, args, usage, stdout)
	if err != nil {
		return err
	}
	if len(words) != 1 || shellScripts[words[0]] == "" {
		return cli.Usage("completion needs one of bash, zsh and fish", "holdfast completion --help says where its output goes")
	}
	_, err = io.WriteString(stdout, shellScripts[words[0]])
	return err
}

// printCandidates prints what may be the last of the words of a command line,
// each of which is quoted as it was typed. The first line is "files" or
// "commands" if those are for the shell to say, else "words".
func printCandidates(ctx context.Context, typed []string, stdout io.Writer) error {
	words := make([]string, len(typed))
	for i, w := range typed {
		words[i] = unquote(w)
	}
	last := words[len(words)-1]
	all, kind := nextWords(ctx, words[:len(words)-1], last)
	var b strings.Builder
	b.WriteString(kind + "\n")
	for _, c := range all {
		if strings.HasPrefix(c.Word, last) {
			b.WriteString(c.Word + "\t" + c.About + "\n")
		}
	}
	_, err := io.WriteString(stdout, b.String())
	return err
}

// nextWords returns what may come after the words of a command line, and of
// which kind it is: those of a kind but "words" are for the shell to say. Typed
// is the beginning of it.
func nextWords(ctx context.Context, before []string, typed string) (all []cli.Candidate, kind string) {
	if len(before) == 0 {
		return commandWords(), "words"
	}
	i := slices.IndexFunc(commands(), func(c command) bool { return c.name == before[0] })
	if i < 0 {
		return nil, "words"
	}
	c := commands()[i]
	l := readLine(cli.Flags(c.run), before[1:])
	switch {
	case c.args == "PROGRAM" && l.behind == 0:
		return nil, "commands"
	case l.behind >= 0:
		return nil, "files"
	case l.wants != nil:
		return flagValues(ctx, l, typed)
	case strings.HasPrefix(typed, "-"):
		for _, f := range l.flags {
			_, text := flag.UnquoteUsage(f)
			all = append(all, cli.Candidate{Word: cli.FlagWord(f), About: text})
		}
	case c.args == "COMMAND" && l.words == 0:
		return commandWords(), "words"
	case c.args == "SHELL" && l.words == 0:
		for _, shell := range slices.Sorted(maps.Keys(shellScripts)) {
			all = append(all, cli.Candidate{Word: shell})
		}
	case sessionWords[c.args] != nil && (l.words == 0 || c.args == "ID..."):
		return cli.Sessions(ctx, l.store, typed, sessionWords[c.args]), "words"
	}
	return all, "words"
}

// sessionWords are the words for a session that a command takes, one or more,
// and the sessions that are of use to it.
var sessionWords = map[string]func(*session.View) bool{"ID": cli.Any, "ID...": cli.Any, "LIVE ID": cli.Live, "PAST ID": cli.Past}

func commandWords() (all []cli.Candidate) {
	for _, c := range commands() {
		all = append(all, cli.Candidate{Word: c.name, About: c.short})
	}
	return all
}

// A line is what was typed of a command line behind the command.
type line struct {
	flags  []*flag.Flag // that the command has
	words  int          // that are neither flags nor their values
	wants  *flag.Flag   // whose value comes next, or nil
	store  string       // value of --store
	behind int          // words behind "--"; -1 without that
}

func readLine(flags []*flag.Flag, typed []string) line {
	l := line{flags: flags, behind: -1}
	for i, w := range typed {
		name, value, whole := strings.Cut(strings.TrimLeft(w, "-"), "=")
		switch {
		case l.wants != nil:
			if l.wants.Name == "store" {
				l.store = inHome(w)
			}
			l.wants = nil
		case w == "--":
			l.behind = len(typed) - i - 1
			return l
		case !strings.HasPrefix(w, "-"):
			l.words++
		case whole && name == "store":
			l.store = inHome(value)
		case !whole:
			l.wants = l.withValue(name)
		}
	}
	return l
}

// withValue returns the flag with a name if a value has to follow it.
func (l line) withValue(name string) *flag.Flag {
	for _, f := range l.flags {
		b, ok := f.Value.(interface{ IsBoolFlag() bool })
		if f.Name == name && !(ok && b.IsBoolFlag()) {
			return f
		}
	}
	return nil
}

// flagValues goes by the word that the help of the flag has for its value.
func flagValues(ctx context.Context, l line, typed string) (all []cli.Candidate, kind string) {
	value, _ := flag.UnquoteUsage(l.wants)
	var values []string
	switch value {
	case "file", "folder":
		return nil, "files"
	case "session": // to go on with
		return cli.Sessions(ctx, l.store, typed, cli.Past), "words"
	case "profile":
		values = cli.Profiles(ctx, l.store)
	case "state":
		values = session.FilterStates
	case "level":
		values = []string{"debug", "info", "warn", "error"}
	case "list":
		before := typed[:strings.LastIndexByte(typed, ',')+1]
		for _, v := range []string{"exit", "idle", "quiet", "match"} {
			values = append(values, before+v)
		}
	}
	for _, v := range values {
		all = append(all, cli.Candidate{Word: v})
	}
	return all, "words"
}

// inHome is the folder that a shell takes "~/" for.
func inHome(path string) string {
	if below, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, below)
		}
	}
	return path
}

// unquote takes away the quoting of a word, which may not be at its end yet.
// Nothing is expanded.
func unquote(word string) string {
	var b strings.Builder
	var quote byte // that the place is in, or 0
	for i := 0; i < len(word); i++ {
		switch c := word[i]; {
		case c == '\\' && quote != '\'' && i+1 < len(word) && (quote == 0 || strings.IndexByte("$`\"\\", word[i+1]) >= 0):
			i++
			b.WriteByte(word[i])
		case c == '\\' && quote == 0: // the next character is still to come
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case c == quote:
			quote = 0
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
