package signing

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/moneymovement/moneymovement-go/internal/codec"
)

// isCanonical says whether the JSON library writes an object in the same way.
func isCanonical(data []byte) bool {
	value := codec.Value(bytes.Clone(data))
	return value.Canonicalize() == nil && value.Kind() == '{' && bytes.Equal(value, data)
}

func TestPlainlyCanonical(t *testing.T) {
	for data, want := range map[string]bool{
		`{"a":"x"}`: true,
		`{"a":"x","b":1,"c":{"d":"<'/ \u007f>"}}`:           false, // an escape
		"{\"a\":\"x\",\"b\":1,\"c\":{\"d\":\"<'/ \x7f>\"}}": true,
		`{"A":"","a":"","aa":""}`:                           true,
		`{"a":123456789012345}`:                             true,
		// canonical, and for the JSON library to say
		`{}`: false, `{"":"x"}`: false, `{"a":{}}`: false, `{"a":0}`: false, `{"a":-1}`: false, `{"a":1.5}`: false,
		`{"a":1234567890123456}`: false, `{"a":1e+21}`: false, `{"a":true}`: false, `{"a":null}`: false,
		`{"a":[]}`: false, `{"a":"é"}`: false, `{"a":"\n"}`: false, `{"a":"\\"}`: false,
		// not canonical
		``: false, `{`: false, `{"`: false, `{"a`: false, `{"a"`: false, `{"a":`: false, `{"a":"`: false,
		`{"a":"x"`: false, `{"a":"x",`: false, `{"a":"x",}`: false, `{"a":1`: false, `{"a":}`: false, `{"a":x}`: false,
		`{"a":"x"}}`: false, `{"a":"x"} `: false, ` {"a":"x"}`: false, `{ "a":"x"}`: false, `{"a": "x"}`: false,
		`{"a":"x","a":"x"}`: false, `{"b":"x","a":"x"}`: false, `{"a":"x" ,"b":1}`: false, `{"a":"x","b":01}`: false,
		`{"a":{"c":1,"b":1}}`: false, `{"a":1,,"b":1}`: false, `{"a":1{"b":1}`: false, `"a"`: false, `[1]`: false,
		"{\"a\":\"\x00\"}": false, "{\"a\":\"\x1f\"}": false, "{\"a\":\"\x80\"}": false, `{"a":"\/"}`: false,
	} {
		assert.Equal(t, want, plainlyCanonical([]byte(data)), "%q", data)
		if want {
			assert.True(t, isCanonical([]byte(data)), "%q", data)
		}
	}
	nested := strings.Repeat(`{"a":`, 2000) + "1" + strings.Repeat("}", 2000)
	assert.True(t, plainlyCanonical([]byte(nested)))
	assert.True(t, isCanonical([]byte(nested)))
}

// texts are likely to be the same, or to need care: escapes, and characters whose order differs in UTF-16.
func texts() *rapid.Generator[string] {
	return rapid.StringOfN(rapid.SampledFrom([]rune("abA09 ,:{}[]\"\\/<\x00\x1f\n\x7fé\u2028\ufb33\U0001f600")), 0, 4,
		-1)
}

func values(depth int) *rapid.Generator[any] {
	kinds := []*rapid.Generator[any]{
		texts().AsAny(), rapid.Int64Range(-2, 1<<60).AsAny(), rapid.Float64Range(-1e30, 1e30).AsAny(),
		rapid.Bool().AsAny(), rapid.Just[any](nil),
	}
	if depth > 0 {
		kinds = append(kinds, rapid.MapOfN(texts(), values(depth-1), 0, 4).AsAny(),
			rapid.SliceOfN(values(depth-1), 0, 3).AsAny())
	}
	return rapid.OneOf(kinds...)
}

// What is canonical at first sight is canonical, and the members of a canonical object are those that the JSON library
// finds.
func TestCanonicalObjectsAreReadAsTheLibraryReadsThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data, err := codec.Marshal(rapid.MapOfN(texts(), values(2), 0, 5).Draw(t, "object"))
		require.NoError(t, err)
		canonical := codec.Value(data)
		require.NoError(t, canonical.Canonicalize())

		var want map[string]codec.Value
		require.NoError(t, codec.Unmarshal(canonical, &want))
		got := map[string]codec.Value{}
		for _, found := range split(canonical) {
			got[string(found.name)] = found.value
		}
		require.Equal(t, want, got)
		for _, value := range got {
			if value.Kind() == '"' {
				var text string
				require.NoError(t, codec.Unmarshal(value, &text))
				require.Equal(t, text, string(unquote(value)))
			}
		}

		changed := bytes.Clone(canonical)
		changed[rapid.IntRange(0, len(changed)-1).Draw(t, "byte")] = rapid.Byte().Draw(t, "is")
		for _, data := range [][]byte{canonical, changed} {
			if plainlyCanonical(data) {
				require.True(t, isCanonical(data), "%q", data)
			}
		}
	})
}

// An object that breaks off, or has a character too many, is not canonical, wherever that is.
func TestAnObjectThatBreaksOffIsNotCanonical(t *testing.T) {
	const whole = `{"a":{"b":"text","c":17},"d":"","e":1}`
	require.True(t, plainlyCanonical([]byte(whole)))
	for i := range whole {
		for _, end := range []string{"", `}`, `}}`, `"}`, "\x01}", "\xff}", `\}`, `0}`} {
			for _, data := range []string{whole[:i] + end, whole[:i] + end + whole[i:]} {
				assert.Equal(t, isCanonical([]byte(data)), checkCanonical([]byte(data)) == nil, "%q", data)
				if plainlyCanonical([]byte(data)) {
					assert.True(t, isCanonical([]byte(data)), "%q", data)
				}
			}
		}
	}
}
