package errors

import (
	"strings"
	"unicode/utf8"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/internal/codec"
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

// details reads error.details member by member. The JSON is valid, because the whole body was checked. A member that is
// absent or has an unexpected type reads as the zero value, so that the caller still gets the rest of the error. The
// member stays in the raw details.
type details []byte

// find returns a scanner at the value of a member. If the member is absent, the scanner reads nothing.
func (d details) find(key string) codec.Scanner {
	s := codec.Over(d)
	members := s.Object()
	for s.Member(&members) {
		if string(members.Name) == key {
			break
		}
	}
	return s
}

// text reads a string that is not for people, such as an id. If a part of it is lost, it reads as "".
func (d details) text(key string) string {
	s := d.find(key)
	text := s.Text()
	if strings.ContainsRune(text, utf8.RuneError) {
		return ""
	}
	return text
}

// texts reads an array of strings, or one string of words separated by spaces, which is how OAuth writes scopes.
func (d details) texts(key string) (out []string) {
	s := d.find(key)
	if s.Kind() == codec.KindString {
		return strings.Fields(s.Text())
	}
	entries := s.Array()
	for n := 0; n < maxListed && s.Entry(&entries); n++ {
		if s.Kind() == codec.KindString {
			out = append(out, s.Text())
		}
	}
	return out
}

// amount reads a decimal string, or a JSON number by its literal digits.
func (d details) amount(key string) decimal.Decimal {
	s := d.find(key)
	var literal string
	if s.Kind() == codec.KindNumber {
		literal = string(s.Raw())
	} else {
		literal = s.Text()
	}
	if len(literal) > maxName || !isDecimal(literal) {
		return decimal.Decimal{}
	}
	amount, err := decimal.NewFromString(literal)
	if err != nil {
		return decimal.Decimal{}
	}
	return amount
}

// isDecimal reports the service's form of decimal strings, without forms such as ".". It does not allow an exponent,
// because a short "1e999999999" would print as a gigabyte.
func isDecimal(literal string) bool {
	if literal != "" && (literal[0] == '-' || literal[0] == '+') {
		literal = literal[1:]
	}
	whole, fraction, _ := strings.Cut(literal, ".")
	return isIndex(whole + fraction)
}

func (d details) fields(key string) []Field {
	return listOf(d.find(key), func(f *Field, member []byte) *string {
		switch string(member) {
		case "field":
			return &f.Field
		case "code":
			return &f.Code
		case "message":
			return &f.Message
		}
		return nil
	})
}

func (d details) blockers(key string) []Blocker {
	return listOf(d.find(key), func(b *Blocker, member []byte) *string {
		switch string(member) {
		case "code":
			return &b.Code
		case "message":
			return &b.Message
		case "field":
			return &b.Field
		}
		return nil
	})
}

// maxListed is how many entries of a list in a refusal are read. A body of 8 MB has room for millions.
const maxListed = 1000

// listOf reads the objects of an array, up to maxListed. It ignores all other entries. text returns where the text of a
// member belongs, or nil for a member that is not read.
func listOf[T any](s codec.Scanner, text func(item *T, member []byte) *string) (list []T) {
	s.Share()
	entries := s.Array()
	for len(list) < maxListed && s.Entry(&entries) {
		if s.Kind() != codec.KindBeginObject {
			continue
		}
		if list == nil {
			list = make([]T, 0, 4) // more are rare
		}
		list = append(list, *new(T))
		item := &list[len(list)-1]
		members := s.Object()
		for s.Member(&members) {
			if member := text(item, members.Name); member != nil {
				*member = s.Text()
			}
		}
	}
	return list
}

// textOf reads a JSON string; anything else reads as "".
func textOf(raw []byte) string {
	s := codec.Over(raw)
	return s.Text()
}

// DetailErrors is the error for a validation failure of the /api/v1 reference endpoints. They send an array named
// detail in place of the platform API's error object. Code and Message are empty, and Details is the raw array.
//
// See https://github.com/moneymovement/moneymovement-go/blob/main/docs/errors.md#errorsdetailerrors
type DetailErrors struct {
	Refusal
	// Items lists the failures, in the order in which the service sent them.
	Items []DetailItem
}

// Unwrap returns the embedded [*Refusal], so that errors.As finds it.
func (e *DetailErrors) Unwrap() error { return &e.Refusal }

// DetailItem is one failure of [DetailErrors].
type DetailItem struct {
	Loc     []string // the path of the field as received; an array index is a string of digits
	Path    string   // Loc as one string, for example "body.items[0].price"
	Message string   // one sentence for people
	Type    string   // the validator's code, for example "missing"
}

func newDetailErrors(r Refusal, raw []byte) *DetailErrors {
	r.Details = raw
	e := &DetailErrors{Refusal: r}
	s := codec.Over(raw)
	s.Share()
	entries := s.Array()
	for n := 0; n < maxListed && s.Entry(&entries); n++ {
		if s.Kind() == codec.KindBeginObject {
			e.Items = append(e.Items, readDetailItem(&s))
		}
	}
	return e
}

func readDetailItem(s *codec.Scanner) (item DetailItem) {
	members := s.Object()
	for s.Member(&members) {
		switch string(members.Name) {
		case "loc":
			item.Loc = readLoc(s)
		case "msg":
			item.Message = s.Text()
		case "type":
			item.Type = s.Text()
		}
	}
	item.Path = pathOf(item.Loc)
	return item
}

// readLoc reads strings and integers. The description says strings, but validators of this kind also send indexes as
// numbers.
func readLoc(s *codec.Scanner) (loc []string) {
	entries := s.Array()
	for s.Entry(&entries) {
		switch kind := s.Kind(); {
		case len(loc) == maxListed: // the members behind the list are still to be read
		case kind == codec.KindString:
			loc = append(loc, s.Text())
		case kind == codec.KindNumber:
			loc = append(loc, string(s.Raw()))
		}
	}
	return loc
}

func pathOf(loc []string) string {
	var path strings.Builder
	for _, step := range loc {
		switch {
		case isIndex(step):
			path.WriteString("[" + step + "]")
		case path.Len() == 0:
			path.WriteString(step)
		default:
			path.WriteString("." + step)
		}
	}
	return path.String()
}

func isIndex(step string) bool { return step != "" && strings.Trim(step, "0123456789") == "" }

// LowBalance reports whether the balance is too low for the payout. If it returns false, the account has no routing to
// fund the payout. After a credit, the same call with the same idempotency key can succeed.
func (e *PayoutNotFundable) LowBalance() bool {
	return e.Currency != "" || !e.Available.IsZero() || namesBalance(e.Details)
}

// LowBalance reports whether the balance is too low for the escrow. After a credit, the same call with the same
// idempotency key can succeed.
func (e *Conflict) LowBalance() bool {
	return e.Currency != "" || !e.Available.IsZero() || namesBalance(e.Details)
}

// namesBalance reports whether the details have the available balance, which can be zero.
func namesBalance(raw []byte) bool {
	named := false
	s := codec.Over(raw)
	members := s.Object()
	for s.Member(&members) {
		named = named || string(members.Name) == "available"
	}
	return named && s.End()
}
