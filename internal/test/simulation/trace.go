package simulation

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Trace has one line for each step of a run: its number, the time since the run began, its name, and what else is known
// about it. Two runs of one seed have the same bytes.
type Trace struct {
	text  bytes.Buffer
	steps int
}

// add appends a line.
func (t *Trace) add(since time.Duration, name, detail string) {
	t.steps++
	line := t.text.AvailableBuffer()
	line = strconv.AppendInt(line, int64(t.steps), 10)
	line = append(line, ' ')
	line = append(line, since.String()...)
	line = append(line, ' ')
	line = append(line, name...)
	if detail != "" {
		line = append(line, ' ')
		line = append(line, detail...)
	}
	t.text.Write(append(line, '\n'))
}

// Steps returns how many lines there are.
func (t *Trace) Steps() int { return t.steps }

// Bytes returns the lines. Do not change them.
func (t *Trace) Bytes() []byte { return t.text.Bytes() }

// WriteTo writes the trace to a file of its own in the folder, and returns the file's name.
func (t *Trace) WriteTo(folder, name string) (string, error) {
	file := filepath.Join(folder, name)
	return file, os.WriteFile(file, t.text.Bytes(), 0o600)
}

// Difference returns the first lines in which two traces differ, or "" twice.
func (t *Trace) Difference(other *Trace) (line, otherLine string) {
	lines, others := bytes.Split(t.Bytes(), []byte("\n")), bytes.Split(other.Bytes(), []byte("\n"))
	for i := range max(len(lines), len(others)) {
		one, two := lineAt(lines, i), lineAt(others, i)
		if one != two {
			return one, two
		}
	}
	return "", ""
}

func lineAt(lines [][]byte, i int) string {
	if i >= len(lines) {
		return "(the trace ends)"
	}
	return string(lines[i])
}
