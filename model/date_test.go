package model_test

import (
	jsonv1 "encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/moneymovement/moneymovement-go/internal/codec"
	"github.com/moneymovement/moneymovement-go/model"
)

func anyDate() *rapid.Generator[model.Date] {
	return rapid.Custom(func(t *rapid.T) model.Date {
		first := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
		return model.DateOf(first.AddDate(0, 0, rapid.IntRange(0, 3_652_058).Draw(t, "days")))
	})
}

// TestDatesTravel there and back under both versions of JSON, as a value, a pointer, in a list and as a map's key.
func TestDatesTravel(t *testing.T) {
	type dates struct {
		Value   model.Date            `json:"value"`
		Pointer *model.Date           `json:"pointer"`
		List    []model.Date          `json:"list"`
		Keys    map[model.Date]string `json:"keys"`
	}
	rapid.Check(t, func(t *rapid.T) {
		date := anyDate().Draw(t, "date")
		assert.Equal(t, time.Date(date.Year, date.Month, date.Day, 0, 0, 0, 0, time.UTC).Format(time.DateOnly),
			date.String())
		sent := dates{date, &date, []model.Date{date}, map[model.Date]string{date: "x"}}
		first, err := jsonv1.Marshal(sent)
		require.NoError(t, err)
		second, err := codec.Marshal(sent)
		require.NoError(t, err)
		assert.JSONEq(t, string(first), string(second))
		assert.Contains(t, string(first), `"value":"`+date.String()+`"`)
		for _, unmarshal := range []func([]byte, any) error{jsonv1.Unmarshal, func(b []byte, v any) error {
			return codec.Unmarshal(b, v)
		}} {
			var got dates
			require.NoError(t, unmarshal(first, &got))
			assert.Equal(t, sent, got)
		}
	})
}

func TestAbsentDates(t *testing.T) {
	type dated struct {
		Due model.Date `json:"due,omitempty,omitzero"`
	}
	for name, marshal := range map[string]func(any) ([]byte, error){
		"v1": jsonv1.Marshal,
		"v2": func(v any) ([]byte, error) { return codec.Marshal(v) },
	} {
		written, err := marshal(dated{})
		require.NoError(t, err, name)
		assert.Equal(t, `{}`, string(written), "%s: no day is left out", name)
	}
	for name, unmarshal := range map[string]func([]byte, any) error{
		"v1": jsonv1.Unmarshal,
		"v2": func(b []byte, v any) error { return codec.Unmarshal(b, v) },
	} {
		for _, absent := range []string{`{}`, `{"due":""}`, `{"due":null}`} {
			var got dated
			require.NoError(t, unmarshal([]byte(absent), &got), "%s: %s", name, absent)
			assert.True(t, got.Due.IsZero(), "%s: %s", name, absent)
		}
	}
	assert.Empty(t, model.Date{}.String())
}

func TestWhatIsNoDay(t *testing.T) {
	for _, text := range []string{
		"2026-02-29", "2026-13-01", "2026-00-01", "2026-01-00", "2026-01-32", "26-01-01", "2026-1-1", "02026-01-01",
		"-2026-01-01",
		"2026-01-01T00:00:00Z", "2026/01/01", " 2026-01-01", "2026-01-01 ", "tomorrow", "２026-01-01",
	} {
		date := model.Date{Year: 1999, Month: 1, Day: 1}
		assert.ErrorContains(t, date.UnmarshalText([]byte(text)), "is not a date", text)
		assert.Equal(t, model.Date{Year: 1999, Month: 1, Day: 1}, date, "it stays as it was")
	}
	for _, date := range []model.Date{
		{2026, 2, 29}, {2026, 13, 1}, {2026, 0, 1}, {2026, 1, 0}, {2026, 1, -1}, {-1, 1, 1}, {10_000, 1, 1}, {0, 0, 1},
	} {
		_, err := date.MarshalText()
		require.ErrorContains(t, err, "is not a calendar date", "%#v", date)
		_, err = codec.Marshal(date)
		assert.ErrorContains(t, err, "is not a calendar date", "%#v", date)
		_, err = jsonv1.Marshal(date)
		assert.ErrorContains(t, err, "is not a calendar date", "%#v", date)
	}
}

func TestADayIsWhereTheTimeIs(t *testing.T) {
	east, west := time.FixedZone("east", 14*3600), time.FixedZone("west", -12*3600)
	moment := time.Date(2026, 1, 31, 23, 30, 0, 0, time.UTC)
	assert.Equal(t, model.Date{Year: 2026, Month: time.January, Day: 31}, model.DateOf(moment))
	assert.Equal(t, model.Date{Year: 2026, Month: time.February, Day: 1}, model.DateOf(moment.In(east)))
	assert.Equal(t, model.Date{Year: 2026, Month: time.January, Day: 31}, model.DateOf(moment.In(west)))
	rapid.Check(t, func(t *rapid.T) {
		date := anyDate().Draw(t, "date")
		place := rapid.SampledFrom([]*time.Location{time.UTC, east, west}).Draw(t, "place")
		first := date.In(place)
		assert.Equal(t, date, model.DateOf(first))
		assert.NotEqual(t, date, model.DateOf(first.Add(-time.Nanosecond)))
		assert.Equal(t, date, model.DateOf(first.Add(24*time.Hour-time.Nanosecond)))
	})
}
