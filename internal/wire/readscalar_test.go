package wire

import (
	"math"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/internal/codec"
)

// scalarOf reads a scalar in one pass. It returns false if the bender has to read it.
func scalarOf[T any](s *Shape, text string) (into T, read bool) {
	var r Reader
	r.scan.Start([]byte(text))
	read = r.scalar(s, &into)
	return into, read && r.scan.End()
}

// Scalars in their usual forms are read in one pass. The bender would read them too, but is slower.
func TestUsualScalarsNeedNoBender(t *testing.T) {
	words := &Shape{Kind: KindText, Words: []string{"created", "funded"}}
	for _, want := range []string{"", "created", "funded", "create", "fundedx", `a "quote"`, "é"} {
		quoted, err := codec.Marshal(want)
		assert.NoError(t, err)
		for _, shape := range []*Shape{&Text, words} {
			got, read := scalarOf[string](shape, string(quoted))
			assert.True(t, read, want)
			assert.Equal(t, want, got)
		}
	}
	for _, amount := range []string{"0", "12.50", "-3", "100", `"0"`, `"12.50"`, `"-3"`, `1e2`} {
		got, read := scalarOf[decimal.Decimal](&Amount, amount)
		assert.True(t, read, amount)
		want, err := ParseNumber(text(codec.Value(amount)))
		assert.NoError(t, err)
		assert.Equal(t, want, got, amount)
	}
	at, read := scalarOf[time.Time](&Time, `"2026-01-02T03:04:05.5Z"`)
	assert.True(t, read)
	assert.Equal(t, time.Date(2026, 1, 2, 3, 4, 5, 500_000_000, time.UTC), at)
	for text, want := range map[string]bool{"true": true, "false": false} {
		got, read := scalarOf[bool](&Boolean, text)
		assert.True(t, read, text)
		assert.Equal(t, want, got, text)
	}
	for text, want := range map[string]int64{"0": 0, "7": 7, "-7": -7, "10": 10, "1234567890": 1234567890,
		"99": 99, "123456789012345678": 123456789012345678, "-999999999999999999": -999999999999999999} {
		long, read := scalarOf[int64](&Integer, text)
		assert.True(t, read, text)
		assert.Equal(t, want, long, text)
		short, read := scalarOf[int](&Integer, text)
		assert.Equal(t, want <= math.MaxInt && want >= math.MinInt, read, text)
		if read {
			assert.EqualValues(t, want, short, text)
		}
	}
	for text, want := range map[string][]byte{`""`: {}, `"YQ=="`: []byte("a"), `"YWJj"`: []byte("abc")} {
		got, read := scalarOf[[]byte](&Bytes, text)
		assert.True(t, read, text)
		assert.Equal(t, want, got, text)
	}
}

// Every other form is left to the bender, which knows what is meant.
func TestUnusualScalarsAreLeftToTheBender(t *testing.T) {
	for _, text := range []string{"7", "true", "{}", "[]"} {
		_, read := scalarOf[string](&Text, text)
		assert.False(t, read, text)
	}
	for _, text := range []string{"true", `"x"`, `""`, "{}", `"1 "`} {
		_, read := scalarOf[decimal.Decimal](&Amount, text)
		assert.False(t, read, text)
	}
	for _, text := range []string{"7", `"x"`, `""`, "null"} {
		_, read := scalarOf[time.Time](&Time, text)
		assert.False(t, read, text)
	}
	for _, text := range []string{`"7"`, "7.0", "7e2", "true", "null", "-", "1234567890123456789", "9223372036854775808"} {
		_, read := scalarOf[int64](&Integer, text)
		assert.False(t, read, text)
	}
	for _, text := range []string{"1", `"true"`, "null", "{}"} {
		_, read := scalarOf[bool](&Boolean, text)
		assert.False(t, read, text)
	}
	for _, text := range []string{"1", `"YQ"`, `"YQ==\n"`, `"YW\nJj"`, `"_-8="`, `"x"`} {
		_, read := scalarOf[[]byte](&Bytes, text)
		assert.False(t, read, text)
	}
}
