package wire

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/codec"
)

type dated struct {
	At    time.Time  `json:"at"`
	Maybe *time.Time `json:"maybe,omitempty"`
}

func TestTimesTravelInUTC(t *testing.T) {
	east := time.Date(2026, 1, 2, 3, 4, 5, 600, time.FixedZone("", 2*60*60))
	body, err := codec.Marshal(dated{east, &east}, Encoding)
	require.NoError(t, err)
	assert.JSONEq(t, `{"at":"2026-01-02T01:04:05.0000006Z","maybe":"2026-01-02T01:04:05.0000006Z"}`, string(body))

	_, err = codec.Marshal(dated{At: time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)}, Encoding)
	assert.Error(t, err, "a year that the form has no room for")
}

func TestTimesAreReadInEachFormOfISO8601(t *testing.T) {
	for literal, want := range map[string]string{
		`"2026-01-02T03:04:05Z"`:           "2026-01-02T03:04:05Z",
		`"2026-01-02T03:04:05.123456Z"`:    "2026-01-02T03:04:05.123456Z",
		`"2026-01-02t03:04:05z"`:           "2026-01-02T03:04:05Z",
		`"2026-01-02t03:04:05.5+02:00"`:    "2026-01-02T01:04:05.5Z",
		`"2026-12-31T23:59:60Z"`:           "2027-01-01T00:00:00Z",
		`"2026-12-31t23:59:60.25z"`:        "2027-01-01T00:00:00.25Z",
		`"2026-12-31T23:60:00Z"`:           "",
		`"2026-12-31T23:59:61Z"`:           "",
		`"2026-01-02T03:04:05+02:00"`:      "2026-01-02T01:04:05Z",
		`"2026-01-02T03:04:05+0200"`:       "2026-01-02T01:04:05Z",
		`"2026-01-02T03:04:05.5-02"`:       "2026-01-02T05:04:05.5Z",
		`"2026-01-02T03:04:05"`:            "2026-01-02T03:04:05Z",
		`"2026-01-02T03:04:05.123456"`:     "2026-01-02T03:04:05.123456Z",
		`"\u0032026-01-02T03:04:05Z"`:      "2026-01-02T03:04:05Z",
		`"2026-01-02 03:04:05Z"`:           "2026-01-02T03:04:05Z",
		`"2026-01-02 03:04:05.5+02:00"`:    "2026-01-02T01:04:05.5Z",
		`"2026-01-02 03:04:05 +02:00"`:     "2026-01-02T01:04:05Z",
		`"2026-01-02 03:04:05 UTC"`:        "2026-01-02T03:04:05Z",
		`"2026-01-02 03:04:05"`:            "2026-01-02T03:04:05Z",
		`"2026-01-02 13:14:15"`:            "2026-01-02T13:14:15Z",
		`"2026-01-02 03:04:05  +02:00"`:    "",
		`"2026-01-02 03:04"`:               "2026-01-02T03:04:00Z",
		`"2026-01-02T03:04"`:               "2026-01-02T03:04:00Z",
		`"2026-01-02T03:04Z"`:              "2026-01-02T03:04:00Z",
		`"2026-01-02T03:04+02:00"`:         "2026-01-02T01:04:00Z",
		`"2026-01-02  03:04:05+0"`:         "",
		`null`:                             "0001-01-01T00:00:00Z",
		`""`:                               "",
		`"2026-01-02"`:                     "",
		`"2026-13-02T03:04:05"`:            "",
		`"2026-01-02T03:04:05 and so on"`:  "",
		`1767323045`:                       "",
		`{"seconds":1767323045}`:           "",
		`"January 2nd, 2026, at about 3h"`: "",
	} {
		got := dated{At: time.Unix(7, 0)}
		err := codec.Unmarshal([]byte(`{"at":`+literal+`}`), &got, decoding)
		if want == "" {
			assert.Error(t, err, literal)
			continue
		}
		require.NoError(t, err, literal)
		assert.Equal(t, want, got.At.UTC().Format(time.RFC3339Nano), literal)
	}
}
