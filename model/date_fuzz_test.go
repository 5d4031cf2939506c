package model_test

import (
	"testing"
	"time"

	"github.com/moneymovement/moneymovement-go/model"
)

// FuzzDate: a text is a day of the calendar, written with the same text, or it is refused.
func FuzzDate(f *testing.F) {
	for _, text := range []string{"2026-01-02", "", "0000-01-01", "9999-12-31", "2024-02-29", "2026-02-29", "2026-1-2",
		"2026-01-02T00:00:00Z", "+026-01-02", "0000-00-00"} {
		f.Add([]byte(text))
	}
	f.Add(make([]byte, 5000))
	f.Fuzz(func(t *testing.T, text []byte) {
		day := model.Date{Year: 1, Month: 1, Day: 1}
		if err := day.UnmarshalText(text); err != nil {
			if len(err.Error()) > 500 {
				t.Fatalf("%d bytes say that %d are no day", len(err.Error()), len(text))
			}
			if day != (model.Date{Year: 1, Month: 1, Day: 1}) {
				t.Fatalf("%q is refused, and read as %v", text, day)
			}
			return
		}
		written, err := day.MarshalText()
		if err != nil || string(written) != string(text) {
			t.Fatalf("%q is %v, and written as %q: %v", text, day, written, err)
		}
		if !day.IsZero() && model.DateOf(day.In(time.UTC)) != day {
			t.Fatalf("%q is %v, which no calendar has", text, day)
		}
	})
}
