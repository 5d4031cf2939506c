package wire_test

import (
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/hidden"
	"github.com/moneymovement/moneymovement-go/internal/wire"
)

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
