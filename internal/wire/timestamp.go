package wire

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/codec"
)

// encodeTime writes a time in UTC, whatever its zone is. The description requires UTC.
func encodeTime(enc *codec.Encoder, at time.Time) error {
	text, err := at.UTC().MarshalText() // it refuses years with more than four digits
	if err != nil {
		return err
	}
	return enc.WriteToken(codec.String(string(text)))
}

// forms are allowed by ISO 8601 and not by RFC 3339: without a zone, with a short offset, or without seconds. Seconds
// may have a fraction.
var forms = [...]string{
	"2006-01-02T15:04:05", "2006-01-02T15:04:05-0700", "2006-01-02T15:04:05-07",
	"2006-01-02T15:04", "2006-01-02T15:04Z07:00", "2006-01-02T15:04-0700", "2006-01-02T15:04-07",
}

// decodeTime reads a time. A time without a zone is in UTC. Null changes nothing. It is lenient on purpose: if only a Z
// is missing, the response to a write must not count as lost.
func decodeTime(dec *codec.Decoder, at *time.Time) error {
	literal, err := dec.ReadValue()
	if err != nil {
		return err
	}
	switch literal.Kind() {
	case codec.KindNull:
		*at = time.Time{}
		return nil
	case codec.KindString:
	default:
		return fmt.Errorf("the time is not a string")
	}
	text := literal[1 : len(literal)-1]
	if bytes.IndexByte(text, '\\') >= 0 {
		text, _ = codec.AppendUnquote(nil, literal) // the decoder has checked it
	}
	if !readTime(text, at) {
		return fmt.Errorf("the time is not in the ISO 8601 format")
	}
	return nil
}

// readTime reads a time in any of the forms. Most are in the form that package time reads fastest.
func readTime(text []byte, at *time.Time) (ok bool) {
	if at.UnmarshalText(text) == nil {
		return true
	}
	*at, ok = parseTime(string(text))
	return ok
}

// leapSecond is a second of 60, which RFC 3339 allows. It is the moment before the next minute.
var leapSecond = regexp.MustCompile(`^(.{10}T\d\d:\d\d:)60`)

// parseTime reads a time in any of the forms. A space may stand in place of the T, and T and Z may be in lower case.
func parseTime(text string) (time.Time, bool) {
	if len(text) > len(time.DateOnly) {
		text = text[:len(time.DateOnly)] + strings.ToUpper(text[len(time.DateOnly):])
	}
	if len(text) > len(time.DateOnly) && text[len(time.DateOnly)] == ' ' {
		text = text[:len(time.DateOnly)] + "T" + strings.Replace(text[len(time.DateOnly)+1:], " ", "", 1)
	}
	leap := time.Duration(0)
	if leapSecond.MatchString(text) {
		text, leap = leapSecond.ReplaceAllString(text, "${1}59"), time.Second
	}
	for _, form := range append([]string{time.RFC3339}, forms[:]...) {
		if at, err := time.Parse(form, strings.TrimSuffix(text, "UTC")); err == nil {
			return at.Add(leap), true
		}
	}
	return time.Time{}, false
}
