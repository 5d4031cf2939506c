package app

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Table is a result for people.
type Table struct {
	Head []string
	Rows [][]string
}

// Print writes a result: as a table for people, or as one line of JSON for programs.
func (a *App) Print(result any, table func() Table) error {
	asJSON, err := a.JSON()
	if err != nil {
		return err
	}
	if !asJSON {
		return a.printTable(table())
	}
	line, err := json.Marshal(result, json.Deterministic(true))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Out, "%s\n", line)
	return err
}

// JSON reports whether results are printed as JSON.
func (a *App) JSON() (bool, error) {
	switch a.output {
	case "":
		return !a.Terminal, nil
	case "json":
		return true, nil
	case "table":
		return false, nil
	default:
		return false, Usagef("-o is %q; give table or json", a.output)
	}
}

func (a *App) printTable(table Table) error {
	w := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	if len(table.Head) > 0 {
		_, _ = fmt.Fprintln(w, strings.Join(table.Head, "\t"))
	}
	for _, row := range table.Rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = plain(cell)
		}
		_, _ = fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	return w.Flush()
}

// plain keeps what a host sent from moving a terminal's cursor or changing its colors.
func plain(cell string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || 0x80 <= r && r < 0xa0 {
			return '·'
		}
		return r
	}, cell)
}

// Indented returns JSON for people.
func Indented(value any) (string, error) {
	text, err := json.Marshal(value, json.Deterministic(true), jsontext.WithIndent("  "))
	return string(text), err
}
