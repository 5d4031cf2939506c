package errors_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/moneymovement/moneymovement-go/errors"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		value string
		want  time.Duration
		ok    bool
	}{
		"seconds":              {"30", 30 * time.Second, true},
		"zero":                 {"0", 0, true},
		"leading zeros":        {"007", 7 * time.Second, true},
		"spaces":               {" 5 ", 5 * time.Second, true},
		"negative":             {"-5", 0, true},
		"a day":                {"86400", 24 * time.Hour, true},
		"more than a day":      {"86401", 24 * time.Hour, true},
		"overflows a duration": {"9223372037", 24 * time.Hour, true},
		"overflows an integer": {"99999999999999999999999", 24 * time.Hour, true},
		"hugely negative":      {"-99999999999999999999999", 0, true},
		"date":                 {"Sun, 01 Mar 2026 12:01:30 GMT", 90 * time.Second, true},
		"RFC 850 date":         {"Sunday, 01-Mar-26 12:00:10 GMT", 10 * time.Second, true},
		"date in the past":     {"Sun, 01 Mar 2026 11:00:00 GMT", 0, true},
		"date far in the past": {"Mon, 01 Jan 0001 00:00:00 GMT", 0, true},
		"date far in the future": {
			"Fri, 31 Dec 9999 23:59:59 GMT", 24 * time.Hour, true},
		"absent":                          {"", 0, false},
		"fraction":                        {"2.5", 3 * time.Second, true},
		"no fraction":                     {"2.000", 2 * time.Second, true},
		"half a fraction":                 {"2.", 0, false},
		"two fractions":                   {"2.5.1", 0, false},
		"negative fraction":               {"-2.5", 0, true},
		"date of another zone":            {"Sun, 01 Mar 2026 13:01:30 +0100", 90 * time.Second, true},
		"date of a zone without a number": {"Sun, 01 Mar 2026 13:01:30 CEST", 0, false},
		"date in UTC":                     {"Sun, 01 Mar 2026 12:01:30 UTC", 90 * time.Second, true},
		"date with a leap second":         {"Sun, 01 Mar 2026 12:00:60 GMT", 60 * time.Second, true},
		"plus sign":                       {"+5", 0, false},
		"minus only":                      {"-", 0, false},
		"unit":                            {"5s", 0, false},
		"words":                           {"soon", 0, false},
		"other digits":                    {"٣", 0, false},
		"hexadecimal":                     {"0x10", 0, false},
		"several numbers":                 {"120, 60", 120 * time.Second, true},
		"several, one without a meaning":  {"120, soon", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			wait, ok := errors.RetryAfter(http.Header{"Retry-After": {tc.value}}, now)
			assert.Equal(t, tc.ok, ok)
			assert.Equal(t, tc.want, wait)
		})
	}
}

// Several headers are a list, too.
func TestRetryAfterTakesTheLongest(t *testing.T) {
	wait, ok := errors.RetryAfter(http.Header{"Retry-After": {"5", "60", "soon"}}, time.Now())
	assert.True(t, ok)
	assert.Equal(t, time.Minute, wait)
}

func TestRetryAfterWithoutHeader(t *testing.T) {
	_, ok := errors.RetryAfter(nil, time.Now())
	assert.False(t, ok)
}

func TestRetryAfterIsAlwaysWithinADay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.Unix(rapid.Int64Range(-1<<40, 1<<40).Draw(t, "now"), 0)
		value := rapid.OneOf(
			rapid.StringMatching(`-?[0-9]{1,25}`),
			rapid.String(),
			rapid.Custom(func(t *rapid.T) string {
				return time.Unix(rapid.Int64Range(-1<<35, 1<<37).Draw(t, "date"), 0).UTC().Format(http.TimeFormat)
			}),
		).Draw(t, "value")
		wait, ok := errors.RetryAfter(http.Header{"Retry-After": {value}}, now)
		if wait < 0 || wait > 24*time.Hour || (!ok && wait != 0) {
			t.Fatalf("%q gives %v, %v", value, wait, ok)
		}
	})
}

// Most responses have no such header, and looking for it costs next to nothing.
func TestAnAbsentRetryAfterAllocatesNothing(t *testing.T) {
	header, now := http.Header{"Content-Type": {"application/json"}}, time.Now()
	assert.Zero(t, testing.AllocsPerRun(100, func() { errors.RetryAfter(header, now) }))
}
