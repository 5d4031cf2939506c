package hidden_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/hidden"
)

// A secret shows only whether there is a text. Only the SDK can read the text.
func TestSecretPrintsOnlyWhetherItIsSet(t *testing.T) {
	for text, want := range map[string]struct{ printed, encoded string }{"": {"[none]", ""},
		"hush": {"[redacted]", "[redacted]"}} {
		secret := hidden.NewText(text)
		assert.Equal(t, text, hidden.Reveal(secret))
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
	assert.Zero(t, hidden.NewText(""))
	var zero hidden.Text
	assert.Empty(t, hidden.Reveal(zero))
	assert.Equal(t, "[none]", zero.String())
}

func TestSecretsThatAreTheSame(t *testing.T) {
	hush := hidden.NewText("hush")
	assert.True(t, hidden.Same(hush, hidden.NewText("hush")))
	assert.True(t, hidden.Same(hidden.Text{}, hidden.NewText("")))
	for _, other := range []string{"", "hus", "hush!", "Hush"} {
		assert.False(t, hidden.Same(hush, hidden.NewText(other)), other)
	}
}
