package plaintext_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/plaintext"
)

const hostile = "a\x1b[2J\x9b31m\u009b31mb\u202ec\u2066d\u200fe\u2028f\u2029g\x07h\x7fi\r\tj\U000e0041k\xff\ufeffl"

func plain(t *testing.T, text string) {
	t.Helper()
	for _, r := range text {
		assert.True(t, unicode.IsPrint(r) && r != '\ufffd', "%q in %q", r, text)
	}
}

func TestLineHasNoControlCharacters(t *testing.T) {
	plain(t, plaintext.Line(hostile+"\n"))
	assert.Equal(t, "Größe 4 € · 字", plaintext.Line("Größe 4 € \x00 字"))
}

// However the text is cut, a writer cleans it, and keeps its lines and all that prints.
func TestWriterRemovesControlCharacters(t *testing.T) {
	const text = "Größe 字 😀" + hostile + "\nnext"
	for size := 1; size <= len(text); size++ {
		var out bytes.Buffer
		w := plaintext.NewWriter(&out)
		for rest := []byte(text); len(rest) > 0; rest = rest[min(size, len(rest)):] {
			n, err := w.Write(rest[:min(size, len(rest))])
			require.NoError(t, err)
			require.Equal(t, min(size, len(rest)), n)
		}
		first, last, found := strings.Cut(out.String(), "\n")
		require.True(t, found)
		plain(t, strings.ReplaceAll(first, "\t", ""))
		require.Equal(t, "next", last)
		require.Contains(t, first, "Größe 字 😀a·[2J")
	}
}

func TestJSONMeansTheSame(t *testing.T) {
	text := strings.ToValidUTF8(hostile, "")
	value, err := json.Marshal(map[string]string{"a": text})
	require.NoError(t, err)
	clean := plaintext.JSON(value)
	plain(t, string(clean))
	var got map[string]string
	require.NoError(t, json.Unmarshal(clean, &got))
	assert.Equal(t, text, got["a"])
	const indented = "{\n  \"a\": \"Größe 😀\"\n}\n"
	kept := string(plaintext.JSON([]byte(indented)))
	assert.Equal(t, indented, kept, "its white space stays") //nolint:testifylint // byte by byte
}
