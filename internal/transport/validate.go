package transport

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/wire"
)

// Check collects problems with a request before it is sent. Fields have their names on the wire. The names of nested
// fields are joined by dots.
type Check struct {
	at       string
	problems *[]errors.Field
	own      []errors.Field
}

// Rule is what the description states about a text.
type Rule struct {
	Required bool
	Given    bool     // an empty text was set on purpose, so check it like any other
	Min, Max int      // length in characters; 0 for no limit
	Pattern  string   // as in the description, in RE2's syntax
	Prefix   string   // of a typed id; ids with other known prefixes are refused
	Taken    []string // words that would make the path that of another operation
}

// UUID is the form of an RFC 9562 UUID.
const UUID = `^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`

// Refuse adds a problem with a field, once.
func (c *Check) Refuse(field, code, message string) {
	if c.problems == nil {
		c.problems = &c.own
	}
	problem := errors.Field{Field: c.at + field, Code: code, Message: message}
	if !slices.Contains(*c.problems, problem) {
		*c.problems = append(*c.problems, problem)
	}
}

// In checks a nested value under its own name.
func (c *Check) In(field string, validate func(*Check)) {
	if c.problems == nil {
		c.problems = &c.own
	}
	validate(&Check{at: c.at + field + ".", problems: c.problems})
}

// Text checks a string. An empty string counts as absent: if the rule requires a text, it is refused. With Rule.Given
// it is checked like any other text.
func (c *Check) Text(field, value string, rule Rule) {
	if value == "" && !rule.Given {
		if rule.Required {
			c.Refuse(field, errors.FieldMissing, "is required")
		}
		return
	}
	if namespace := wire.ForeignNamespace(value, rule.Prefix); namespace != "" {
		c.Refuse(field, "invalid_id",
			fmt.Sprintf("is the id of another kind of resource (%s): pass an id that begins with %s",
				namespace, rule.Prefix))
		return
	}
	if slices.Contains(rule.Taken, wire.BeforeParameters(value)) {
		c.Refuse(field, "pattern", "is not an id: this text is the path of another operation")
		return
	}
	c.length(field, utf8.RuneCountInString(value), rule)
	if rule.Pattern != "" && !wire.Matches(rule.Pattern, value) {
		c.Refuse(field, "pattern", "does not match "+rule.Pattern)
	}
}

func (c *Check) length(field string, n int, rule Rule) {
	if n < rule.Min {
		c.Refuse(field, "too_short", fmt.Sprintf("has %d characters, but needs at least %d", n, rule.Min))
	}
	if rule.Max > 0 && n > rule.Max {
		c.Refuse(field, "too_long", fmt.Sprintf("has %d characters, but may have at most %d", n, rule.Max))
	}
}

// Bytes checks bytes that are sent as base64. The length is that of the encoded text.
func (c *Check) Bytes(field string, value []byte, rule Rule) {
	if len(value) == 0 {
		c.Text(field, "", rule)
		return
	}
	c.length(field, base64.StdEncoding.EncodedLen(len(value)), rule)
}

// Items checks the number of entries of a list, and each entry. If most is 0, there is no limit. each may be nil.
func (c *Check) Items(field string, n, most int, each func(i int, name string)) {
	if most > 0 && n > most {
		c.Refuse(field, "too_many", fmt.Sprintf("has %d entries, but may have at most %d", n, most))
	}
	if each == nil {
		return
	}
	for i := range n {
		each(i, field+"["+strconv.Itoa(i)+"]")
	}
}

// AtLeast checks a whole number.
func (c *Check) AtLeast(field string, value, least int64) {
	if value < least {
		c.Refuse(field, "too_small", fmt.Sprintf("must be at least %d", least))
	}
}

// AtMost checks a whole number.
func (c *Check) AtMost(field string, value, most int64) {
	if value > most {
		c.Refuse(field, "too_large", fmt.Sprintf("must be at most %d", most))
	}
}

// Amount checks that a decimal can be written, and reports whether it can. Even a zero can have a billion decimals.
func (c *Check) Amount(field string, value decimal.Decimal) bool {
	if wire.TooLong(value) {
		c.Refuse(field, "too_long", fmt.Sprintf("has more than %d digits", wire.MaxDigits))
		return false
	}
	return true
}

// Positive checks an amount that must be more than zero. Zero counts as missing.
func (c *Check) Positive(field string, value decimal.Decimal) {
	switch {
	case value.IsZero():
		c.Refuse(field, errors.FieldMissing, "is required and must not be zero")
	case value.IsNegative():
		c.Refuse(field, "too_small", "must be positive")
	}
}

// NotNegative checks an amount that must not be negative.
func (c *Check) NotNegative(field string, value decimal.Decimal) {
	if value.IsNegative() {
		c.Refuse(field, "too_small", "must not be negative")
	}
}

// Places checks that an amount has no more decimals than its token allows.
func (c *Check) Places(field string, value decimal.Decimal, places int32, token string) {
	if wire.TooLong(value) {
		return
	}
	has := places
	for !value.Equal(value.Truncate(has)) {
		has++
	}
	if has > places {
		c.Refuse(field, errors.FieldAmountPrecision,
			fmt.Sprintf("has %d decimals, but %s allows at most %d", has, token, places))
	}
}

// Missing refuses a required value that is missing.
func (c *Check) Missing(field string, missing bool) {
	if missing {
		c.Refuse(field, errors.FieldMissing, "is required")
	}
}

// err returns the refusal, or nil.
func (c *Check) err(head func() errors.CallInfo) error {
	if c.problems == nil || len(*c.problems) == 0 {
		return nil
	}
	return &errors.InvalidInput{CallInfo: head(), Fields: *c.problems}
}

// Validate runs a check outside a call.
func Validate(operation string, validate func(*Check)) error {
	var c Check
	validate(&c)
	return c.err(func() errors.CallInfo { return errors.CallInfo{Operation: operation} })
}
