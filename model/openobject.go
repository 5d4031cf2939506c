package model

import (
	"bytes"
	"errors"
	"io"

	jsonerrors "github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/codec"
	"github.com/moneymovement/moneymovement-go/internal/wire"
)

var errNoObject = errors.New("the value is not a JSON object")

// UnmarshalJSON reads a JSON object as encoding/json does, except for numbers. Each number becomes a [Number], because
// it can be an amount of money. A number of more than 78 digits becomes an errors.JSON, which has its text.
func (o *OpenObject) UnmarshalJSON(b []byte) error {
	dec := codec.NewDecoder(bytes.NewReader(b))
	value, err := readOpen(dec)
	if err != nil {
		return err
	}
	object, is := value.(map[string]any)
	if !is && value != nil {
		return errNoObject
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.Join(errNoObject, err)
	}
	*o = object
	return nil
}

// readOpen reads the next value. It needs no hook of the decoder, because releases of Go differ in how a hook leaves a
// value to the decoder.
func readOpen(dec *codec.Decoder) (any, error) {
	switch dec.PeekKind() {
	case codec.KindNumber:
		literal, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		if amount, err := wire.ParseNumber(string(literal)); err == nil {
			return NewNumber(amount), nil
		}
		return jsonerrors.JSON(literal.Clone()), nil
	case codec.KindBeginObject:
		object := map[string]any{}
		return object, readEach(dec, func() error {
			name, err := dec.ReadToken()
			if err != nil {
				return err
			}
			key := name.String()
			object[key], err = readOpen(dec)
			return err
		})
	case codec.KindBeginArray:
		list := []any{}
		err := readEach(dec, func() error {
			item, err := readOpen(dec)
			list = append(list, item)
			return err
		})
		return list, err
	}
	var plain any
	value, err := dec.ReadValue()
	if err == nil {
		err = codec.Unmarshal(value, &plain)
	}
	return plain, err
}

// readEach calls read for each item of an object or a list.
func readEach(dec *codec.Decoder, read func() error) error {
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for {
		switch dec.PeekKind() {
		case codec.KindEndObject, codec.KindEndArray, codec.KindInvalid:
			_, err := dec.ReadToken()
			return err
		}
		if err := read(); err != nil {
			return err
		}
	}
}
