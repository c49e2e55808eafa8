package cli

import (
	"context"
	"slices"
	"strconv"
	"strings"
)

// completions are the words that can stand at the end of a line, and where that
// word begins.
func (f *front) completions(line string) (words []string, from int) {
	ctx, cancel := context.WithTimeout(context.Background(), completionTime)
	defer cancel()
	from = strings.LastIndexByte(line, ' ') + 1
	word := line[from:]
	var known []string
	if from > 0 {
		c, err := findCommand(strings.TrimPrefix(strings.Fields(line + " x")[0], "/"))
		if err != nil || c.complete == nil {
			return nil, from
		}
		known = c.complete(f, ctx)
	} else {
		word = "/" + strings.TrimPrefix(word, "/")
		for _, c := range lineCommands() {
			known = append(known, "/"+c.name)
		}
	}
	return slices.DeleteFunc(known, func(w string) bool { return !strings.HasPrefix(w, word) }), from
}

// sessionWords are the ids of the sessions, and the names that are one word.
func (f *front) sessionWords(ctx context.Context) []string { return sessionWords(ctx, f.h) }

func sessionWords(ctx context.Context, h host) []string {
	views, _ := h.list(ctx)
	var words []string
	for _, v := range views {
		if v.Name != "" && Plain(v.Name) == v.Name && !strings.ContainsAny(v.Name, ` '"\`) {
			words = append(words, v.Name)
		}
		words = append(words, v.ID)
	}
	return words
}

func (f *front) profileWords(ctx context.Context) []string {
	names, _ := f.h.profiles(ctx)
	return names
}

func (f *front) turnWords(ctx context.Context) []string {
	turns, _ := f.h.turns(ctx, f.view.ID)
	var words []string
	for _, t := range turns {
		words = append(words, strconv.Itoa(t.Turn))
	}
	return words
}
