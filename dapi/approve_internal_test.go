package dapi

import (
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
)

// The time in a payload is exact. That of a response can lack its seconds or their fraction.
func TestEndOfAnApproval(t *testing.T) {
	at := func(text string) time.Time {
		parsed, err := time.Parse(time.RFC3339Nano, text)
		assert.NoError(t, err)
		return parsed
	}
	const exact, second, minute = "2026-03-01T12:02:41.5Z", "2026-03-01T12:02:41Z", "2026-03-01T12:02:00Z"
	for name, tc := range map[string]struct{ payload, end, want string }{
		"the same":            {`{"expiresAt":"` + exact + `"}`, exact, exact},
		"no fraction":         {`{"expiresAt":"` + exact + `"}`, second, exact},
		"no seconds":          {`{"expiresAt":"` + exact + `"}`, minute, exact},
		"no fraction in both": {`{"expiresAt":"` + second + `"}`, second, second},
		"another time": {`{"expiresAt":"` + exact + `"}`, "2026-03-01T12:03:00Z",
			"2026-03-01T12:03:00Z"},
		"less exact in the payload":    {`{"expiresAt":"` + minute + `"}`, exact, exact},
		"a payload with white space":   {`{ "expiresAt": "` + exact + `" }`, second, exact},
		"another zone":                 {`{"expiresAt":"2026-03-01T13:02:41.5+01:00"}`, second, exact},
		"the time of something else":   {`{"startsAt":"` + exact + `"}`, second, second},
		"no time in the payload":       {`{}`, second, second},
		"a payload that is not JSON":   {`opaque`, second, second},
		"a payload that has the bytes": {`opaque "expiresAt":"` + second + `"`, second, second},
	} {
		t.Run(name, func(t *testing.T) {
			got := approver{}.endOf(&Approval{Payload: []byte(tc.payload), ExpiresAt: at(tc.end)}, time.Minute)
			assert.True(t, at(tc.want).Equal(got), "%s", got)
		})
	}
}

func TestFeeOfABooking(t *testing.T) {
	quote := func(fee int64) *Quote { return &Quote{Fee: decimal.NewFromInt(fee)} }
	for name, tc := range map[string]struct {
		quote *Quote
		body  string
		want  bool
	}{
		"a fee":                   {quote(2), `{"quote":{"fee":"2"}}`, true},
		"a fee of zero":           {quote(0), `{"quote":{"fee":"0.00"}}`, true},
		"a number":                {quote(0), `{"quote":{"fee":0}}`, true},
		"none":                    {quote(0), `{"quote":{}}`, false},
		"null":                    {quote(0), `{"quote":{"fee":null}}`, false},
		"one that cannot be read": {quote(0), `{"quote":{"fee":"free"}}`, false},
		"no quote":                {nil, `{}`, false},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tc.want, hasFee(tc.quote, []byte(tc.body))) })
	}
}
