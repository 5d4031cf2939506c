package wire_test

import (
	"strings"
	"testing"
	"time"

	"github.com/oapi-codegen/nullable"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/codec"
	"github.com/moneymovement/moneymovement-go/internal/hidden"
	"github.com/moneymovement/moneymovement-go/internal/wire"
)

// A type that encodes itself does so in the same way alone and inside a body.
func TestTypesThatWriteThemselves(t *testing.T) {
	type dated struct {
		Amount decimal.Decimal `json:"amount"`
		At     time.Time       `json:"at"`
		None   *string         `json:"none,omitempty"`
		Empty  *string         `json:"empty,omitempty"`
	}
	empty := ""
	text, err := wire.Marshal(dated{Amount: decimal.RequireFromString("1.50"),
		At: time.Date(2026, 1, 2, 5, 4, 5, 0, time.FixedZone("", 7200)), Empty: &empty})
	require.NoError(t, err)
	assert.Equal(t, `{"amount":"1.5","at":"2026-01-02T03:04:05Z","empty":""}`, string(text)) //nolint:testifylint // the very bytes
	var back dated
	require.NoError(t, wire.Unmarshal([]byte(`{"amount":1.5,"at":"2026-01-02 03:04"}`), &back))
	assert.Equal(t, "1.5", back.Amount.String())
	assert.Equal(t, time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC), back.At)
}

// What is no JSON is told from what is other JSON than expected.
func TestMalformed(t *testing.T) {
	for text, malformed := range map[string]bool{
		`{"a":1}`: false, `[]`: false, `{"a":"b"}`: false, `{"a":1,"a":2}`: true, `{"a":`: true, `{"a":1}x`: true,
		"{\"a\":\"\xff\"}": true, ``: true,
	} {
		var into struct{ A int }
		assert.Equal(t, malformed, wire.Malformed(wire.Unmarshal([]byte(text), &into)), text)
	}
	assert.False(t, wire.Malformed(nil))
}

// What is sent does not depend on switches of the libraries, and the same value is sent as the same bytes.
func TestEncoding(t *testing.T) {
	before := decimal.MarshalJSONWithoutQuotes
	t.Cleanup(func() { decimal.MarshalJSONWithoutQuotes = before })
	decimal.MarshalJSONWithoutQuotes = true
	type update struct {
		Amount *decimal.Decimal            `json:"amount,omitempty"`
		Name   nullable.Nullable[string]   `json:"name,omitempty"`
		Email  nullable.Nullable[string]   `json:"email,omitempty"`
		Phone  nullable.Nullable[string]   `json:"phone,omitempty"`
		Tags   nullable.Nullable[[]string] `json:"tags,omitempty"`
		Note   *string                     `json:"note,omitempty"`
		Flag   bool                        `json:"flag,omitempty"`
		More   map[string]int              `json:"more,omitempty"`
	}
	amount, empty := decimal.RequireFromString("12.50"), ""
	sent := update{
		Amount: &amount, Name: nullable.NewNullableWithValue("Bob"), Email: nullable.NewNullNullable[string](),
		Tags: nullable.NewNullableWithValue([]string{}), Note: &empty,
		More: map[string]int{"z": 1, "y": 2, "x": 3, "w": 4, "v": 5, "u": 6},
	}
	for range 20 {
		body, err := codec.Marshal(sent, wire.Encoding)
		require.NoError(t, err)
		if got := string(body); got != `{"amount":"12.5","name":"Bob","email":null,"tags":[],"note":"","more":{"u":6,`+
			`"v":5,"w":4,"x":3,"y":2,"z":1}}` {
			t.Fatal(got)
		}
	}
}

// itself is a value that writes itself, as unions do.
type itself struct{ variant any }

func (i itself) MarshalJSON() ([]byte, error) { return wire.Marshal(i.variant) }

// What cannot be encoded is named in the spelling of the wire.
func TestUnencodable(t *testing.T) {
	const bad = "\xff"
	type part struct {
		BankName string   `json:"bankName"`
		Lines    []string `json:"lines,omitempty"`
	}
	for want, body := range map[string]any{
		"name":             map[string]any{"name": bad},
		"bank.bankName":    map[string]any{"bank": part{BankName: bad}},
		"list[1].bankName": map[string]any{"list": []any{1, part{BankName: bad}}},
		"do":               map[string]any{"do": func() {}},
		"a":                map[string]any{"a": bad},
		"account.bankName": map[string]any{"account": itself{part{BankName: bad}}},
		"bank.bankName.deep": map[string]any{"bank": itself{map[string]any{
			"bankName": itself{map[string]any{"deep": bad}}}}},
		"bankName": itself{part{BankName: bad}},
		"body":     bad,
	} {
		_, err := wire.Marshal(body)
		require.Error(t, err, want)
		assert.Equal(t, want, wire.Unencodable(err))
	}
	assert.Equal(t, "body", wire.Unencodable(errors.New("not of JSON")))
}

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

// told is a secret of a body.
type told string

func (s told) Reveal() string             { return string(s) }
func (told) MarshalText() ([]byte, error) { return []byte(hidden.Redaction), nil }

// One encoder shows the texts of secrets, and it writes all else as any other.
func TestSecretsAreRevealedToOneEncoder(t *testing.T) {
	body := struct {
		Sig    told            `json:"sig"`
		Amount decimal.Decimal `json:"amount"`
		Deep   []told          `json:"deep"`
	}{"a/b", decimal.RequireFromString("1.50"), []told{"c", "d"}}
	text, err := wire.MarshalRevealing(body)
	require.NoError(t, err)
	assert.Equal(t, //nolint:testifylint // the very bytes
		`{"sig":"a/b","amount":"1.5","deep":["c","d"]}`, string(text))
	text, err = wire.Marshal(body)
	require.NoError(t, err)
	assert.Equal(t, //nolint:testifylint // the very bytes
		`{"sig":"[redacted]","amount":"1.5","deep":["[redacted]","[redacted]"]}`, string(text))
	assert.Equal(t, []string{"a/b", "c", "d"}, wire.Secrets(body))
	assert.Empty(t, wire.Secrets(struct{ A string }{"b"}))
}

func TestReplace(t *testing.T) {
	by := strings.NewReplacer("s/cret", "***", "1234", "****")
	for name, tc := range map[string]struct{ body, want string }{
		"a text":                 {`{"a":"the s/cret"}`, `{"a":"the ***"}`},
		"escaped":                {`{"a":"the s\/cret"}`, `{"a":"the ***"}`},
		"escaped otherwise":      {`{"a":"\u0073/cret"}`, `{"a":"***"}`},
		"a name":                 {`{"s/cret":1}`, `{"***":1}`},
		"a number":               {`[1234,1.50]`, `["****",1.50]`},
		"a name that came twice": {`{"a":"s/cret","a":"s/cret"}`, `{"a":"***","a":"***"}`},
		"no UTF-8":               {"[\"\xff s\\/cret\"]", "[\"\ufffd ***\"]"},
		"a raw tab":              {"[\"\ts\\/cret\"]", `["\t***"]`},
		"no JSON":                {`<p>s/cret`, `<p>***`},
		"cut off":                {`{"a":"s/cret`, `{"a":"***`},
		"several values":         {`"s/cret" "s/cret"`, "\"***\"\n\"***\""},
	} {
		text, found := wire.Replace([]byte(tc.body), by)
		assert.Equal(t, tc.want, strings.TrimSuffix(string(text), "\n"), name)
		assert.True(t, found, name)
	}
	for _, body := range []string{`{"a":"b"}`, `{"a":`, `[12,34]`, ``} {
		_, found := wire.Replace([]byte(body), by)
		assert.False(t, found, body)
	}
}
