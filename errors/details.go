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
