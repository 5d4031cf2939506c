package descriptions_test

import (
	"regexp"
	"testing"

	"github.com/dlclark/regexp2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The description's pattern, run by an engine that knows look-ahead, and the one that Go's engine can compile accept
// the same strings. RE2 compatibility makes `$` the end of the text and `\d` the ASCII digits, as in ECMA-262.
func TestDecimalPatternHasAnEquivalent(t *testing.T) {
	original := regexp2.MustCompile(decimalPattern, regexp2.RE2)
	equivalent := regexp.MustCompile(decimalRE2)
	same := func(t require.TestingT, text string) bool {
		expected, err := original.MatchString(text)
		require.NoError(t, err)
		require.Equal(t, expected, equivalent.MatchString(text), "%q", text)
		return expected
	}

	t.Run("every short string over the pattern's alphabet", func(t *testing.T) {
		accepted, refused := 0, 0
		texts := []string{""}
		for range 6 {
			var longer []string
			for _, text := range texts {
				for _, c := range "+-.019 \nx" {
					longer = append(longer, text+string(c))
				}
			}
			for _, text := range longer {
				if same(t, text) {
					accepted++
				} else {
					refused++
				}
			}
			if len(longer) > 7000 {
				break
			}
			texts = longer
		}
		assert.Positive(t, accepted)
		assert.Positive(t, refused)
	})
	t.Run("decimals and near misses", rapid.MakeCheck(func(t *rapid.T) {
		same(t, rapid.StringMatching(`[+-]{0,2}0{0,3}\d{0,20}\.{0,2}\d{0,20}\n?`).Draw(t, "text"))
	}))
	t.Run("any string", rapid.MakeCheck(func(t *rapid.T) {
		same(t, rapid.String().Draw(t, "text"))
	}))
}

func TestDecimalPattern(t *testing.T) {
	pattern, err := compilePattern(decimalPattern)
	require.NoError(t, err)
	for _, text := range []string{"0", "1", "-1", "+1", "1.", ".5", "-.5", "000.10", "12345678901234567890.123456789"} {
		assert.True(t, pattern.MatchString(text), text)
	}
	for _, text := range []string{"", ".", "-", "+.", "--1", "1.2.3", "1,5", "1e3", " 1", "1\n", "٣", "0x1", "NaN"} {
		assert.False(t, pattern.MatchString(text), text)
	}
}

// Every schema of the decimal format carries exactly the pattern that compilePattern knows.
func TestDecimalsCarryTheStatedPattern(t *testing.T) {
	found := 0
	for _, name := range descriptions {
		walk("", source(t, name), func(pointer string, mapping map[string]any) {
			if mapping["format"] == "decimal" {
				found++
				assert.Equal(t, decimalPattern, mapping["pattern"], name+pointer)
			}
		})
	}
	assert.Positive(t, found)
}
