package wire_test

import (
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/internal/wire"
)

func TestQueryText(t *testing.T) {
	type status string
	zero, no := 0, false
	var nobody *int
	at := time.Date(2026, 1, 2, 3, 4, 5, 600, time.FixedZone("", 2*60*60))
	for name, tc := range map[string]struct {
		value any
		want  string
		sent  bool
	}{
		"nothing":             {nil, "", false},
		"text":                {"a b", "a b", true},
		"no text":             {"", "", false},
		"a named text":        {status("paid"), "paid", true},
		"a number":            {7, "7", true},
		"a 32-bit number":     {int32(-7), "-7", true},
		"a 64-bit number":     {int64(1) << 40, "1099511627776", true},
		"an unsigned number":  {uint16(7), "7", true},
		"no number":           {0, "", false},
		"a pointer to none":   {&zero, "0", true},
		"no pointer":          {nobody, "", false},
		"true":                {true, "true", true},
		"false":               {false, "", false},
		"a pointer to false":  {&no, "false", true},
		"a list":              {[]status{"paid", "sent"}, "paid,sent", true},
		"a list of numbers":   {[]int{0, 1}, "0,1", true},
		"a list of nothing":   {[]string{}, "", false},
		"a time in UTC":       {at, "2026-01-02T01:04:05.0000006Z", true},
		"a pointer to a time": {&at, "2026-01-02T01:04:05.0000006Z", true},
		"no time":             {time.Time{}, "", false},
		"a decimal":           {decimal.RequireFromString("10.50"), "10.5", true},
	} {
		text, sent := wire.QueryText(tc.value)
		assert.Equal(t, tc.want, text, name)
		assert.Equal(t, tc.sent, sent, name)
	}
}
