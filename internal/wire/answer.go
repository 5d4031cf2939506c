package wire

import (
	"reflect"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/jsonv2"
)

// Answer holds what is known about the response of an operation. The generator writes one for each.
type Answer struct {
	Shape *Shape
	// Whole reports that a value that was decoded from body has every required field. It may return false for a
	// complete value: a field deep inside can be zero because the response says so. The shape then finds nothing wrong.
	Whole func(value any, body *Body) bool
}

// Decode decodes a response into value, a pointer to its Go type. It accepts exactly one JSON value, and refuses
// duplicate keys and invalid UTF-8. It skips unknown members, since the service may add some. A member that differs
// from the shape leaves its field zero and is named. A response without its proof members is an error.
func (a *Answer) Decode(b *Body, value any) ([]Unread, error) {
	body := b.raw
	if jsonv2.Value(body).Kind() == jsonv2.KindNull && a.Shape.Kind != KindList {
		return nil, errors.New("the response is null") // it would decode as a value with empty fields
	}
	err := Unmarshal(body, value)
	if err == nil && a.Whole(value, b) {
		return nil, nil
	}
	if err := Valid(body); err != nil {
		return nil, err
	}
	var bends bender
	bent, err := bends.answer(body, a.Shape)
	if err != nil {
		return bends.unread, err
	}
	reflect.ValueOf(value).Elem().SetZero()
	return bends.unread, Unmarshal(bent, value)
}
