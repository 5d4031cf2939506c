package transport_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// A secret says whether there is one, and gives its text to the SDK alone.
func TestASecretSaysWhetherThereIsOne(t *testing.T) {
	for text, printed := range map[string]string{"": "[none]", "hush": "[redacted]"} {
		secret := transport.NewSecret(text)
		assert.Equal(t, text, transport.Reveal(secret))
		assert.Equal(t, printed, secret.String())
	}
	var zero transport.Secret
	assert.Empty(t, transport.Reveal(zero))
	assert.Equal(t, "[none]", zero.String())
}

// What is sent as a credential is one token of a header.
func TestCredentialsAreChecked(t *testing.T) {
	for text, want := range map[string][]string{
		"a-Token.7~": nil, "": {"token missing"}, "two words": {"token pattern"}, "line\n": {"token pattern"}, "\u00e9": {"token pattern"},
	} {
		assert.Equal(t, want, refusals(t, func(c *transport.Check) { c.Credential("token", transport.NewSecret(text)) }), text)
	}
}
