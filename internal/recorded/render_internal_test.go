package recorded

import (
	"encoding/base64"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/codec"
)

func TestTimesAreCountedFromTheStart(t *testing.T) {
	start := time.Date(2026, 12, 31, 23, 59, 30, 0, time.FixedZone("elsewhere", -3600)) // 2027-01-01 00:59:30 in UTC
	const same = `{"amount":25.10,"text":"a < b","none":null,"list":[],"object":{}}`
	tests := map[string]string{
		`"{{now}}"`:                               `"2027-01-01T00:59:30Z"`,
		`"{{now+15m0s}}"`:                         `"2027-01-01T01:14:30Z"`,
		`"{{now-168h0m0s}}"`:                      `"2026-12-25T00:59:30Z"`,
		`"{{now+1.25s}}"`:                         `"2027-01-01T00:59:31.25Z"`,
		`"{{date now}}"`:                          `"2027-01-01"`,
		`"{{date now+48h0m0s}}"`:                  `"2027-01-03"`,
		`"from {{now}} to {{now+1m0s}}"`:          `"from 2027-01-01T00:59:30Z to 2027-01-01T01:00:30Z"`,
		`{"a":["{{now}}",{"b":"{{now}}"}],"c":1}`: `{"a":["2027-01-01T00:59:30Z",{"b":"2027-01-01T00:59:30Z"}],"c":1}`,
		same: same,
	}
	for body, want := range tests {
		got, err := rendered(codec.Value(body), start)
		require.NoError(t, err, body)
		assert.Equal(t, want, string(got))
	}
}

func TestMomentsAreReadAsTheyAreWritten(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, after := range []time.Duration{0, time.Second, -time.Hour, 7 * 24 * time.Hour, 1500 * time.Microsecond} {
		at, err := timeOf(Moment(after), start)
		require.NoError(t, err)
		assert.Equal(t, start.Add(after), at)
	}
	for _, days := range []int{0, 1, -1, 400} {
		at, err := timeOf(Date(days), start)
		require.NoError(t, err)
		assert.Equal(t, start.AddDate(0, 0, days), at)
	}
}

func TestABrokenMomentIsAnError(t *testing.T) {
	for _, text := range []string{"", "now", "{{now+soon}}", "at {{now}}"} {
		_, err := timeOf(text, time.Now())
		assert.Error(t, err, text)
	}
	for _, body := range []string{`"{{now+soon}}"`, `{"{{base64}}":"{{now+soon}}"}`} {
		_, err := rendered(codec.Value(body), time.Now())
		assert.Error(t, err, body)
	}
}

// A key signs canonical JSON in base64, which has times as well.
func TestWhatIsSignedIsEncodedAtItsTime(t *testing.T) {
	start := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	got, err := rendered(codec.Value(`{"payload":{"{{base64}}":{"nonce":"random_1","expiresAt":"{{now+2m0s}}"}}}`),
		start)
	require.NoError(t, err)
	want := base64.StdEncoding.EncodeToString([]byte(`{"expiresAt":"2027-01-01T00:02:00Z","nonce":"random_1"}`))
	assert.Equal(t, `{"payload":"`+want+`"}`, string(got))
}

func TestReplacedIsWhatIsNamed(t *testing.T) {
	const body = `{"a": 1, "secret": "x", "in": [{"secret": ["y"]}, "z"], "last": {"secret": null}}`
	seen := []string{}
	got, err := Rewrite(codec.Value(body), func(name string, value codec.Value) (codec.Value, bool) {
		if value.Kind() == '"' {
			seen = append(seen, name)
		}
		return codec.Value(`"hidden"`), name == "secret"
	})
	require.NoError(t, err)
	assert.JSONEq(t, `{"a":1,"secret":"hidden","in":[{"secret":"hidden"},"z"],"last":{"secret":"hidden"}}`, string(got))
	assert.Equal(t, []string{"secret", "in"}, seen)
	_, err = Rewrite(codec.Value(`{"a":`), func(string, codec.Value) (codec.Value, bool) { return nil, false })
	assert.Error(t, err)
}
