package moneymovement_test

import (
	"bytes"
	"encoding/gob"
	jsonv1 "encoding/json"
	"encoding/xml"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
)

// versions are the two JSON packages that a secret has to be the same under.
var versions = map[string]struct {
	marshal   func(any) ([]byte, error)
	unmarshal func([]byte, any) error
}{
	"v1": {jsonv1.Marshal, jsonv1.Unmarshal},
	"v2": {func(v any) ([]byte, error) {
		return json.Marshal(v)
	}, func(b []byte, v any) error { return json.Unmarshal(b, v) }},
}

func TestASecretIsReadFromJSON(t *testing.T) {
	for name, version := range versions {
		for body, want := range map[string]string{`{"s":"hush"}`: "hush", `{"s":"\u00e9\n"}`: "é\n", `{"s":""}`: "",
			`{}`: "", `{"s":null}`: ""} {
			var got struct {
				S moneymovement.Secret `json:"s"`
			}
			require.NoError(t, version.unmarshal([]byte(body), &got), name)
			assert.Equal(t, want, got.S.Reveal(), name)
		}
		var got struct {
			S moneymovement.Secret `json:"s"`
		}
		require.Error(t, version.unmarshal([]byte(`{"s":4111111111111111}`), &got), name)
	}
}

func TestSecretsAreCompared(t *testing.T) {
	one, same, other := moneymovement.NewSecret("one"), moneymovement.NewSecret("one"), moneymovement.NewSecret("One")
	assert.True(t, one.Equal(same))
	assert.False(t, one.Equal(other))
	assert.False(t, one.Equal(moneymovement.Secret{}))
	assert.True(t, moneymovement.Secret{}.Equal(moneymovement.NewSecret("")))
	assert.True(t, moneymovement.Secret{}.IsZero())
	assert.True(t, moneymovement.NewSecret("").IsZero())
	assert.False(t, one.IsZero())
	assert.Zero(t, moneymovement.NewSecret(""), "no text is the zero value")
}

// What was encoded holds no secret. Read back, it must not pass for one: a login would present the redaction.
func TestRedactedTextIsNotReadAsASecret(t *testing.T) {
	type holder struct{ S moneymovement.Secret }
	readBack := map[string]func(given holder, into *holder) error{
		"gob": func(given holder, into *holder) error {
			var text bytes.Buffer
			require.NoError(t, gob.NewEncoder(&text).Encode(given))
			return gob.NewDecoder(&text).Decode(into)
		},
		"xml": func(given holder, into *holder) error {
			text, err := xml.Marshal(given)
			require.NoError(t, err)
			return xml.Unmarshal(text, into)
		},
	}
	for name, version := range versions {
		readBack["json "+name] = func(given holder, into *holder) error {
			text, err := version.marshal(given)
			require.NoError(t, err)
			return version.unmarshal(text, into)
		}
	}
	for name, read := range readBack {
		var into holder
		require.ErrorContains(t, read(holder{moneymovement.NewSecret("hush")}, &into), "redacted", name)
		require.NoError(t, read(holder{}, &into), name)
		assert.True(t, into.S.IsZero(), "no secret is read back as none")
	}
	kept := moneymovement.NewSecret("kept")
	require.Error(t, kept.UnmarshalText([]byte("[redacted]")))
	assert.Equal(t, "kept", kept.Reveal())
}
