package static_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"testing"

	"holdfast/session"
	"holdfast/session/process"
	"holdfast/store"
)

// TestMain lets the test binary be another process that holds a session of a
// store: $HOLDFAST_TEST_HOLD.
func TestMain(m *testing.M) {
	if dir := os.Getenv("HOLDFAST_TEST_HOLD"); dir != "" {
		if err := hold(dir); err != nil {
			fmt.Fprintln(os.Stderr, "holder:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// hold starts a session, says its id, types the lines of its own stdin into
// it, and ends the session when there are no more.
func hold(dir string) error {
	st, err := store.Open(dir, store.Options{Boot: process.BootID()})
	if err != nil {
		return err
	}
	c, err := session.Open(session.Config{Store: st, Front: "run"})
	if err != nil {
		return err
	}
	defer c.Close()
	v, err := c.New(session.Spec{Name: "deploy", Argv: []string{"cat"}, Cols: new(100), Rows: new(30)})
	if err != nil {
		return err
	}
	fmt.Println(v.ID)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		if _, err := c.Input(context.Background(), v.ID, session.Input{Data: append(lines.Bytes(), '\r')}); err != nil {
			return err
		}
	}
	return nil
}
