package model

import (
	"fmt"
	"time"

	"github.com/oapi-codegen/nullable"
	"github.com/shopspring/decimal"

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
