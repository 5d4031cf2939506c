package wire

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/internal/jsonv2"
)

// The body says whether a zero field is zero in the response, so that a response as described is decoded once.
func TestABodySaysWhatIsZero(t *testing.T) {
	b := NewBody([]byte(`{ "a" : false,"b":null,"c":{"d":0,"e":"}"},"f\"":1,` +
		`"g": "", "items":[{"n":0,"m":null},{"n":0,"x":{"m":1}}],"z":0}`))
	for name, says := range map[string]bool{"a": true, "b": false, "c": true, "d": false, "e": false, "g": true,
		"items": true, "n": false, "z": true, "y": false} {
		assert.Equal(t, says, b.SaysZero(name), name)
	}
	two, three := b.Entries(2), b.Entries(3)
	for range 2 { // what was counted is kept
		assert.True(t, two.SaysZero("n"))
		assert.False(t, three.SaysZero("n"))
		assert.False(t, two.SaysZero("m"))
	}
	quoted := NewBody([]byte(`{"items":[{"xn":0},{"n":0}]}`))
	both := quoted.Entries(2)
	assert.False(t, both.SaysZero("n"), "another name that ends alike")
	longer := NewBody([]byte(`{"items":[{"nx":1},{"n":0}]}`))
	begins := longer.Entries(2)
	assert.False(t, begins.SaysZero("n"), "another name that begins alike")
	ends := NewBody([]byte(`{"items":[{"xn":null,"n":0}]}`))
	one := ends.Entries(1)
	assert.True(t, one.SaysZero("n"), "a null of another name that ends alike")
	word := NewBody([]byte(`{"items":["n","n"],"n":1,"last":"n"}`))
	assert.True(t, word.SaysZero("n"), "a text that reads as a name is none")
	alone := NewBody([]byte(`{"list":["n"],"last":"n"}`))
	assert.False(t, alone.SaysZero("n"))
	single := b.Entries(1)
	deeper := single.Entries(1)
	assert.False(t, deeper.SaysZero("n"), "of lists in lists nothing is known")
	deep, none := two.Entries(1), (*Body)(nil).Entries(1)
	assert.False(t, deep.SaysZero("n"))
	assert.False(t, none.SaysZero("n"))
	assert.False(t, (*Body)(nil).SaysZero("n"))
}

func TestAUnionIsUnreadIfItNamesWhatIsKnown(t *testing.T) {
	union := Shape{Kind: KindUnion, By: "kind", Variants: map[string]*Shape{"part": &partShape}}
	for raw, unread := range map[string]bool{
		`{"kind":"part","id":[]}`: true, `{"kind":"of a later version"}`: false, `{"kind":7}`: true, `{}`: true,
		`"part"`: true, `null`: true, `[]`: true,
	} {
		assert.Equal(t, unread, union.Unread(jsonv2.Value(raw)), raw)
	}
}
