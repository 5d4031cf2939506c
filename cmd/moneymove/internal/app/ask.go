package app

import (
	"bufio"
	"fmt"
	"strings"
)

// Confirm asks the person at the terminal a question, and reports whether the reply is yes. Without a terminal nobody
// can be asked: the error then says which flag gives the reply.
func (a *App) Confirm(question, flag string) (bool, error) {
	if !a.InTerminal {
		return false, Usagef("nobody can be asked, because the input is not a terminal: give %s if you are sure", flag)
	}
	_, _ = fmt.Fprintf(a.Err, "%s [y/N] ", Plain(question))
	line, err := bufio.NewReader(a.In).ReadString('\n')
	if err != nil && line == "" {
		_, _ = fmt.Fprintln(a.Err)
		return false, nil // the end of the input is no yes
	}
	reply := strings.ToLower(strings.TrimSpace(line))
	return reply == "y" || reply == "yes", nil
}
