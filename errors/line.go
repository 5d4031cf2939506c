package errors

import (
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Bounds of what an error's text takes from outside, in bytes.
const (
	maxMessage = 300
	maxCause   = 1000 // an underlying error's whole line
	maxName    = 128
	maxNames   = 8 // fields or blockers that are named before the rest is only counted
)

// errorLine is the one line that every error of this package prints as:
//
//	operation: status code: message: concerned: cause - advice (resource, request id, key, attempts, retry after)
//
// Every part is optional.
type errorLine struct {
	head       CallInfo
	status     int
	code       string
	message    string
	concerned  string
	cause      error
	advice     string
	retryAfter time.Duration
}

// within drops what the line of an outer error of the same call says already.
func (l errorLine) within(outer CallInfo) errorLine {
	drop := func(text *string, said string) {
		if *text == said {
			*text = ""
		}
	}
	drop(&l.head.Operation, outer.Operation)
	drop(&l.head.IdempotencyKey, outer.IdempotencyKey)
	drop(&l.head.RequestID, outer.RequestID)
	drop(&l.head.Resource, outer.Resource)
	if l.head.Attempts <= outer.Attempts {
		l.head.Attempts = 0
	}
	return l
}

func (l errorLine) String() string {
	var head []string
	if l.head.Operation != "" {
		head = append(head, oneLine(l.head.Operation, maxName))
	}
	if answer := l.answer(); answer != "" {
		head = append(head, answer)
	}
	if l.message != "" {
		head = append(head, oneLine(l.message, maxMessage))
	}
	if l.concerned != "" {
		head = append(head, l.concerned)
	}
	if cause := causeText(l.cause, l.head); cause != "" {
		head = append(head, cause)
	}
	if len(head) == 0 {
		head = append(head, "request failed")
	}
	text := sentence(head, ": ")
	if l.advice != "" {
		text = sentence([]string{text, oneLine(l.advice, maxMessage)}, " - ")
	}
	if circumstances := l.circumstances(text); circumstances != "" {
		text += " (" + circumstances + ")"
	}
	return text
}

func (l errorLine) answer() string {
	code := oneLine(l.code, maxName)
	if l.status == 0 {
		return code
	}
	return strings.TrimSpace(strconv.Itoa(l.status) + " " + code)
}

func (l errorLine) circumstances(said string) string {
	var parts []string
	if resource := oneLine(l.head.Resource, maxName); !strings.Contains(said, resource) {
		parts = append(parts, resource)
	}
	if l.head.RequestID != "" {
		parts = append(parts, "request "+oneLine(l.head.RequestID, maxName))
	}
	if l.head.IdempotencyKey != "" {
		parts = append(parts, "key "+oneLine(l.head.IdempotencyKey, maxName))
	}
	if l.head.Attempts > 1 {
		parts = append(parts, strconv.Itoa(l.head.Attempts)+" attempts")
	}
	if l.retryAfter > 0 {
		parts = append(parts, "retry after "+l.retryAfter.String())
	}
	return strings.Join(parts, ", ")
}

// sentence joins parts, of which only the last one keeps a full stop.
func sentence(parts []string, separator string) string {
	for i := range parts[:len(parts)-1] {
		parts[i] = strings.TrimSuffix(parts[i], ".")
	}
	return strings.Join(parts, separator)
}

// listed joins names for an error's text: at most maxNames of them, then how many more there are.
func listed(names []string) string { return listedWith(names, ", ") }

func listedWith(names []string, separator string) string {
	if len(names) <= maxNames {
		return strings.Join(names, separator)
	}
	return strings.Join(names[:maxNames], separator) + " and " + strconv.Itoa(len(names)-maxNames) + " more"
}

// causeText is the text of an underlying error, without what the outer error of the same call says itself. A *url.Error
// is shown without its URL, which can carry ids and queries.
func causeText(err error, outer CallInfo) string {
	if err == nil {
		return ""
	}
	switch known := err.(type) { //nolint:errorlint // what is wrapped has already been put into words
	case interface{ line() errorLine }:
		return oneLine(known.line().within(outer).String(), maxCause)
	case interface{ Unwrap() []error }:
		var texts []string
		for _, branch := range known.Unwrap() {
			texts = append(texts, causeText(branch, outer))
		}
		return oneLine(strings.Join(texts, "; "), maxCause)
	}
	if u, ok := err.(*url.Error); ok && u.Err != nil { //nolint:errorlint // a wrapped one has already been put into words
		err = u.Err
	}
	return oneLine(err.Error(), maxMessage)
}

// oneLine makes text from outside harmless in a log: characters that do not print become spaces, invalid UTF-8 becomes
// U+FFFD, runs of space become one, and what exceeds the bound is cut off with an ellipsis. The result is at most limit
// bytes long.
func oneLine(text string, limit int) string {
	const ellipsis = "…"
	var out strings.Builder
	space := false
	fits := 0 // length up to which an ellipsis still fits
	for _, r := range text {
		if !unicode.IsGraphic(r) || unicode.IsSpace(r) {
			space = out.Len() > 0
			continue
		}
		size := utf8.RuneLen(r)
		if space {
			size++
		}
		if out.Len()+size > limit {
			return strings.TrimRight(out.String()[:fits], " ") + ellipsis
		}
		if space {
			out.WriteByte(' ')
			space = false
		}
		out.WriteRune(r)
		if out.Len() <= limit-len(ellipsis) {
			fits = out.Len()
		}
	}
	return out.String()
}
