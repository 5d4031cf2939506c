package wire

import (
	"bytes"
	"fmt"
	"io"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/moneymovement/moneymovement-go/errors"
)

// Decode reads an answer into value, a pointer to the shape's Go type. It takes exactly one JSON value with nothing behind it, and refuses
// duplicate keys and invalid UTF-8. Unknown members are skipped: the service may add some. A member that is not as the shape says leaves its
// field zero, and is named. An answer without its proof members is an error.
func Decode(body []byte, value any, shape *Shape) ([]Unread, error) {
	if jsontext.Value(body).Kind() == jsontext.KindNull && shape.Kind != KindList {
		return nil, errors.New("answer is null") // which would decode as a value whose fields are all empty
	}
	err := json.Unmarshal(body, value, decoding)
	if err == nil && whole(value, shape, body) {
		return nil, nil
	}
	if err := Valid(body); err != nil {
		return nil, err
	}
	b := bender{}
	bent, err := b.answer(body, shape)
	if err != nil {
		return b.unread, err
	}
	reflect.ValueOf(value).Elem().SetZero()
	return b.unread, json.Unmarshal(bent, value, decoding)
}

// Valid reports what keeps a body from being one JSON value, without duplicate keys and invalid UTF-8.
func Valid(body []byte) error {
	dec := jsontext.NewDecoder(bytes.NewReader(body))
	if err := dec.SkipValue(); err != nil {
		return fmt.Errorf("answer is no valid JSON: %w", err)
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.New("answer is no valid JSON: something stands behind the value")
	}
	return nil
}
