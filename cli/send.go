package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"holdfast/leasefs"
)

// Send types into a live session: the words of the command line, or standard
// input as it arrives.
func Send(ctx context.Context, args []string, stdout, _ io.Writer) error {
	c := newCommand("send", `holdfast send ID [--enter] [--] TEXT...
       holdfast send ID [--enter] < FILE

Types into a live session: the words of TEXT with spaces between them, or standard input as it arrives if there is no TEXT.
TEXT that begins with a dash comes behind "--".`).withJSON()
	var enter bool
	c.BoolVar(&enter, "enter", false, "press Enter at the end")
	words, err := c.parse(args, stdout, 1, -1)
	if err != nil {
		return err
	}
	text, stream := strings.Join(words[1:], " "), len(words) == 1
	if !stream && text == "" && !enter {
		return Usage("there is nothing to type: the text is empty", "give TEXT or --enter")
	}
	if enter {
		text += "\r"
	}
	var in io.Reader = strings.NewReader(text)
	if stream {
		in = io.MultiReader(os.Stdin, in)
	}
	b, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer b.close()
	v, err := called(ctx, b, words[0])
	if err != nil {
		return err
	}
	receipt, err := b.input(ctx, v.ID, in, stream)
	if e, ok := errors.AsType[*leasefs.HeldError](err); ok {
		return fmt.Errorf("%w; type there, or watch it with holdfast attach %s", e, commandText(words[:1]))
	}
	if err != nil {
		return Explain(words[0], err)
	}
	if receipt.Written == 0 {
		return errors.New("there was nothing to type: standard input is empty; --enter presses Enter")
	}
	if c.json {
		return PrintJSON(stdout, receipt)
	}
	return nil
}
