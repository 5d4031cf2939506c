package wire

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	moneymovement "github.com/moneymovement/moneymovement-go"
)

// escrow is a resource with its own id, which proves it, and the id of another one.
type escrow struct {
	ID     string `json:"id"`
	Payout string `json:"payoutId"`
}

var escrowResponse = Response{Shape: &Shape{Kind: KindObject, Members: []Member{
	{Name: "id", Shape: &Shape{Kind: KindText, ID: &IDForm{}}, Type: Assumed, Required: Assumed, Proof: true},
	{Name: "payoutId", Shape: &Shape{Kind: KindText, ID: &IDForm{Prefix: "po_", Pattern: "^po_"}}, Type: Stated},
}, Must: 1, Fields: func(object any, name []byte) (int, any) {
	v := object.(*escrow)
	switch string(name) {
	case "id":
		return 0, &v.ID
	case "payoutId":
		return 1, &v.Payout
	}
	return -1, nil
}}}

// An id of a response has the form that one of a request must have. One that proves nothing is left out, and costs
// nothing else.
func TestIDs(t *testing.T) {
	for id, problem := range map[string]string{
		"po_1": "", "po_1:invoice-42": "", "po_Größe": "", "po_" + strings.Repeat("1", 253): "",
		"1": "is not an id", "po_1/x": "is not an id", `po_1\\x`: "is not an id", "po_1%2fx": "is not an id",
		`po_1\n`: "is not an id", `po_\u202e`: "is not an id", `po_\u009b`: "is not an id", "po_\u2028": "is not an id",
		"cl_1": "is the id of another kind of resource", "po_" + strings.Repeat("1", 254): "is too long for an id",
	} {
		var v escrow
		unread, err := escrowResponse.Decode(new(Reader), []byte(`{"id":"esc_1","payoutId":"`+id+`"}`), &v)
		require.NoError(t, err, id)
		assert.Equal(t, "esc_1", v.ID)
		if problem == "" {
			assert.Equal(t, id, v.Payout)
			assert.Empty(t, unread)
			continue
		}
		assert.Empty(t, v.Payout, id)
		assert.Equal(t, []moneymovement.Unread{{Pointer: "/payoutId", Stated: true, Problem: problem}}, unread, id)
	}
	for _, id := range []string{"..", "a/b", `\u001b[2J`} {
		_, err := escrowResponse.Decode(new(Reader), []byte(`{"id":"`+id+`"}`), new(escrow))
		assert.ErrorContains(t, err, "the response has no id: it is ", id)
	}
}

// readOff are patterns of the description that are read off, and others of their form.
var readOff = []string{
	`^cl_[A-Za-z0-9._:\-]{1,216}$`, `^(?:ct_)?[A-Za-z0-9._:\-]{1,216}$`, `^[A-Za-z0-9._:-]{1,128}$`,
	`^[A-Za-z0-9._:@~+-]{1,216}$`,
	`^[A-Z]{2}$`, `^[A-Z0-9]+$`, `^[A-Za-z0-9][A-Za-z0-9._:-]*$`, `^0x[0-9a-fA-F]{40}$`, `^[\x20-\x7e]*$`,
	`^[A-Z][a-z]{1,2}$`, `^ab[a-c]$`, `^(?:ab)?[ab]{2,3}$`, `^x[a-c]{0,2}$`,
}

// prefixes are patterns that say a prefix alone.
var prefixes = []string{`^po_`, `^a`, `^x\.y`}

// leftToRegexp are of other forms, some of them very near.
var leftToRegexp = []string{
	`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`, `^\d{1,4}[smhd]$`, `^(?!^[-+.]*$)`, `^[^a]+$`, `^.+$`,
	`[a-c]+$`, `^[a-c]+`, `^(?i)ab[a-c]+$`, `^[a-c]+x$`, `^[a-é]+$`, `^(?:ab|x)[a-c]+$`, `^a?b?[c]+$`,
	`^(?m)[a-c]+$`, `^(?:po_)?`, `^(?i)po_`, `po_`, `^`, `^a{2}[a-c]*$`, `^abc$`, `^$`, `x[a-c]+$`, `^[a-é][a-c]+$`,
}

func TestIDFormsAreReadOffTheirPatterns(t *testing.T) {
	for _, text := range readOff {
		_, ok := idFormOf(text)
		assert.True(t, ok, text)
	}
	for _, text := range prefixes {
		_, ok := prefixOf(text)
		assert.True(t, ok, text)
	}
	for _, text := range leftToRegexp {
		_, id := idFormOf(text)
		_, prefix := prefixOf(text)
		assert.False(t, id || prefix, text)
	}
}

// Whatever the text is, the form says what package regexp says.
func TestIDFormsMatchAsTheirPatternsDo(t *testing.T) {
	for _, text := range slices.Concat(readOff, prefixes, leftToRegexp) {
		compiled, err := regexp.Compile(text)
		if err != nil {
			continue
		}
		read := newMatcher(text)
		rapid.Check(t, func(t *rapid.T) {
			value := rapid.OneOf(
				rapid.StringMatching(text),
				rapid.StringOf(rapid.SampledFrom([]rune("abcxAZ09._:-@~+ct_0l\n\x00é\x7f /"))),
				rapid.Map(rapid.StringMatching(text), func(s string) string { return s + "\n" }),
				// one more
				rapid.Map(rapid.StringMatching(text), func(s string) string { return s + s[max(len(s)-1, 0):] }),
				// one less
				rapid.Map(rapid.StringMatching(text), func(s string) string { return s[:max(len(s)-1, 0)] }),
				rapid.Map(rapid.IntRange(0, 260), func(n int) string { return "ct_" + strings.Repeat("a", n) }),
				rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
			).Draw(t, "value")
			if compiled.MatchString(value) != read.MatchString(value) || compiled.MatchString(value) != Matches(text,
				value) {
				t.Fatalf("%q: %s says %v", value, text, compiled.MatchString(value))
			}
		})
	}
}
