package transport

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/hidden"
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
	Set      bool     // an empty text was set on purpose, so check it like any other
	Min, Max int      // length in characters; 0 for no limit
	Pattern  string   // as in the description, in RE2's syntax
	Prefix   string   // of a typed id; ids with other known prefixes are refused
	Reserved []string // words that would make the path that of another operation
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

// Nested checks a nested value under its own name.
func (c *Check) Nested(field string, validate func(*Check)) {
	if c.problems == nil {
		c.problems = &c.own
	}
	validate(&Check{at: c.at + field + ".", problems: c.problems})
}

// Text checks a string. An empty string counts as absent: if the rule requires a text, it is refused. With Rule.Set
// it is checked like any other text.
func (c *Check) Text(field, value string, rule Rule) {
	if value == "" && !rule.Set {
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
	if slices.Contains(rule.Reserved, wire.BeforeParameters(value)) {
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
func Validate(operation string, checks ...func(*Check)) error {
	var c Check
	for _, check := range checks {
		check(&c)
	}
	return c.err(func() errors.CallInfo { return errors.CallInfo{Operation: operation} })
}

// Segment checks that an escaped value stays one segment of the path. No server or proxy that decodes twice may read it
// as "..", as a separator, or as the end of the path. It returns whether the value is safe.
func (c *Check) Segment(field, value string) bool {
	if wire.StaysSegment(value) {
		return true
	}
	c.Refuse(field, "pattern", "contains characters that could change the path of the request, such as / or ..")
	return false
}

// maxHeader is longer than any header value that servers accept.
const maxHeader = 64 << 10

// Header checks the value of a header. It refuses a value that would break the header, even if the rule allows it.
func (c *Check) Header(field, value string, rule Rule) {
	switch {
	case strings.ContainsFunc(value, breaksHeader):
		c.Refuse(field, "pattern", "contains control characters: remove them")
	case len(value) > maxHeader:
		c.Refuse(field, "too_long", "is too long for an HTTP header")
	default:
		c.Text(field, value, rule)
	}
}

// clientRule is the stated rule for a client's id.
var clientRule = Rule{Required: true, Pattern: "^cl_", Prefix: "cl_"}

// ClientID checks the id of a client, as it is sent in X-Service-Account. HTTP cuts off blanks at its ends.
func (c *Check) ClientID(field, id string) {
	if !utf8.ValidString(id) || strings.TrimFunc(id, unicode.IsSpace) != id {
		c.Refuse(field, "pattern", "begins or ends with a blank, or has bytes that are not UTF-8: remove them")
		return
	}
	c.Header(field, id, clientRule)
}

// breaksHeader reports characters that end a header, or that HTTP forbids in one (RFC 9110, section 5.5).
func breaksHeader(r rune) bool { return r < ' ' && r != '\t' || r == '\x7f' }

// credentialRule is the form of a credential in a header: one word without spaces.
var credentialRule = Rule{Required: true, Pattern: `^[\x21-\x7e]+$`}

// Credential checks a secret before it is used as a credential.
func (c *Check) Credential(field string, s hidden.Text) {
	c.Header(field, hidden.Reveal(s), credentialRule)
}

// Additional checks the additional members of an object. A member for which the type has a field must be set in the
// field.
func (c *Check) Additional(members map[string]any, named ...string) {
	for _, name := range named {
		if _, twice := members[name]; twice {
			c.Refuse(name, "duplicate", "has its own field: set that field, and not the additional member")
		}
	}
}

// ExactlyOne checks that exactly one of the fields is set. set says which of them are.
func (c *Check) ExactlyOne(set map[string]bool) {
	count := 0
	for _, is := range set {
		if is {
			count++
		}
	}
	if count != 1 {
		names := strings.Join(slices.Sorted(maps.Keys(set)), "|")
		c.Refuse(names, "exactly_one_of", fmt.Sprintf("exclude each other: set exactly one of them, not %d", count))
	}
}

// Options refuses a call because of its options.
func (c *Check) Options(invalid []errors.Field) {
	for _, problem := range invalid {
		c.Refuse(problem.Field, problem.Code, problem.Message)
	}
}
