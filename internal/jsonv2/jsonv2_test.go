package jsonv2_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/jsonv2"
)

type celsius float64

// Each function calls the module's function of the same name, with the given options.
func TestValuesGoThereAndBack(t *testing.T) {
	write := jsonv2.WithMarshalers(
		jsonv2.JoinMarshalers(jsonv2.MarshalToFunc(func(enc *jsonv2.Encoder, c celsius) error {
			return jsonv2.MarshalEncode(enc, []float64{float64(c)})
		})),
		jsonv2.MarshalToFunc(func(enc *jsonv2.Encoder, text string) error {
			if text == "" {
				return enc.WriteToken(jsonv2.Null())
			}
			return enc.WriteToken(jsonv2.String(text + "!"))
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
		text, err := jsonv2.Marshal(now, jsonv2.JoinOptions(jsonv2.Deterministic(), jsonv2.OmitEmptyAsV1(), write))
		require.NoError(t, err)
		require.Equal(t, `{"at":{"a!":[1],"b!":[2],"c!":[3],"d!":[4],"e!":[5]},"word":"warm!","zero":null}`, string(text)) //nolint:testifylint // the very bytes
	}
	var out bytes.Buffer
	require.NoError(t, jsonv2.MarshalWrite(&out, now.At["b"], write))
	assert.Equal(t, `[2]`, out.String())

	read := jsonv2.WithUnmarshalers(jsonv2.UnmarshalFromFunc(func(dec *jsonv2.Decoder, c *celsius) error {
		raw, err := dec.ReadValue()
		*c = celsius(len(raw))
		return err
	}))
	var back map[string]celsius
	require.NoError(t, jsonv2.Unmarshal([]byte(`{"a":"four"}`), &back, read))
	assert.Equal(t, map[string]celsius{"a": 6}, back)
}

func TestWhatIsRefusedUnlessAskedFor(t *testing.T) {
	for _, text := range []string{`{"a":1,"a":2}`, "\"\xff\"", `1 2`} {
		var into any
		_, syntactic := errors.AsType[*jsonv2.SyntacticError](jsonv2.Unmarshal([]byte(text), &into))
		assert.True(t, syntactic, text)
	}
	var number int
	wrong, semantic := errors.AsType[*jsonv2.SemanticError](jsonv2.Unmarshal([]byte(`"a"`), &number))
	require.True(t, semantic)
	assert.Equal(t, jsonv2.Pointer(""), wrong.JSONPointer)

	var out bytes.Buffer
	dec := jsonv2.NewDecoder(bytes.NewReader([]byte(`{"a":1,"a":"`+"\xff"+`"}`)), jsonv2.Lenient())
	enc := jsonv2.NewEncoder(&out, jsonv2.Lenient())
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
	quoted, err := jsonv2.AppendQuote([]byte("x"), `a"b`)
	require.NoError(t, err)
	assert.Equal(t, `x"a\"b"`, string(quoted))
	plain, err := jsonv2.AppendUnquote([]byte("y"), quoted[1:])
	require.NoError(t, err)
	assert.Equal(t, `ya"b`, string(plain))
}

func TestKinds(t *testing.T) {
	for text, kind := range map[string]any{
		"": jsonv2.KindInvalid, "null": jsonv2.KindNull, "true": jsonv2.KindTrue, "false": jsonv2.KindFalse,
		`"a"`: jsonv2.KindString, "1": jsonv2.KindNumber, "{": jsonv2.KindBeginObject, "[": jsonv2.KindBeginArray,
		"]": jsonv2.KindEndArray,
	} {
		assert.Equal(t, kind, jsonv2.Value(text).Kind(), text)
	}
}

func TestFilesThatPeopleRead(t *testing.T) {
	type file struct {
		Name string `json:"name"`
	}
	text, err := jsonv2.Marshal(file{"a"}, jsonv2.Indented())
	require.NoError(t, err)
	assert.Equal(t, "{\n  \"name\": \"a\"\n}", string(text)) //nolint:testifylint // the very bytes

	const unknown = `{"name":"a","surname":"b"}`
	var read file
	require.NoError(t, jsonv2.Unmarshal([]byte(unknown), &read))
	require.ErrorContains(t, jsonv2.Unmarshal([]byte(unknown), &read, jsonv2.NoUnknownMembers()), "surname")
}
