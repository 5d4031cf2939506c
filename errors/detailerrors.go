package errors

import (
	"strings"

	"github.com/moneymovement/moneymovement-go/internal/jsonv2"
)

// DetailErrors is a validation failure of the /api/v1 reference endpoints, which answer an array called detail instead
// of the platform envelope. Code and Message are empty, and Details is the raw array.
//
// Source: Endpoints, Reference endpoints.
type DetailErrors struct {
	Refusal
	// Items are the failures, in the order received.
	Items []DetailItem
}

// Unwrap gives the common part, so that errors.As finds *Refusal.
func (e *DetailErrors) Unwrap() error { return &e.Refusal }

// DetailItem is one failure of [DetailErrors].
type DetailItem struct {
	Loc     []string // where, as received; an array index is a string of digits
	Path    string   // Loc in one string, for example "body.items[0].price"
	Message string   // one sentence for people
	Type    string   // the validator's code
}

func newDetailErrors(r Refusal, raw []byte) *DetailErrors {
	r.Details = raw
	return &DetailErrors{Refusal: r, Items: listOf(raw, func(d details) DetailItem {
		loc := locOf(d["loc"])
		return DetailItem{Loc: loc, Path: pathOf(loc), Message: d.text("msg"), Type: d.text("type")}
	})}
}

// locOf reads strings and integers: the description says strings, validators of this kind also send indexes as numbers.
func locOf(raw jsonv2.Value) []string {
	var loc []string
	for _, step := range arrayOf(raw) {
		switch step.Kind() {
		case jsonv2.KindString:
			loc = append(loc, textOf(step))
		case jsonv2.KindNumber:
			loc = append(loc, string(step))
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
