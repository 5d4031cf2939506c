package transport

import (
	"reflect"
	"regexp"
	"strings"

	"github.com/moneymovement/moneymovement-go/errors"
)

// unquoted returns err, or, if its text quotes something, an error that says the same without it. A transport quotes
// what it cannot read of an answer, which can be the line of a session's cookie, and a proxy's address with its
// password.
func unquoted(err error) error {
	text := err.Error()
	without := withoutQuotes(text)
	if without == text {
		return err
	}
	return &quoting{
		text: without,
		is:   func(target error) bool { return errors.Is(err, target) },
		as:   func(target any) bool { return asUnquoted(err, target) },
	}
}

var (
	quotes = regexp.MustCompile(`(?s)"(?:[^"\\]|\\.)*(?:"|\\?$)`)
	// lines are what some releases of Go put in without quotes.
	lines = regexp.MustCompile(`(?s)(malformed MIME header[a-z ]*(?:: missing colon)?: ).*`)
)

// withoutQuotes leaves out what a text quotes. It is by this, not by a list of messages, that the next release of Go
// quotes nothing either.
func withoutQuotes(text string) string {
	text = lines.ReplaceAllString(text, `$1"..."`)
	if !strings.Contains(text, `"`) {
		return text
	}
	return quotes.ReplaceAllLiteralString(text, `"..."`)
}

// quoting stands for an error that quotes. It holds that in functions, for packages that print structs by reflection
// would show it.
type quoting struct {
	text string
	is   func(error) bool
	as   func(any) bool
}

func (q *quoting) Error() string { return q.text }

// Is tells what the error is.
func (q *quoting) Is(target error) bool { return q.is(target) }

// As gives those of the error's causes that quote nothing.
func (q *quoting) As(target any) bool { return q.as(target) }

func asUnquoted(err error, target any) bool {
	wanted := reflect.ValueOf(target).Elem() // a pointer, as errors.As has made sure
	found := reflect.New(wanted.Type())
	if !errors.As(err, found.Interface()) {
		return false
	}
	cause, ok := found.Elem().Interface().(error)
	if !ok || withoutQuotes(cause.Error()) != cause.Error() {
		return false
	}
	wanted.Set(found.Elem())
	return true
}
