package model

import (
	"fmt"
	"time"
)

// Date is a calendar day without a time, such as an invoice's due date. The zero Date is no day. It travels as
// 2006-01-02.
//
// Source: Resources and their fields (date).
type Date struct {
	Year  int
	Month time.Month
	Day   int
}

// DateOf is the day on which t falls, where t is.
func DateOf(t time.Time) Date {
	year, month, day := t.Date()
	return Date{year, month, day}
}

// IsZero reports that it is no day.
func (d Date) IsZero() bool { return d == Date{} }

// In is the day's first moment in a place.
func (d Date) In(place *time.Location) time.Time {
	return time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, place)
}

// String is the form that travels, or "" for no day.
func (d Date) String() string {
	if d.IsZero() {
		return ""
	}
	return fmt.Sprintf("%04d-%02d-%02d", d.Year, d.Month, d.Day)
}

// MarshalText writes the form that travels. A day that no calendar has is an error.
func (d Date) MarshalText() ([]byte, error) {
	if d.IsZero() {
		return nil, nil
	}
	if DateOf(d.In(time.UTC)) != d || d.Year < 0 || d.Year > 9999 {
		return nil, fmt.Errorf("%d-%d-%d is not a day", d.Year, d.Month, d.Day)
	}
	return []byte(d.String()), nil
}

// UnmarshalText reads the form that travels; an empty text is no day.
func (d *Date) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*d = Date{}
		return nil
	}
	t, err := time.Parse(time.DateOnly, string(text))
	if err != nil {
		return fmt.Errorf("%.40q is not a day", text)
	}
	*d = DateOf(t)
	return nil
}
