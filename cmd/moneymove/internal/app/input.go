package app

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"github.com/shopspring/decimal"
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
