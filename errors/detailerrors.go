package errors

import (
	"strings"

	"github.com/moneymovement/moneymovement-go/internal/codec"
)

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

// LowBalance reports whether the balance is too low for the escrow deal. After a credit, the same call with the same
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
