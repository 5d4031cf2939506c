package errors

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxRetryAfter bounds the wait a header can ask for: a mistaken or hostile value must neither overflow a duration nor
// stop a program for years.
const maxRetryAfter = 24 * time.Hour

// RetryAfter reads the Retry-After header, in seconds or as an HTTP date that is taken relative to now. A wait in the
// past is 0, one beyond 24 hours is 24 hours. It reports false when the header is absent or says nothing readable.
//
// Source: Errors, Status codes (429).
func RetryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if date, err := http.ParseTime(value); err == nil {
		// Sub saturates, so a date far away cannot overflow.
		return min(max(date.Sub(now), 0), maxRetryAfter), true
	}
	digits, negative := strings.CutPrefix(value, "-")
	if !isIndex(digits) {
		return 0, false
	}
	if negative {
		return 0, true
	}
	seconds, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || seconds > int64(maxRetryAfter/time.Second) {
		return maxRetryAfter, true // only a number out of range fails here: all of it is digits
	}
	return time.Duration(seconds) * time.Second, true
}
