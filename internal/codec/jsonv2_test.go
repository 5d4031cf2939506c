package codec_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/codec"
)

type celsius float64

// Each function calls the module's function of the same name, with the given options.
func TestRoundTrip(t *testing.T) {
	write := codec.WithMarshalers(
		codec.JoinMarshalers(codec.MarshalToFunc(func(enc *codec.Encoder, c celsius) error {
			return codec.MarshalEncode(enc, []float64{float64(c)})
		})),
		codec.MarshalToFunc(func(enc *codec.Encoder, text string) error {
			if text == "" {
				return enc.WriteToken(codec.Null())
			}
			return enc.WriteToken(codec.String(text + "!"))
		}),
	)
	type weather struct {
		At   map[string]celsius `json:"at"`
		Word string             `json:"word"`
		None string             `json:"none,omitempty"`
		Zero *string            `json:"zero,omitempty"`
	}
	zero := ""
	now := weather{map[string]celsius{"b": 2, "a": 1, "c": 3, "d": 4, "e": 5}, "warm", "", &zero}
	for range 20 {
		text, err := codec.Marshal(now, codec.JoinOptions(codec.Deterministic(), codec.OmitEmptyAsV1(), write))
		require.NoError(t, err)
		require.Equal(t, `{"at":{"a!":[1],"b!":[2],"c!":[3],"d!":[4],"e!":[5]},"word":"warm!","zero":null}`, string(text)) //nolint:testifylint // the very bytes
	}
	var out bytes.Buffer
	require.NoError(t, codec.MarshalWrite(&out, now.At["b"], write))
	assert.Equal(t, `[2]`, out.String())

	read := codec.WithUnmarshalers(codec.UnmarshalFromFunc(func(dec *codec.Decoder, c *celsius) error {
		raw, err := dec.ReadValue()
		*c = celsius(len(raw))
		return err
	}))
	var back map[string]celsius
	require.NoError(t, codec.Unmarshal([]byte(`{"a":"four"}`), &back, read))
	assert.Equal(t, map[string]celsius{"a": 6}, back)
}

func TestDefaultsOfUnmarshal(t *testing.T) {
	for _, text := range []string{`{"a":1,"a":2}`, "\"\xff\"", `1 2`} {
		var into any
		_, syntactic := errors.AsType[*codec.SyntacticError](codec.Unmarshal([]byte(text), &into))
		assert.True(t, syntactic, text)
	}
	var number int
	wrong, semantic := errors.AsType[*codec.SemanticError](codec.Unmarshal([]byte(`"a"`), &number))
	require.True(t, semantic)
	assert.Equal(t, codec.Pointer(""), wrong.JSONPointer)

	var out bytes.Buffer
	dec := codec.NewDecoder(bytes.NewReader([]byte(`{"a":1,"a":"`+"\xff"+`"}`)), codec.Lenient())
	enc := codec.NewEncoder(&out, codec.Lenient())
	for {
		token, err := dec.ReadToken()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		require.NoError(t, enc.WriteToken(token))
	}
	assert.Equal(t, "{\"a\":1,\"a\":\"\ufffd\"}\n", out.String()) //nolint:testifylint // the very bytes
}

func TestQuotes(t *testing.T) {
	quoted, err := codec.AppendQuote([]byte("x"), `a"b`)
	require.NoError(t, err)
	assert.Equal(t, `x"a\"b"`, string(quoted))
	plain, err := codec.AppendUnquote([]byte("y"), quoted[1:])
	require.NoError(t, err)
	assert.Equal(t, `ya"b`, string(plain))
}

func TestKinds(t *testing.T) {
	for text, kind := range map[string]any{
		"": codec.KindInvalid, "null": codec.KindNull, "true": codec.KindTrue, "false": codec.KindFalse,
		`"a"`: codec.KindString, "1": codec.KindNumber, "{": codec.KindBeginObject, "[": codec.KindBeginArray,
		"]": codec.KindEndArray,
	} {
		assert.Equal(t, kind, codec.Value(text).Kind(), text)
	}
}

func TestIndentedOutput(t *testing.T) {
	type file struct {
		Name string `json:"name"`
	}
	text, err := codec.Marshal(file{"a"}, codec.Indented())
	require.NoError(t, err)
	assert.Equal(t, "{\n  \"name\": \"a\"\n}", string(text)) //nolint:testifylint // the very bytes

	const unknown = `{"name":"a","surname":"b"}`
	var read file
	require.NoError(t, codec.Unmarshal([]byte(unknown), &read))
	require.ErrorContains(t, codec.Unmarshal([]byte(unknown), &read, codec.NoUnknownMembers()), "surname")
}
