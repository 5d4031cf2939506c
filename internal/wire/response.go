package wire

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"slices"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/codec"
)

// Response holds what is known about the response of an operation. The generator writes one for each.
type Response struct {
	Shape *Shape
	// Field returns the field to read into, for a value that has no Fields. It is nil for an object.
	Field func(value any) any
}

// Decode decodes a response into value, a pointer to its Go type. It accepts exactly one JSON value, and refuses
// duplicate keys. It skips unknown members, since the service may add some. A member that differs from the shape leaves
// its field zero and is named, and so does a text that JSON does not allow. A response without its proof members is an
// error, and so is one with too many entries.
func (a *Response) Decode(r *Reader, body []byte, value any) ([]moneymovement.Unread, error) {
	into := value
	if a.Field != nil {
		into = a.Field(value)
	}
	if unread, ok := r.read(body, a.Shape, into); ok {
		return unread, nil
	}
	reflect.ValueOf(value).Elem().SetZero()
	if _, err := checkEntries(body, r.most(), 0); err != nil {
		return nil, err
	}
	if valid, replaced := ReplaceInvalidText(body); replaced != nil {
		unread, err := a.Decode(r, valid, value)
		if err != nil {
			return nil, fmt.Errorf("%w; %s %s", err, replaced[0].Pointer, replaced[0].Problem)
		}
		return withReplaced(unread, replaced), nil
	}
	return a.decodeLeniently(body, value)
}

// withReplaced adds the texts that [ReplaceInvalidText] replaced to what is noted about the valid response.
func withReplaced(unread, replaced []moneymovement.Unread) []moneymovement.Unread {
	all := replaced
	for _, u := range unread {
		same := func(r moneymovement.Unread) bool { return r.Pointer == u.Pointer }
		if !slices.ContainsFunc(replaced, same) { // there it says that the member is null
			all = append(all, u)
		}
	}
	return all[:min(len(all), maxUnread)]
}

// decodeLeniently decodes a response that a [Reader] cannot read. It brings the whole response into the form of the
// shape before it decodes it.
func (a *Response) decodeLeniently(body []byte, value any) ([]moneymovement.Unread, error) {
	if err := Valid(body); err != nil {
		return nil, err
	}
	if codec.Value(body).Kind() == codec.KindNull {
		if a.Shape.Kind == KindList {
			return nil, nil
		}
		return nil, errors.New("the response is null") // it would decode as a value with empty fields
	}
	var lenient normalizer
	normalized, err := lenient.response(body, a.Shape)
	if err != nil {
		return lenient.unread, err
	}
	return lenient.unread, Unmarshal(normalized, value)
}

// Entry is an entry of a list as it was received.
type Entry struct {
	Raw  codec.Value
	Read bool // false if it is left out when the response is decoded
}

// Entries returns the entries of a list, in any envelope. [Response.Decode] must have read the body. Decode names a
// bounded number of entries; Entries returns all.
func (a *Response) Entries(body []byte) []Entry {
	raw := a.list(body)
	if raw == nil {
		return nil
	}
	list := a.Shape
	if m := a.Shape.proof(KindList); m != nil {
		list = m.Shape
	}
	var found []Entry
	for _, entry := range entries(raw) {
		var b normalizer
		_, problem := b.value(entry, list.Item, "", Assumed)
		found = append(found, Entry{Raw: entry, Read: problem == ""})
	}
	return found
}

// defaultMost is how many entries a list of a response may have. A reader of an interface with stated pages allows
// fewer. A bound on bytes is not enough: a body of 8 MB has room for millions of entries.
const defaultMost = 10_000

// entriesFactor is how many values a response may have, as a multiple of the entries of one list.
const entriesFactor = 50

// checkEntries returns an error if a list or an object has more than most entries, or all together have far more.
// before is how many entries were read before, and checkEntries returns how many there are then. It reads no values, so
// it costs no memory. The text may be invalid JSON.
func checkEntries(text []byte, most, before int) (all int, err error) {
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
			if all++; commas[len(commas)-1] >= most || all >= entriesFactor*most {
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
func (a *Response) list(body []byte) codec.Value {
	body, _ = ReplaceInvalidText(body)
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
func (a *Response) TooMany(body []byte, asked int) []moneymovement.Unread {
	if len(body) <= asked { // it has no room for more
		return nil
	}
	raw := a.list(body)
	if raw == nil {
		return nil
	}
	count := len(entries(raw))
	if count <= asked {
		return nil
	}
	var at codec.Pointer
	if m := a.Shape.proof(KindList); m != nil {
		at = at.AppendToken(m.Name)
	}
	return []moneymovement.Unread{{Pointer: string(at), Stated: true,
		Problem: fmt.Sprintf("has %d entries, but %d were asked for", count, asked)}}
}

// badText is the problem of a text that [ReplaceInvalidText] replaces.
const badText = "is text that JSON does not allow: half a surrogate pair, bytes that are not UTF-8, or a raw tab"

// ReplaceInvalidText returns a body with null for each text that JSON does not allow, and what it replaced. Services
// cut texts in the middle of a character, and such a text must not cost the rest of the response. Text that is only
// nearly right proves nothing, so it is not read. A name of a member stays, with U+FFFD for what is wrong.
// ReplaceInvalidText returns a body that is not JSON for another reason as it is.
func ReplaceInvalidText(body []byte) (valid []byte, replaced []moneymovement.Unread) {
	text, ends := codec.ReplaceInvalidText(body)
	if ends == nil {
		return body, nil
	}
	var out bytes.Buffer
	dec, enc := codec.NewDecoder(bytes.NewReader(text)), codec.NewEncoder(&out)
	for {
		token, err := dec.ReadToken()
		if errors.Is(err, io.EOF) {
			return out.Bytes(), replaced
		}
		if err != nil {
			return body, nil
		}
		if len(ends) > 0 && dec.InputOffset() == int64(ends[0]) {
			ends = ends[1:]
			if len(replaced) < maxUnread {
				replaced = append(replaced,
					moneymovement.Unread{Pointer: string(dec.StackPointer()), Stated: true, Problem: badText})
			}
			if !isName(dec) {
				token = codec.Null()
			}
		}
		if enc.WriteToken(token) != nil {
			return body, nil
		}
	}
}

// isName reports whether the decoder has just read the name of a member.
func isName(dec *codec.Decoder) bool {
	kind, length := dec.StackIndex(dec.StackDepth())
	return kind == codec.KindBeginObject && length%2 == 1
}
