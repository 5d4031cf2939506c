package wire

import (
	"reflect"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/jsonv2"
)

// Answer is what is known of an operation's answer. The generator writes one for each.
type Answer struct {
	Shape *Shape
	// Whole tells that nothing that has to be there is missing from a value that was decoded from body, a pointer to
	// the shape's Go type. It may say no of one that is, for a field deep inside can be zero because the answer says
	// so; the shape finds nothing wrong then.
	Whole func(value any, body *Body) bool
}

// Decode reads an answer into value, a pointer to its Go type. It takes exactly one JSON value with nothing behind it,
// and refuses duplicate keys and invalid UTF-8. Unknown members are skipped: the service may add some. A member that is
// not as the shape says leaves its field zero, and is named. An answer without its proof members is an error.
func (a *Answer) Decode(b *Body, value any) ([]Unread, error) {
	body := b.raw
	if jsonv2.Value(body).Kind() == jsonv2.KindNull && a.Shape.Kind != KindList {
		return nil, errors.New("answer is null") // which would decode as a value whose fields are all empty
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
