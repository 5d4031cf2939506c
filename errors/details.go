package errors

import (
	"regexp"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/internal/jsonv2"
)

// Field is one failed field of [ValidationFailed] or [InvalidInput].
type Field struct {
	Field   string // the field's name in JSON, for example "account.iban"
	Code    string // the validator's code, for example [FieldMissing]; the set is open
	Message string // one sentence for people
}

// Blocker is one reason why a contact cannot be paid or a rail cannot be opened.
type Blocker struct {
	Code    string // such as "kyc_pending"; these codes are not slugs, and the set is open
	Message string // one sentence for people
	Field   string // the name of the field in JSON, for example "iban"; empty if no field is the reason
}

// details reads error.details member by member. A member that is absent or has an unexpected type reads as the zero
// value, so that the caller still gets the rest of the error. The member stays in the raw details.
type details map[string]jsonv2.Value

func newDetails(raw []byte) details {
	var d details
	if jsonv2.Value(raw).Kind() != jsonv2.KindBeginObject || jsonv2.Unmarshal(raw, &d) != nil {
		return nil
	}
	return d
}

func (d details) text(key string) string { return textOf(d[key]) }

// texts reads an array of strings, or one string of words separated by spaces, which is how OAuth writes scopes.
func (d details) texts(key string) []string {
	if d[key].Kind() == jsonv2.KindString {
		return strings.Fields(textOf(d[key]))
	}
	var out []string
	for _, item := range arrayOf(d[key]) {
		if item.Kind() == jsonv2.KindString {
			out = append(out, textOf(item))
		}
	}
	return out
}

// decimalPattern is the service's pattern of decimal strings, without forms such as ".". It does not allow an exponent,
// because a short "1e999999999" would print as a gigabyte.
var decimalPattern = regexp.MustCompile(`^[-+]?(\d+\.?\d*|\.\d+)$`)

// amount reads a decimal string, or a JSON number by its literal digits.
func (d details) amount(key string) decimal.Decimal {
	literal := string(d[key])
	if d[key].Kind() != jsonv2.KindNumber {
		literal = textOf(d[key])
	}
	if len(literal) > maxName || !decimalPattern.MatchString(literal) {
		return decimal.Decimal{}
	}
	amount, err := decimal.NewFromString(literal)
	if err != nil {
		return decimal.Decimal{}
	}
	return amount
}

func (d details) fields(key string) []Field {
	return listOf(d[key], func(f details) Field {
		return Field{Field: f.text("field"), Code: f.text("code"), Message: f.text("message")}
	})
}

func (d details) blockers(key string) []Blocker {
	return listOf(d[key], func(b details) Blocker {
		return Blocker{Code: b.text("code"), Message: b.text("message"), Field: b.text("field")}
	})
}

// listOf reads the objects of a JSON array. It ignores all other entries.
func listOf[T any](raw jsonv2.Value, read func(details) T) (list []T) {
	for _, item := range arrayOf(raw) {
		if object := newDetails(item); object != nil {
			list = append(list, read(object))
		}
	}
	return list
}

// textOf reads a JSON string; anything else reads as "".
func textOf(raw jsonv2.Value) string {
	var text string
	if raw.Kind() != jsonv2.KindString || jsonv2.Unmarshal(raw, &text) != nil {
		return ""
	}
	return text
}

// arrayOf reads a JSON array; anything else reads as nil.
func arrayOf(raw jsonv2.Value) []jsonv2.Value {
	var items []jsonv2.Value
	if raw.Kind() != jsonv2.KindBeginArray || jsonv2.Unmarshal(raw, &items) != nil {
		return nil
	}
	return items
}
