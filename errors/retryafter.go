package errors

import (
	"net/http"
	"net/mail"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxRetryAfter is the longest wait that a header can ask for. A wrong or hostile value must not overflow a duration or
// stop a program for years.
const maxRetryAfter = 24 * time.Hour

// RetryAfter returns the wait that the Retry-After header asks for. The header has seconds, or a date, from which now
// is subtracted. Fractions of a second are rounded up. Of several numbers, the largest counts. A negative number and a
// time in the past give 0, and a wait of more than 24 hours gives 24 hours. RetryAfter returns false if the header is
// absent or cannot be read.
func RetryAfter(h http.Header, now time.Time) (longest time.Duration, asked bool) {
	for _, value := range h["Retry-After"] {
		wait, ok := retryAfterDate(strings.TrimSpace(value), now)
		if !ok {
			wait, ok = retryAfterSeconds(value)
		}
		longest, asked = max(longest, wait), asked || ok
	}
	return longest, asked
}

// retryAfterSeconds reads numbers, of which a proxy can make a list.
func retryAfterSeconds(value string) (longest time.Duration, ok bool) {
	for number := range strings.SplitSeq(value, ",") {
		digits, negative := strings.CutPrefix(strings.TrimSpace(number), "-")
		whole, fraction, fractional := strings.Cut(digits, ".")
		if !isIndex(whole) || fractional && !isIndex(fraction) {
			return 0, false
		}
		if negative {
			continue
		}
		seconds, err := strconv.ParseInt(whole, 10, 64)
		if err != nil || seconds >= int64(maxRetryAfter/time.Second) {
			return maxRetryAfter, true // these are digits, so only a number out of range fails here
		}
		if strings.Trim(fraction, "0") != "" {
			seconds++
		}
		longest = max(longest, time.Duration(seconds)*time.Second)
	}
	return longest, true
}

// retryAfterDate reads a date as HTTP writes it, and as mail does: with another zone, or with a leap second.
func retryAfterDate(value string, now time.Time) (time.Duration, bool) {
	if len(value) < len(time.ANSIC) { // a number
		return 0, false
	}
	leap := time.Duration(0)
	if before, after, found := strings.Cut(value, ":60 "); found {
		value, leap = before+":59 "+after, time.Second
	}
	date, err := http.ParseTime(value)
	if err != nil {
		date, err = mail.ParseDate(value)
		if name, offset := date.Zone(); err == nil && offset == 0 && !slices.Contains(zeroZones, name) {
			return 0, false // an abbreviation of which the offset is not known
		}
	}
	if err != nil {
		return 0, false
	}
	// Sub saturates, so a date far away cannot overflow.
	return min(max(date.Add(leap).Sub(now), 0), maxRetryAfter), true
}

// zeroZones are the names of the zones without an offset.
var zeroZones = []string{"", "UTC", "GMT", "UT", "Z"}
