package app

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// CanAsk reports whether a person can be asked: there is a terminal, and no flag reads standard input.
func (a *App) CanAsk() bool { return a.InTerminal && a.ErrTerminal && a.inputOf == "" }

// Confirm asks a question on the terminal, and reports whether the person typed yes. Without a terminal it fails with
// an error of the command line that names the flag -yes.
func (a *App) Confirm(question string) (bool, error) {
	if !a.CanAsk() {
		return false, Usagef("there is no terminal to ask on: give -yes if you are sure")
	}
	if _, err := fmt.Fprintf(a.Err, "%s Type yes to go on: ", Plain(question)); err != nil {
		return false, err
	}
	line, err := bufio.NewReader(a.In).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return strings.TrimSpace(line) == "yes", nil
}
