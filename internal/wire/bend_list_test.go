package wire

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type list struct {
	Items      []part `json:"items"`
	NextCursor string `json:"nextCursor,omitempty,omitzero"`
}

var listShape = complete(Shape{Kind: KindObject, Members: []Member{
	{Name: "items", Shape: &Shape{Kind: KindList, Item: &partShape}, Type: Assumed, Required: Assumed, Proof: true},
	{Name: "nextCursor", Shape: &Text, Type: Stated},
}, Fields: func(object any, name []byte) (int, any) {
	v := object.(*list)
	switch string(name) {
	case "items":
		return 0, List(&v.Items)
	case "nextCursor":
		return 1, &v.NextCursor
	}
	return -1, nil
}})

// The envelope of a list is assumed.
func TestAListIsFoundInAnotherEnvelope(t *testing.T) {
	two := []part{{ID: "p_1"}, {ID: "p_2"}}
	for body, want := range map[string]list{
		`{"items":[{"id":"p_1"},{"id":"p_2"}],"nextCursor":"c"}`:        {two, "c"},
		`[{"id":"p_1"},{"id":"p_2"}]`:                                   {two, ""},
		`{"data":[{"id":"p_1"},{"id":"p_2"}],"nextCursor":"c"}`:         {two, "c"},
		`{"results":[{"id":"p_1"},{"id":"p_2"}],"count":2}`:             {two, ""},
		`{"items":[{"id":"p_1"},"p_9",{"id":"p_2"}]}`:                   {two, ""},
		`{"items":[{"id":"p_1","size":"x"},{"id":"p_2"}]}`:              {two, ""},
		`{"data":[{"id":"p_1"},{"id":"p_2"}],"errors":[],"error":null}`: {two, ""},
		`{"items":null}`: {[]part{}, ""},
		`{"items":[]}`:   {[]part{}, ""},
		`[]`:             {[]part{}, ""},
	} {
		var got list
		_, err := read([]byte(body), &got, &listShape)
		require.NoError(t, err, body)
		assert.Equal(t, want, got, body)
	}
	for _, body := range []string{`{}`, `{"nextCursor":"c"}`, `{"a":[],"b":[]}`, `{"items":{}}`, `{"items":"none"}`,
		`{"data":{"items":[]}}`, `{"errors":[{"id":"p_1"}]}`, `{"data":[],"error":"no"}`} {
		_, err := read([]byte(body), &list{}, &listShape)
		require.ErrorContains(t, err, "has no items", body) // which must not read as an empty one
	}
}

func TestABareListIsFoundInAnEnvelope(t *testing.T) {
	shape := Shape{Kind: KindList, Item: &partShape}
	for body, want := range map[string][]part{
		`[{"id":"p_1"}]`: {{ID: "p_1"}}, `{"items":[{"id":"p_1"}],"total":1}`: {{ID: "p_1"}},
		`[7,{"id":"p_1","size":"2"}]`: {{"p_1", 2}}, `null`: nil,
	} {
		var got []part
		_, err := read([]byte(body), &got, &shape)
		require.NoError(t, err, body)
		assert.Equal(t, want, got, body)
	}
	_, err := read([]byte(`{"items":"none"}`), &[]part{}, &shape)
	require.EqualError(t, err, "the response is an object")
}

// An acknowledgement does not show a resource.
func TestAnAcknowledgementShowsNothing(t *testing.T) {
	for body, shows := range map[string]bool{
		`{"ok":true}`: false, `{}`: false, `[]`: false, `true`: false, `"ok"`: false, `null`: false,
		`{"id":"r_1"}`: true, `{"comment":null}`: true,
	} {
		assert.Equal(t, shows, resourceShape.Shows([]byte(body)), body)
	}
	assert.False(t, resourceShape.Shows([]byte(`["id","comment"]`)), "a list of names")
	assert.True(t, listShape.Shows([]byte(`[]`)))
	for _, body := range []string{`{}`, `[]`, `"ok"`} {
		assert.True(t, (&Shape{Kind: KindList, Item: &partShape}).Shows([]byte(body)),
			"%s: what is no object has no members to show", body)
	}
}
