package errors_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/codec"
)

// Rule: session.scope
func TestForbiddenScope(t *testing.T) {
	for name, tc := range map[string]struct {
		scope string
		want  []string
	}{
		"array":           {`["read","payouts:write"]`, []string{"read", "payouts:write"}},
		"spaces":          {`"read  payouts:write"`, []string{"read", "payouts:write"}},
		"empty string":    {`""`, []string{}},
		"mixed array":     {`["read",7,null,{}]`, []string{"read"}},
		"number":          {`7`, nil},
		"null":            {`null`, nil},
		"object":          {`{"read":true}`, nil},
		"escaped unicode": {`["\u0072ead"]`, []string{"read"}},
	} {
		t.Run(name, func(t *testing.T) {
			err := decode(403,
				`{"error":{"code":"forbidden","message":"m","details":{"requiredScope":"payouts:write","scope":`+tc.scope+`}}}`)
			var forbidden *errors.Forbidden
			require.ErrorAs(t, err, &forbidden)
			assert.Equal(t, "payouts:write", forbidden.RequiredScope)
			assert.Equal(t, tc.want, forbidden.Scope)
		})
	}
}

// Rule: session.platform-token
func TestForbiddenReason(t *testing.T) {
	var forbidden *errors.Forbidden
	require.ErrorAs(t, decode(403, `{"error":{"code":"forbidden","details":{"reason":"developerSessionRequired"}}}`),
		&forbidden)
	assert.Equal(t, errors.ReasonDeveloperSessionRequired, forbidden.Reason)
}

func TestMaxCredit(t *testing.T) {
	for name, tc := range map[string]struct{ wire, want string }{
		"string":                {`"100"`, "100"},
		"every digit is kept":   {`"100.000000000000000001"`, "100.000000000000000001"},
		"number":                {`99.95`, "99.95"},
		"leading point":         {`".5"`, "0.5"},
		"negative":              {`"-1"`, "-1"},
		"trailing point":        {`"5."`, "5"},
		"small exponent":        {`"1e2"`, "0"},
		"small exponent, too":   {`1e2`, "0"},
		"exponent in a string":  {`"1e999999999"`, "0"},
		"exponent in a number":  {`1e999999999`, "0"},
		"too long to be honest": {`"` + digits(200) + `"`, "0"},
		"as long as it may be":  {`"` + digits(128) + `"`, digits(128)},
		"one digit longer":      {`"` + digits(129) + `"`, "0"},
		"plus":                  {`"+1.5"`, "1.5"},
		"no digits":             {`"."`, "0"},
		"a sign":                {`"-"`, "0"},
		"two points":            {`"1.2.3"`, "0"},
		"two signs":             {`"--1"`, "0"},
		"a sign in the middle":  {`"1.-2"`, "0"},
		"other digits":          {`"١"`, "0"},
		"a line end":            {`"1\n"`, "0"},
		"empty":                 {`""`, "0"},
		"words":                 {`"a lot"`, "0"},
		"object":                {`{}`, "0"},
		"null":                  {`null`, "0"},
	} {
		t.Run(name, func(t *testing.T) {
			body := `{"error":{"code":"amount_above_maximum","message":"m","details":{"maxCredit":` + tc.wire + `}}}`
			var above *errors.AmountAboveMaximum
			require.ErrorAs(t, decode(422, body), &above)
			assert.True(t, decimal.RequireFromString(tc.want).Equal(above.MaxCredit), above.MaxCredit.String())
			assert.Equal(t, `{"maxCredit":`+tc.wire+`}`, string(above.Details),
				"what could not be read stays in the raw details")
		})
	}
}

func TestDetailsOfAnotherShapeAreKeptRaw(t *testing.T) {
	for name, raw := range map[string]string{
		"array":             `[1,2]`,
		"string":            `"fields"`,
		"fields is a map":   `{"fields":{"name":"missing"}}`,
		"fields of numbers": `{"fields":[1,null,"x"]}`,
	} {
		t.Run(name, func(t *testing.T) {
			var failed *errors.ValidationFailed
			require.ErrorAs(t, decode(422, `{"error":{"code":"validation_failed","message":"m","details":`+raw+`}}`),
				&failed)
			assert.Empty(t, failed.Fields)
			assert.Equal(t, raw, string(failed.Details))
			assert.Equal(t, "m", failed.Message)
		})
	}
}

// Rule: error.details
func TestAbsentAndNullDetailsAreNil(t *testing.T) {
	for _, body := range []string{`{"error":{"code":"gone"}}`, `{"error":{"code":"gone","details":null}}`} {
		var gone *errors.Gone
		require.ErrorAs(t, decode(410, body), &gone)
		assert.Nil(t, gone.Details)
	}
}

// Rule: error.fields
func TestFieldWithPartsMissingOrWrong(t *testing.T) {
	body := `{"error":{"code":"validation_failed","message":7,"details":{"location":"query","fields":[
		{"field":"limit","code":"less_than","message":"too large","extra":1},{"field":"cursor","code":9},{}]}}}`
	var failed *errors.ValidationFailed
	require.ErrorAs(t, decode(422, body), &failed)
	assert.Equal(t, "query", failed.Location)
	assert.Empty(t, failed.Message)
	assert.Equal(t, []errors.Field{{Field: "limit", Code: "less_than", Message: "too large"}, {Field: "cursor"}, {}},
		failed.Fields)
}

func digits(n int) string {
	out := make([]byte, n)
	for i := range out {
		out[i] = '9'
	}
	return string(out)
}

func TestDetailsPrintAsReceived(t *testing.T) {
	const raw = `{"available":"100","currency":"USDC"}`
	var refusal *errors.Refusal
	require.ErrorAs(t, decode(409, `{"error":{"code":"conflict","details":`+raw+`}}`), &refusal)
	assert.Equal(t, raw, fmt.Sprint(refusal.Details), "not as a list of bytes")                      //nolint:testifylint // the very text
	assert.Equal(t, "[{"+raw+"}]", fmt.Sprintf("%v", []any{struct{ Details any }{refusal.Details}})) //nolint:testifylint // the very text
	assert.Equal(t, "null", fmt.Sprint(errors.JSON(nil)))

	for name, write := range map[string]func(any) ([]byte, error){
		"v1": json.Marshal,
		"v2": func(v any) ([]byte, error) { return codec.Marshal(v) },
	} {
		written, err := write(map[string]errors.JSON{"a": refusal.Details, "b": nil})
		require.NoError(t, err, name)
		assert.JSONEq(t, `{"a":`+raw+`,"b":null}`, string(written), name)
	}
	for name, read := range map[string]func([]byte, any) error{
		"v1": json.Unmarshal,
		"v2": func(b []byte, into any) error { return codec.Unmarshal(b, into) },
	} {
		given := []byte(`[` + raw + `]`)
		var kept []errors.JSON
		require.NoError(t, read(given, &kept), name)
		clear(given)
		assert.Equal(t, raw, fmt.Sprint(kept[0]), name) //nolint:testifylint // the very text
	}
}
