package transport

import (
	"reflect"
	"regexp"
	"strings"
	"sync"

	"github.com/moneymovement/moneymovement-go/errors"
)

// unquoted returns err. If its text quotes something, it returns an error with the same text without the quotes. A
// transport quotes input that it cannot read. That can be a session's cookie, or the address of a proxy with its
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

// The patterns are compiled when an attempt first fails, so that a program starts faster.
var (
	quotes = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?s)"(?:[^"\\]|\\.)*(?:"|\\?$)`)
	})
	// lines matches what some releases of Go print without quotes.
	lines = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?s)(malformed MIME header[a-z ]*(?:: missing colon)?: ).*`)
	})
)

// withoutQuotes removes the quoted parts of a text. It does not use a list of messages: a later release of Go may quote
// in other messages.
func withoutQuotes(text string) string {
	text = lines().ReplaceAllString(text, `$1"..."`)
	if !strings.Contains(text, `"`) {
		return text
	}
	return quotes().ReplaceAllLiteralString(text, `"..."`)
}

// quoting replaces an error whose text quotes something. It holds that error in functions, because printers that use
// reflection would show a field.
type quoting struct {
	text string
	is   func(error) bool
	as   func(any) bool
}

func (q *quoting) Error() string { return q.text }

// Is implements the interface of errors.Is.
func (q *quoting) Is(target error) bool { return q.is(target) }

// As finds the causes that quote nothing.
func (q *quoting) As(target any) bool { return q.as(target) }

func asUnquoted(err error, target any) bool {
	wanted := reflect.ValueOf(target).Elem() // errors.As has checked that it is a pointer
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
