package app

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/moneymovement/moneymovement-go/internal/plaintext"
)

// Table is a result for people.
type Table struct {
	Head []string
	Rows [][]string
	// Right are the columns of numbers, from 0, which are aligned at their right side.
	Right []int
}

// alignRight puts spaces before the numbers.
func (t Table) alignRight(lines [][]string) {
	for _, column := range t.Right {
		width := 0
		for _, line := range lines {
			if column < len(line) {
				width = max(width, utf8.RuneCountInString(line[column]))
			}
		}
		for _, line := range lines {
			if column < len(line) {
				line[column] = strings.Repeat(" ", width-utf8.RuneCountInString(line[column])) + line[column]
			}
		}
	}
}

// Print writes a result: as a table for people, or as one line of JSON for programs.
func (a *App) Print(result any, table func() Table) error {
	asJSON, err := a.JSON()
	if err != nil {
		return err
	}
	if !asJSON {
		return table().write(a.Out)
	}
	return a.PrintJSON(result)
}

// AsksForJSON reports whether the command line itself says -o json. A pipe alone does not ask.
func (a *App) AsksForJSON() bool { return a.output == "json" }

// PrintJSON writes one line of JSON, whatever the form of the output is.
func (a *App) PrintJSON(result any) error { return a.writeJSON(a.Out, result) }

func (a *App) writeJSON(to io.Writer, result any) error {
	line, err := json.Marshal(result, json.Deterministic(true))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(to, "%s\n", plaintext.JSON(line))
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

// SayTable writes lines in columns on Err.
func (a *App) SayTable(table Table) error { return table.write(a.Err) }

func (t Table) write(to io.Writer) error {
	var lines [][]string
	if len(t.Head) > 0 {
		lines = append(lines, t.Head)
	}
	lines = append(lines, t.Rows...)
	for i, line := range lines {
		cells := make([]string, len(line))
		for j, cell := range line {
			cells[j] = plaintext.Line(cell)
		}
		lines[i] = cells
	}
	t.alignRight(lines)
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, line := range lines {
		_, _ = fmt.Fprintln(w, strings.Join(line, "\t"))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for line := range strings.Lines(text.String()) { // without the spaces that an empty last cell leaves
		if _, err := fmt.Fprintln(to, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}
