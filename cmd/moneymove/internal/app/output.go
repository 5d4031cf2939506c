package app

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"unicode"

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
	return a.PrintJSON(result)
}

// AsksForJSON reports whether the command line itself says -o json. A pipe alone does not ask.
func (a *App) AsksForJSON() bool { return a.output == "json" }

// PrintJSON writes one line of JSON, whatever the form of the output is.
func (a *App) PrintJSON(result any) error {
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
			cells[i] = Plain(cell)
		}
		_, _ = fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	return w.Flush()
}

// Plain keeps text of others from moving a terminal's cursor, changing its colors or reversing its line: it replaces
// every character that is not printed.
func Plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			return '·'
		}
		return r
	}, text)
}

// Indented returns JSON for people.
func Indented(value any) (string, error) {
	text, err := json.Marshal(value, json.Deterministic(true), jsontext.WithIndent("  "))
	return string(text), err
}
