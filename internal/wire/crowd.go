package wire

import (
	"fmt"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/codec"
)

// defaultMost is how many entries a list of a response may have. A reader of an interface with stated pages allows
// fewer. A bound on bytes is not enough: a body of 8 MB has room for millions of entries.
const defaultMost = 10_000

// crowds is how many values a response may have, as a multiple of the entries of one list.
const crowds = 50

// crowded returns an error if a list or an object has more than most entries, or all together have far more. before is
// how many entries were read before, and crowded returns how many there are then. It reads no values, so it costs no
// memory. The text may be invalid JSON.
func crowded(text []byte, most, before int) (all int, err error) {
	all = before
	if len(text) <= most { // the usual case of a part
		return all, nil
	}
	var commas []int // of the lists and objects that are open
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = endOfString(text, i)
		case '[', '{':
			commas = append(commas, 0)
		case ']', '}':
			if len(commas) > 0 {
				commas = commas[:len(commas)-1]
			}
		case ',':
			if len(commas) == 0 {
				continue
			}
			commas[len(commas)-1]++
			if all++; commas[len(commas)-1] >= most || all >= crowds*most {
				return all, fmt.Errorf("the response has a list of more than %d items, or too many lists", most)
			}
		}
	}
	return all, nil
}

// endOfString returns the place of the quote that ends a string, or the end of the text.
func endOfString(text []byte, start int) int {
	for i := start + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(text)
}

// list returns the list that a body holds, in any envelope, or nil.
func (a *Answer) list(body []byte) codec.Value {
	body, _ = Mend(body)
	raw, list := enveloped(body, a.Shape), a.Shape
	if m := a.Shape.proof(KindList); m != nil {
		raw, list = nil, m.Shape
		for _, g := range split(enveloped(body, a.Shape)) {
			if g.name == m.Name {
				raw = g.value
			}
		}
	}
	if list.Kind != KindList || raw.Kind() != codec.KindBeginArray {
		return nil
	}
	return raw
}

// TooMany returns what to report about a page with more entries than asked for, or nil.
func (a *Answer) TooMany(body []byte, asked int) []moneymovement.Unread {
	if len(body) <= asked { // it has no room for more
		return nil
	}
	raw := a.list(body)
	if raw == nil {
		return nil
	}
	given := len(entries(raw))
	if given <= asked {
		return nil
	}
	var at codec.Pointer
	if m := a.Shape.proof(KindList); m != nil {
		at = at.AppendToken(m.Name)
	}
	return []moneymovement.Unread{{Pointer: string(at), Stated: true,
		Problem: fmt.Sprintf("has %d entries, but %d were asked for", given, asked)}}
}
