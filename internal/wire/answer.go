package wire

import (
	"fmt"
	"reflect"
	"slices"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/codec"
)

// Answer holds what is known about the response of an operation. The generator writes one for each.
type Answer struct {
	Shape *Shape
	// Field returns the field to read into, for a value that has no Fields. It is nil for an object.
	Field func(value any) any
}

// Decode decodes a response into value, a pointer to its Go type. It accepts exactly one JSON value, and refuses
// duplicate keys. It skips unknown members, since the service may add some. A member that differs from the shape leaves
// its field zero and is named, and so does a text that JSON does not allow. A response without its proof members is an
// error, and so is one with too many entries.
func (a *Answer) Decode(r *Reader, body []byte, value any) ([]moneymovement.Unread, error) {
	into := value
	if a.Field != nil {
		into = a.Field(value)
	}
	if unread, ok := r.read(body, a.Shape, into); ok {
		return unread, nil
	}
	reflect.ValueOf(value).Elem().SetZero()
	if _, err := crowded(body, r.most(), 0); err != nil {
		return nil, err
	}
	if mended, replaced := Mend(body); replaced != nil {
		unread, err := a.Decode(r, mended, value)
		if err != nil {
			return nil, fmt.Errorf("%w; %s %s", err, replaced[0].Pointer, replaced[0].Problem)
		}
		return withReplaced(unread, replaced), nil
	}
	return a.bend(body, value)
}

// withReplaced adds the texts that [Mend] replaced to what is noted about the mended response.
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

// bend decodes a response that a [Reader] cannot read. It brings the whole response into the form of the shape before
// it decodes it.
func (a *Answer) bend(body []byte, value any) ([]moneymovement.Unread, error) {
	if err := Valid(body); err != nil {
		return nil, err
	}
	if codec.Value(body).Kind() == codec.KindNull {
		if a.Shape.Kind == KindList {
			return nil, nil
		}
		return nil, errors.New("the response is null") // it would decode as a value with empty fields
	}
	var bends bender
	bent, err := bends.answer(body, a.Shape)
	if err != nil {
		return bends.unread, err
	}
	return bends.unread, Unmarshal(bent, value)
}

// Entry is an entry of a list as it was received.
type Entry struct {
	Raw  codec.Value
	Read bool // false if it is left out when the response is decoded
}

// Entries returns the entries of a list, in any envelope. [Answer.Decode] must have read the body. Decode names a
// bounded number of entries; Entries returns all.
func (a *Answer) Entries(body []byte) []Entry {
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
		var b bender
		_, problem := b.value(entry, list.Item, "", Assumed)
		found = append(found, Entry{Raw: entry, Read: problem == ""})
	}
	return found
}
