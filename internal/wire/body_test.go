package wire

import (
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
)

// A body is asked whether it says that a field is zero, so that an answer as described is decoded once.
func TestABodySaysWhatIsZero(t *testing.T) {
	b := NewBody([]byte(`{ "a" : false,"b":null,"c":{"d":0,"e":"}"},"f\"":1,"g": "", "items":[{"n":0,"m":null},{"n":0,"x":{"m":1}}],"z":0}`))
	for name, says := range map[string]bool{"a": true, "b": false, "c": true, "d": false, "e": false, "g": true, "items": true, "n": false, "z": true, "y": false} {
		assert.Equal(t, says, b.SaysZero(name), name)
	}
	two, three := b.Entries(2), b.Entries(3)
	for range 2 { // what was counted is kept
		assert.True(t, two.SaysZero("n"))
		assert.False(t, three.SaysZero("n"))
		assert.False(t, two.SaysZero("m"))
	}
	deep, none := two.Entries(1), (*Body)(nil).Entries(1)
	assert.False(t, deep.SaysZero("n"))
	assert.False(t, none.SaysZero("n"))
	assert.False(t, (*Body)(nil).SaysZero("n"))
}

func TestAUnionIsUnreadIfItNamesWhatIsKnown(t *testing.T) {
	union := Shape{Kind: KindUnion, By: "kind", Variants: map[string]*Shape{"part": &partShape}}
	for raw, unread := range map[string]bool{
		`{"kind":"part","id":[]}`: true, `{"kind":"of a later version"}`: false, `{"kind":7}`: true, `{}`: true, `"part"`: true, `null`: true, `[]`: true,
	} {
		assert.Equal(t, unread, union.Unread(jsontext.Value(raw)), raw)
	}
}

func wholeResource(v *resource, body *Body) bool {
	for name, missing := range map[string]bool{
		"name": v.Name == "", "flag": !v.Flag, "count": v.Count == 0, "amount": v.Amount == (decimal.Decimal{}), "at": v.At.IsZero(), "tags": v.Tags == nil,
	} {
		if missing && !body.SaysZero(name) {
			return false
		}
	}
	if v.Part != nil && !wholePart(v.Part, nil) || v.Inline != (part{}) && !wholePart(&v.Inline, nil) {
		return false
	}
	union := Shape{Kind: KindUnion, By: "kind", Variants: map[string]*Shape{"part": &partShape}}
	return v.ID != "" && !slices.Contains(v.Tags, "") && !slices.ContainsFunc(v.Parts, func(p part) bool { return !wholePart(&p, nil) }) &&
		(v.Choice.variant != nil || v.Choice.raw == nil || !union.Unread(v.Choice.raw))
}

func wholePart(v *part, body *Body) bool { return v.ID != "" || body.SaysZero("id") }
