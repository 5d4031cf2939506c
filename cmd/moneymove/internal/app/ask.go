package app

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/moneymovement/moneymovement-go/internal/plaintext"
)

// CanAsk reports whether a person can be asked: there is a terminal, and no flag reads standard input.
func (a *App) CanAsk() bool { return a.InTerminal && a.ErrTerminal && a.inputOf == "" }

// ConfirmWithin asks a question on the terminal for as long as ctx lasts, and reports whether the person typed yes. If
// there is no terminal, it fails with an error of the command line that names the flag -yes. When ctx ends, it fails
// with the reason. Nothing can be asked after that, because the terminal is still read.
func (a *App) ConfirmWithin(ctx context.Context, question string) (bool, error) {
	if !a.CanAsk() {
		return false, Usagef("there is no terminal to ask on: give -yes if you are sure")
	}
	if _, err := fmt.Fprintf(a.Err, "%s Type yes to go on: ", plaintext.Line(question)); err != nil {
		return false, err
	}
	if a.typed == nil { // one reader for all questions, because it may have read more than a line
		a.typed = bufio.NewReader(a.In)
	}
	type answer struct {
		line string
		err  error
	}
	answered := make(chan answer, 1)
	go func(typed *bufio.Reader) {
		line, err := typed.ReadString('\n')
		answered <- answer{line, err}
	}(a.typed)
	select {
	case <-ctx.Done():
		_, _ = fmt.Fprintln(a.Err) // after the question
		return false, context.Cause(ctx)
	case got := <-answered:
		if got.err != nil && !errors.Is(got.err, io.EOF) {
			return false, got.err
		}
		return strings.TrimSpace(got.line) == "yes", nil
	}
}
