package model

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/oapi-codegen/nullable"
	"github.com/shopspring/decimal"

	jsonerrors "github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/codec"
	"github.com/moneymovement/moneymovement-go/internal/wire"
)

// Date is a calendar day without a time or a time zone, such as the due date of an invoice. In JSON it is a string such
// as "2026-01-31". The zero Date means that there is no date.
type Date struct {
	Year  int
	Month time.Month
	Day   int
}

// DateOf returns the day of t, in t's location.
func DateOf(t time.Time) Date {
	year, month, day := t.Date()
	return Date{year, month, day}
}

// IsZero reports whether d is the zero Date.
func (d Date) IsZero() bool { return d == Date{} }

// In returns midnight at the start of the day, in the given location. If the location has no midnight on that day, it
// returns what time.Date returns.
func (d Date) In(place *time.Location) time.Time {
	return time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, place)
}

// String returns the date as 2006-01-02, or "" for the zero Date.
func (d Date) String() string {
	if d.IsZero() {
		return ""
	}
	return fmt.Sprintf("%04d-%02d-%02d", d.Year, d.Month, d.Day)
}

// MarshalText returns the date as 2006-01-02. The zero Date gives an empty text. A day that does not exist, such as
// February 30, is an error.
func (d Date) MarshalText() ([]byte, error) {
	if d.IsZero() {
		return nil, nil
	}
	if DateOf(d.In(time.UTC)) != d || d.Year < 0 || d.Year > 9999 {
		return nil, fmt.Errorf("%04d-%02d-%02d is not a calendar date", d.Year, d.Month, d.Day)
	}
	return []byte(d.String()), nil
}

// UnmarshalText reads 2006-01-02. An empty text gives the zero Date.
func (d *Date) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*d = Date{}
		return nil
	}
	t, err := time.Parse(time.DateOnly, string(text))
	if err != nil {
		return fmt.Errorf("%.40q is not a date: write it as 2006-01-02", text)
	}
	*d = DateOf(t)
	return nil
}

// Number is an amount that travels as a JSON number, such as a card limit or the amount of a transfer. It keeps the
// exact digits in both directions: it never uses a float. Its value is the embedded Decimal, in units of the currency
// that stands beside it in the resource.
type Number struct{ decimal.Decimal }

// NewNumber returns a decimal as a Number.
func NewNumber(value decimal.Decimal) Number { return Number{value} }

// MarshalJSON writes a JSON number. It fails for a number of more than 78 digits.
func (n Number) MarshalJSON() ([]byte, error) {
	digits, err := wire.FormatAmount(n.Decimal)
	return []byte(digits), err
}

// UnmarshalJSON reads a JSON number, or a string that holds one, of at most 78 digits. Null gives zero.
func (n *Number) UnmarshalJSON(b []byte) error { return wire.UnmarshalAmount(b, &n.Decimal) }

// Nullable is a field of an update. It has three states:
//
//   - not set (the zero value): the service keeps its value
//   - null, made with [Null]: the service clears the field
//   - a value, made with [Set], which may be empty
//
// A request that creates something has plain fields, because a missing field and null mean the same there.
type Nullable[T any] = nullable.Nullable[T]

// Set returns a field that is set to value.
func Set[T any](value T) Nullable[T] { return nullable.NewNullableWithValue(value) }

// Null returns a field that is sent as null.
func Null[T any]() Nullable[T] { return nullable.NewNullNullable[T]() }

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
