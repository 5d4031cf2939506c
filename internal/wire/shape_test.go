package wire

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
)

// What could not be read of a response is not named where the response itself is none: its error says what is missing.
func TestRefusedResponseNamesNoMembers(t *testing.T) {
	for _, body := range []string{`{"name":{},"flag":{}}`, `{"name":{},"id":null}`, `{"name":{},"flag":{},"id":[]}`} {
		unread, err := read([]byte(body), &resource{}, &resourceShape)
		require.ErrorContains(t, err, "has no id", body)
		assert.Empty(t, unread, body)
	}
}

// More members can be made proofs, without a change of the shape itself.
func TestProvenBy(t *testing.T) {
	proven := resourceShape.ProvenBy("name", "comment")
	for i, m := range proven.Members {
		assert.Equal(t, m.Name == "id" || m.Name == "name" || m.Name == "comment", m.Proof, m.Name)
		assert.Equal(t, m.Name == "id", resourceShape.Members[i].Proof, m.Name)
	}
	for body, missing := range map[string]string{`{"id":"r_1","name":"Bob"}`: "comment",
		`{"id":"r_1","comment":"c"}`: "name", `{"name":"Bob","comment":"c"}`: "id"} {
		_, err := read([]byte(body), new(resource), proven)
		require.ErrorContains(t, err, "has no "+missing, body)
	}
	lacking := described()
	delete(lacking, "comment")
	_, err := read([]byte(object(lacking)), new(resource), proven)
	require.ErrorContains(t, err, "has no comment", "only that is missing")
	assert.False(t, (&Shape{Kind: KindObject}).provenBy(nil), "a shape that proves nothing is proven by nothing")
}

// A proof that is missing in a variant of a union is reported, and does not fail the read of the whole.
func TestMissingProofOfAVariantIsOnlyReported(t *testing.T) {
	members := described()
	members["choice"] = `{"kind":"part"}`
	unread, err := read([]byte(object(members)), new(resource), &resourceShape)
	require.NoError(t, err)
	require.Len(t, unread, 1)
	assert.Equal(t, moneymovement.Unread{Pointer: "/choice/id", Stated: true, Problem: "is missing"}, unread[0])
}

// The entries of a list stay apart, however short they are.
func TestShortEntriesStayApart(t *testing.T) {
	var got []int
	unread, err := read([]byte(`["7",8,null,9]`), &got, &Shape{Kind: KindList, Item: &Integer})
	require.NoError(t, err)
	assert.Equal(t, []int{7, 8, 9}, got)
	assert.Equal(t, []moneymovement.Unread{{Pointer: "/2", Problem: "is null"}}, unread)
}

// A variant of a later version is kept where the rest of a response is compared with its shape.
func TestAVariantOfALaterVersionIsKept(t *testing.T) {
	members := described()
	members["choice"] = `{"kind":"of a later version","x":1}`
	members["tags"] = `7`
	var got resource
	unread, err := read([]byte(object(members)), &got, &resourceShape)
	require.NoError(t, err)
	require.Len(t, unread, 1)
	assert.Equal(t, "/tags", unread[0].Pointer)
	assert.JSONEq(t, members["choice"], string(got.Choice.raw))
}

// null is refused where a resource is expected, even if the resource has no required member.
func TestNullIsNotAResponse(t *testing.T) {
	shape := Shape{Kind: KindObject, Members: []Member{{Name: "name", Shape: &Text, Type: Stated}}}
	_, err := read([]byte(` null`), new(struct{ Name string }), &shape)
	require.EqualError(t, err, "the response is null")
}
