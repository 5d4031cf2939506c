package app

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/plaintext"
)

// maxInput is the largest file that a flag may name. Bodies, approvals and keys have a few kilobytes; a document that
// is uploaded as base64 has a few megabytes.
const maxInput = 32 << 20

// ReadFile returns the content of the file that a flag names. The name "-" means standard input, which only one flag of
// a command line can have.
func (a *App) ReadFile(flag, path string) ([]byte, error) { return a.read("-"+flag, path) }

// ReadArgument is ReadFile for a file that an argument names. name is what the usage calls the argument.
func (a *App) ReadArgument(name, path string) ([]byte, error) { return a.read(name, path) }

// read reads what a part of the command line names, such as "-d" or "FILE".
func (a *App) read(part, path string) ([]byte, error) {
	if path == "-" {
		return a.readInput(part)
	}
	file, err := os.Open(path) //gosec:disable G304 -- the user of the command names the file
	if errors.Is(err, fs.ErrNotExist) {
		return nil, Usagef("%s: there is no file %s", part, path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", part, err)
	}
	defer func() { _ = file.Close() }()
	return limited(part, file)
}

// ReadSecret returns the text in the file that a flag names, without the space around it. The text is a credential:
// errors do not show it.
func (a *App) ReadSecret(flag, path string) (string, error) {
	content, err := a.ReadFile(flag, path)
	if err != nil {
		return "", err
	}
	text := strings.TrimSpace(string(content))
	if text == "" {
		return "", Usagef("-%s: %s is empty", flag, path)
	}
	return text, nil
}

func (a *App) readInput(part string) ([]byte, error) {
	if a.inputOf != "" {
		return nil, Usagef("%s and %s both read standard input: give one of them a file", a.inputOf, part)
	}
	if a.In == nil {
		return nil, Usagef("%s: there is no standard input: give a file", part)
	}
	a.inputOf = part
	return limited(part, a.In)
}

func limited(part string, r io.Reader) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", part, err)
	}
	if len(content) > maxInput {
		return nil, Usagef("%s: more than %d MiB", part, maxInput>>20)
	}
	return bytes.TrimPrefix(content, []byte("\ufeff")), nil // a byte order mark, which some editors write
}

// No real amount is longer, and a long one would take long to read.
var plainAmount = regexp.MustCompile(`^[0-9]{1,40}(\.[0-9]{1,40})?$`)

// Amount reads an amount in its plain form, which leaves no doubt about separators. part is a part of the command line,
// such as "-max-fee".
func Amount(part, text string) (decimal.Decimal, error) {
	if !plainAmount.MatchString(text) {
		return decimal.Decimal{}, Usagef("%s is %.100q: write an amount with digits and one point at most, "+
			"such as 25 or 1250.50", part, text)
	}
	return decimal.NewFromString(text)
}

// CanAsk reports whether a person can be asked: there is a terminal, and no flag reads standard input.
func (a *App) CanAsk() bool { return a.InTerminal && a.ErrTerminal && a.inputOf == "" }

// ConfirmWithin asks a question on the terminal for as long as ctx lasts, and reports whether the person typed yes. If
// there is no terminal, it fails with a usage error that names the flag -yes. When ctx ends, it fails with the reason.
// Nothing can be asked after that, because the terminal is still read.
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

// ReplaceFile writes a file that only its owner can read. Its name stands for the old content or for the new one,
// whenever the process ends. A link stays: the file that it leads to is replaced.
func ReplaceFile(path string, content []byte) error {
	target, err := replaceable(path)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(target), "."+filepath.Base(target)+"-") // with mode 0600
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = os.Rename(file.Name(), target)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

// replaceable follows the links of a path and returns the file at their end. It fails for a device or a folder, such as
// /dev/stdout, and for a link whose target does not exist.
func replaceable(path string) (string, error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(target)
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "write", Path: path, Err: errors.New("it is not a regular file: use another path")}
	}
	return target, err
}

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
