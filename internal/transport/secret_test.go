package transport_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// A secret shows only whether there is a text. Only the SDK can read the text.
func TestASecretSaysWhetherThereIsOne(t *testing.T) {
	for text, want := range map[string]struct{ printed, encoded string }{"": {"[none]", ""},
		"hush": {"[redacted]", "[redacted]"}} {
		secret := transport.NewSecret(text)
		assert.Equal(t, text, transport.Reveal(secret))
		assert.Equal(t, text == "", secret.IsZero())
		assert.Equal(t, want.printed, secret.String())
		assert.Equal(t, want.printed, secret.LogValue().String())
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			assert.Equal(t, want.printed, fmt.Sprintf(verb, secret), verb)
		}
		encoded, err := json.Marshal(secret)
		require.NoError(t, err)
		assert.JSONEq(t, `"`+want.encoded+`"`, string(encoded))
		binary, err := secret.MarshalBinary()
		require.NoError(t, err)
		assert.Equal(t, want.encoded, string(binary))
	}
	assert.Zero(t, transport.NewSecret(""))
	var zero transport.Secret
	assert.Empty(t, transport.Reveal(zero))
	assert.Equal(t, "[none]", zero.String())
}

func TestSecretsThatAreTheSame(t *testing.T) {
	hush := transport.NewSecret("hush")
	assert.True(t, transport.SameSecret(hush, transport.NewSecret("hush")))
	assert.True(t, transport.SameSecret(transport.Secret{}, transport.NewSecret("")))
	for _, other := range []string{"", "hus", "hush!", "Hush"} {
		assert.False(t, transport.SameSecret(hush, transport.NewSecret(other)), other)
	}
}

// A credential is one word in a header.
func TestCredentialsAreChecked(t *testing.T) {
	for text, want := range map[string][]string{
		"a-Token.7~": nil, "": {"token missing"}, "two words": {"token pattern"}, "line\n": {"token pattern"},
		"\u00e9": {"token pattern"},
	} {
		assert.Equal(t, want,
			refusals(t, func(c *transport.Check) { c.Credential("token", transport.NewSecret(text)) }), text)
	}
}
