package wire

import (
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/internal/codec"
)

// How each form of a value is read, or what is said of it.
func TestScalars(t *testing.T) {
	largest := strconv.Itoa(math.MaxInt)
	for kind, forms := range map[Kind]map[string]string{
		KindText: {
			`"a"`: `"a"`, `""`: `""`, `7`: `"7"`, `1.50`: `"1.50"`, `true`: "is a boolean", `null`: "is null",
			`[]`: "is an array", `{}`: "is an object",
		},
		KindAmount: {
			`"1.50"`: `"1.50"`, `1.50`: `1.50`, `"one"`: "is not a decimal amount",
			`"1e999999999"`: "is not a decimal amount", `true`: "is a boolean",
			`[]`: "is an array", `"\u0031"`: `"\u0031"`,
		},
		KindInteger: {
			`7`: `7`, `"7"`: `7`, `7.0`: `7`, `"-7"`: `-7`, `1e2`: `100`, largest: largest,
			`7.5`: "is not a whole number",
			`"x"`: "is not a whole number",
			`""`:  "is not a whole number", `9223372036854775808`: "is too large", `true`: "is a boolean",
			`{}`: "is an object",
		},
		KindInteger64: {
			`9223372036854775807`: `9223372036854775807`, `"-9223372036854775808"`: `-9223372036854775808`,
			`9223372036854775808`: "is too large", `-9223372036854775809`: "is too large",
			`false`: "is a boolean",
		},
		KindBoolean: {
			`true`: `true`, `false`: `false`, `"true"`: `true`, `"false"`: `false`, `"True"`: "is a string",
			`1`: "is a number", `null`: "is null",
		},
		KindTime: {
			`"2026-01-02T03:04:05Z"`: `"2026-01-02T03:04:05Z"`, `"2026-01-02 03:04"`: `"2026-01-02 03:04"`,
			`"soon"`: "is not a time", `7`: "is a number",
		},
		KindDate: {
			`"2026-01-02"`: `"2026-01-02"`, `"2026-01-02T23:04:05Z"`: `"2026-01-02"`,
			`"2026-01-02T23:04:05-02:00"`: `"2026-01-02"`,
			`"2026-01-02 03:04"`:          `"2026-01-02"`, `"2026-02-30"`: "is not a day", `"soon"`: "is not a day",
			`""`:       "is not a day",
			`20260102`: "is a number",
		},
		KindBytes: {
			`"YQ=="`: `"YQ=="`, `"YQ"`: `"YQ=="`, `"_-8"`: `"/+8="`, `"/+8="`: `"/+8="`, `""`: `""`,
			`"a"`: "is not base64", `"a b="`: "is not base64", `7`: "is a number",
		},
		KindOpen: {
			`{"a":1}`: `{"a":1}`, `{}`: `{}`, `[]`: "is an array", `"a"`: "is a string", `null`: "is null",
		},
		KindAny: {
			`null`: `null`, `[1]`: `[1]`,
		},
	} {
		for form, want := range forms {
			read, problem := scalar(codec.Value(form), kind)
			if problem != "" {
				assert.Nil(t, read, form)
				assert.Equal(t, want, problem, "kind %d: %s", kind, form)
				continue
			}
			assert.Equal(t, want, string(read), "kind %d: %s", kind, form)
		}
	}
}

func TestWhatSaysNothingIsEmpty(t *testing.T) {
	for raw, says := range map[string]bool{`""`: false, `{}`: false, `null`: false, `" "`: true, `0`: true,
		`false`: true, `[]`: true, `{"a":1}`: true} {
		assert.Equal(t, says, !empty(codec.Value(raw)), raw)
	}
}
