package errors

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxRetryAfter is the longest wait that a header can ask for. A wrong or hostile value must not overflow a duration or
// stop a program for years.
const maxRetryAfter = 24 * time.Hour

// RetryAfter returns the wait that the Retry-After header asks for. The header has seconds, or an HTTP date, from which
// now is subtracted. A time in the past gives 0, and a wait of more than 24 hours gives 24 hours. RetryAfter returns
// false if the header is absent or cannot be read.
func RetryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if value == "" {
		return 0, false // the usual case
	}
	digits, negative := strings.CutPrefix(value, "-")
	if !isIndex(digits) {
		date, err := http.ParseTime(value)
		if err != nil {
			return 0, false
		}
		// Sub saturates, so a date far away cannot overflow.
		return min(max(date.Sub(now), 0), maxRetryAfter), true
	}
	if negative {
		return 0, true
	}
	seconds, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || seconds > int64(maxRetryAfter/time.Second) {
		return maxRetryAfter, true // these are digits, so only a number out of range fails here
	}
	return time.Duration(seconds) * time.Second, true
}
