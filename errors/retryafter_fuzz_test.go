package errors_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/moneymovement/moneymovement-go/errors"
)

// FuzzRetryAfter: whatever the header says, the wait is from 0 to 24 hours, 0 where nothing is readable, and a readable
// one means the same when it is written anew, as seconds and as a date.
func FuzzRetryAfter(f *testing.F) {
	for _, value := range []string{
		"", "30", " 5 ", "-5", "-", "86401", "99999999999999999999999", "1.5", "0x10", "1, 2", "٣",
		"Sun, 01 Mar 2026 12:01:30 GMT", "Sunday, 01-Mar-26 12:00:10 GMT", "Sun Mar  1 12:00:10 2026",
		"Fri, 31 Dec 9999 23:59:59 GMT",
	} {
		f.Add(value)
	}
	const day = 24 * time.Hour
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	header := http.Header{}
	read := func(value string) (time.Duration, bool) {
		header["Retry-After"] = []string{value}
		return errors.RetryAfter(header, now)
	}
	f.Fuzz(func(t *testing.T, value string) {
		wait, ok := read(value)
		if wait < 0 || wait > day || !ok && wait != 0 {
			t.Fatalf("%q is a wait of %v", value, wait)
		}
		if !ok {
			return
		}
		if !strings.ContainsAny(value, "0123456789") {
			t.Fatalf("%q says nothing, and was read as %v", value, wait)
		}
		if again, _ := read(now.Add(wait).Format(http.TimeFormat)); again != wait {
			t.Fatalf("%q is %v, and %v as a date", value, wait, again)
		}
		if same, _ := read(" " + value); same != wait {
			t.Fatalf("%q is %v, and %v after a space", value, wait, same)
		}
	})
}
