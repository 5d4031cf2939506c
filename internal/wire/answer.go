package wire

import (
	"reflect"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/jsonv2"
)

// Answer holds what is known about the response of an operation. The generator writes one for each.
type Answer struct {
	Shape *Shape
	// Field returns the field to read into, for a value that has no Fields. It is nil for an object.
	Field func(value any) any
}

// Decode decodes a response into value, a pointer to its Go type. It accepts exactly one JSON value, and refuses
// duplicate keys and invalid UTF-8. It skips unknown members, since the service may add some. A member that differs
// from the shape leaves its field zero and is named. A response without its proof members is an error, and so is one
// with too many entries.
func (a *Answer) Decode(r *Reader, body []byte, value any) ([]Unread, error) {
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
	return a.bend(body, value)
}

// bend decodes a response that a [Reader] cannot read. It brings the whole response into the form of the shape before
// it decodes it.
func (a *Answer) bend(body []byte, value any) ([]Unread, error) {
	if err := Valid(body); err != nil {
		return nil, err
	}
	if jsonv2.Value(body).Kind() == jsonv2.KindNull {
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
