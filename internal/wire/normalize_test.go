package wire

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/codec"
)

// resource has a member of each kind, some stated and some assumed.
type resource struct {
	ID      string                 `json:"id"`
	Name    string                 `json:"name"`
	Flag    bool                   `json:"flag"`
	Count   int                    `json:"count"`
	Long    int64                  `json:"long,omitempty,omitzero"`
	Amount  decimal.Decimal        `json:"amount"`
	At      time.Time              `json:"at"`
	Blob    []byte                 `json:"blob,omitempty,omitzero"`
	Tags    []string               `json:"tags"`
	Part    *part                  `json:"part,omitempty"`
	Inline  part                   `json:"inline,omitempty,omitzero"`
	Parts   []part                 `json:"parts,omitempty,omitzero"`
	Choice  choice                 `json:"choice,omitempty,omitzero"`
	Open    map[string]codec.Value `json:"open,omitempty,omitzero"`
	Comment string                 `json:"comment,omitempty,omitzero"`
}

type part struct {
	ID   string `json:"id"`
	Size int    `json:"size"`
}

// choice is a union like the generated ones.
type choice struct {
	variant any
	raw     codec.Value
}

func (c *choice) UnmarshalJSONFrom(dec *codec.Decoder) error {
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	*c = choice{raw: raw.Clone()}
	var known struct {
		Kind string `json:"kind"`
		part
	}
	if codec.Unmarshal(raw, &known) == nil && known.Kind == "part" {
		c.variant = known.part
	}
	return nil
}

// complete sets what the generator writes for the members of an object.
func complete(s Shape) Shape {
	for i, m := range s.Members {
		if m.Required != 0 || m.Proof {
			s.Must |= 1 << i
		}
		s.Defaults = s.Defaults || m.Default != ""
	}
	return s
}

var partShape = complete(Shape{Kind: KindObject, Members: []Member{
	{Name: "id", Shape: &Text, Type: Stated, Required: Stated, Proof: true},
	{Name: "size", Shape: &Integer, Type: Assumed},
}, Fields: fieldOfPart})

func fieldOfPart(object any, name []byte) (int, any) {
	v := object.(*part)
	switch string(name) {
	case "id":
		return 0, &v.ID
	case "size":
		return 1, &v.Size
	}
	return -1, nil
}

var resourceShape = complete(Shape{Kind: KindObject, Members: []Member{
	{Name: "id", Shape: &Text, Type: Stated, Required: Stated, Proof: true},
	{Name: "name", Shape: &Text, Type: Stated, Required: Stated},
	{Name: "flag", Shape: &Boolean, Type: Assumed, Required: Assumed},
	{Name: "count", Shape: &Integer, Type: Stated, Required: Assumed},
	{Name: "long", Shape: &Integer64, Type: Assumed},
	{Name: "amount", Shape: &Amount, Type: Assumed, Required: Assumed},
	{Name: "at", Shape: &Time, Type: Assumed, Required: Assumed, Nullable: true},
	{Name: "blob", Shape: &Bytes, Type: Assumed},
	{Name: "tags", Shape: &Shape{Kind: KindList, Item: &Text}, Type: Assumed, Required: Assumed},
	{Name: "part", Shape: &partShape, Type: Assumed},
	{Name: "inline", Shape: &partShape, Type: Assumed},
	{Name: "parts", Shape: &Shape{Kind: KindList, Item: &partShape}, Type: Stated},
	{Name: "choice", Shape: &Shape{Kind: KindUnion, By: "kind", Selects: Assumed,
		Variants: map[string]*Shape{"part": &partShape}, Kept: keptChoice}, Type: Assumed},
	{Name: "open", Shape: &Open, Type: Assumed},
	{Name: "comment", Shape: &Text, Type: Stated},
}, Fields: fieldOfResource})

func keptChoice(union any) []byte {
	v := union.(*choice)
	if v.variant != nil {
		return nil
	}
	return v.raw
}

func fieldOfResource(object any, name []byte) (int, any) {
	v := object.(*resource)
	fields := []any{&v.ID, &v.Name, &v.Flag, &v.Count, &v.Long, &v.Amount, &v.At, &v.Blob, List(&v.Tags),
		Optional(&v.Part), &v.Inline, List(&v.Parts), &v.Choice, &v.Open, &v.Comment}
	for i := range resourceMembers {
		if resourceMembers[i] == string(name) {
			return i, fields[i]
		}
	}
	return -1, nil
}

var resourceMembers = []string{"id", "name", "flag", "count", "long", "amount", "at", "blob", "tags", "part", "inline",
	"parts", "choice", "open", "comment"}

// described is a resource that fits its shape.
func described() map[string]string {
	return map[string]string{
		"id": `"r_1"`, "name": `"Bob"`, "flag": `true`, "count": `7`, "long": `8453`, "amount": `"1.50"`,
		"at":   `"2026-01-02T03:04:05Z"`,
		"blob": `"YQ=="`, "tags": `["a"]`, "part": `{"id":"p_1","size":2}`, "inline": `{"id":"p_2","size":3}`,
		"parts": `[{"id":"p_3"},{"id":"p_4","size":4}]`, "choice": `{"kind":"part","id":"p_5"}`, "open": `{"a":1}`,
		"comment": `"c"`,
	}
}

func object(members map[string]string) string {
	var b strings.Builder
	for _, m := range resourceShape.Members {
		if value, ok := members[m.Name]; ok {
			fmt.Fprintf(&b, ",%q:%s", m.Name, value)
		}
	}
	return "{" + strings.TrimPrefix(b.String(), ",") + "}"
}

func decode(t *testing.T, body string) (resource, []moneymovement.Unread) {
	t.Helper()
	var value resource
	unread, err := read([]byte(body), &value, &resourceShape)
	require.NoError(t, err, body)
	return value, unread
}

// Whatever one member holds, the other members are read, and only a member that cannot be read is named.
func TestOneMemberThatDiffers(t *testing.T) {
	whole, unread := decode(t, object(described()))
	require.Empty(t, unread)
	const absent = ""
	for _, test := range []struct {
		member, is string
		pointer    string // that is named, "" for none
		stated     bool
		want       func(*resource)
	}{
		{"name", absent, "/name", true, func(r *resource) { r.Name = "" }},
		{"name", `null`, "/name", true, func(r *resource) { r.Name = "" }},
		{"name", `{}`, "/name", true, func(r *resource) { r.Name = "" }},
		{"name", `["a"]`, "/name", true, func(r *resource) { r.Name = "" }},
		{"name", `true`, "/name", true, func(r *resource) { r.Name = "" }},
		{"name", `12.50`, "", false, func(r *resource) { r.Name = "12.50" }},
		{"name", `""`, "", false, func(r *resource) { r.Name = "" }},
		{"comment", absent, "", false, func(r *resource) { r.Comment = "" }},
		{"comment", `null`, "", false, func(r *resource) { r.Comment = "" }},
		{"comment", `{}`, "/comment", true, func(r *resource) { r.Comment = "" }},
		{"flag", `false`, "", false, func(r *resource) { r.Flag = false }},
		{"flag", absent, "/flag", false, func(r *resource) { r.Flag = false }},
		{"flag", `null`, "/flag", false, func(r *resource) { r.Flag = false }},
		{"flag", `"true"`, "", false, func(*resource) {}},
		{"flag", `"yes"`, "/flag", false, func(r *resource) { r.Flag = false }},
		{"flag", `1`, "/flag", false, func(r *resource) { r.Flag = false }},
		{"count", `0`, "", false, func(r *resource) { r.Count = 0 }},
		{"count", `"7"`, "", false, func(*resource) {}},
		{"count", `7.0`, "", false, func(*resource) {}},
		{"count", `7.5`, "/count", true, func(r *resource) { r.Count = 0 }},
		{"count", `1e400`, "/count", true, func(r *resource) { r.Count = 0 }},
		{"count", absent, "/count", false, func(r *resource) { r.Count = 0 }}, // that it is there is assumed
		{"long", `"8453"`, "", false, func(*resource) {}},
		{"long", `99999999999999999999`, "/long", false, func(r *resource) { r.Long = 0 }},
		{"amount", `1.50`, "", false, func(*resource) {}},
		{"amount", `"0"`, "", false, func(r *resource) { r.Amount = decimal.RequireFromString("0") }},
		{"amount", absent, "/amount", false, func(r *resource) { r.Amount = decimal.Decimal{} }},
		{"amount", `{"value":"1"}`, "/amount", false, func(r *resource) { r.Amount = decimal.Decimal{} }},
		{"amount", `"1e999999999"`, "/amount", false, func(r *resource) { r.Amount = decimal.Decimal{} }},
		{"at", `null`, "", false, func(r *resource) { r.At = time.Time{} }}, // which is described
		{"at", absent, "/at", false, func(r *resource) { r.At = time.Time{} }},
		{"at", `"2026-01-02 03:04:05"`, "", false, func(*resource) {}},
		{"at", `1767323045`, "/at", false, func(r *resource) { r.At = time.Time{} }},
		{"at", `"soon"`, "/at", false, func(r *resource) { r.At = time.Time{} }},
		{"blob", `"YQ"`, "", false, func(*resource) {}},
		{"blob", `"_-8"`, "", false, func(r *resource) { r.Blob = []byte{0xff, 0xef} }},
		{"blob", `"a b"`, "/blob", false, func(r *resource) { r.Blob = nil }},
		{"tags", `null`, "", false, func(r *resource) { r.Tags = []string{} }},
		{"tags", `[]`, "", false, func(r *resource) { r.Tags = []string{} }},
		{"tags", absent, "/tags", false, func(r *resource) { r.Tags = nil }},
		{"tags", `"a"`, "/tags", false, func(r *resource) { r.Tags = nil }},
		{"tags", `["a",null]`, "/tags/1", false, func(*resource) {}},
		{"tags", `["a",""]`, "", false, func(r *resource) { r.Tags = []string{"a", ""} }},
		{"tags", `["a",{},null,"b",3]`, "/tags/1 /tags/2", false, func(r *resource) {
			r.Tags = []string{"a", "b", "3"}
		}},
		{"part", `"p_1"`, "/part", false, func(r *resource) { r.Part = nil }},
		{"part", `null`, "", false, func(r *resource) { r.Part = nil }},
		{"part", `{"id":"p_1","size":{}}`, "/part/size", false, func(r *resource) { r.Part.Size = 0 }},
		{"part", `{"size":2}`, "/part/id", true, func(r *resource) { r.Part.ID = "" }}, // no proof of the whole
		{"inline", `[]`, "/inline", false, func(r *resource) { r.Inline = part{} }},
		{"inline", absent, "", false, func(r *resource) { r.Inline = part{} }},
		{"parts", `[{"id":"p_3"},7,{"id":"p_4","size":"4"}]`, "/parts/1", true, func(*resource) {}},
		{"parts", `[{"id":"p_3"},{"size":4}]`, "/parts/1/id", true, func(r *resource) { r.Parts[1].ID = "" }},
		{"choice", `{"kind":"part","id":"p_5","size":[]}`, "/choice/size", false, func(*resource) {}},
		{"open", `[]`, "/open", false, func(r *resource) { r.Open = nil }},
	} {
		t.Run(test.member+" is "+test.is, func(t *testing.T) {
			members := described()
			if members[test.member] = test.is; test.is == absent {
				delete(members, test.member)
			}
			got, unread := decode(t, object(members))
			want, _ := decode(t, object(described()))
			test.want(&want)
			want.Choice.raw, got.Choice.raw = nil, nil
			assert.Equal(t, want, got)
			var pointers []string
			for _, u := range unread {
				pointers = append(pointers, u.Pointer)
				assert.Equal(t, test.stated, u.Stated, u.Pointer)
				assert.NotEmpty(t, u.Problem)
			}
			assert.Equal(t, test.pointer, strings.Join(pointers, " "))
		})
	}
	assert.Equal(t, part{ID: "p_5"}, whole.Choice.variant)
}

// An unknown variant of a union is kept, and is not named. A value that names no variant is kept, and is named.
func TestAVariantThatIsNotKnown(t *testing.T) {
	for value, named := range map[string]string{
		`{"kind":"of a later version","id":7}`: "", `{"id":7}`: "/choice/kind is missing",
		`{"kind":7}`:    "/choice/kind is a number",
		`{"kind":null}`: "/choice/kind is null", `"text"`: "/choice is a string", `[]`: "/choice is an array",
	} {
		members := described()
		members["choice"] = value
		got, unread := decode(t, object(members))
		if named == "" {
			assert.Empty(t, unread, value)
		} else if assert.Len(t, unread, 1, value) {
			assert.Equal(t, named, unread[0].Pointer+" "+unread[0].Problem)
		}
		assert.Nil(t, got.Choice.variant)
		assert.Equal(t, value, string(got.Choice.raw))
	}
}

func TestResponseWithoutItsProofIsRefused(t *testing.T) {
	for body, problem := range map[string]string{
		`{}`:                       "the response has no id",
		`{"name":"Bob"}`:           "the response has no id",
		`{"id":null}`:              "the response has no id: it is null",
		`{"id":""}`:                "the response has no id: it is empty",
		`{"id":{}}`:                "the response has no id: it is an object",
		`{"id":[]}`:                "the response has no id: it is an array",
		`[]`:                       "the response is an array",
		`"r_1"`:                    "the response is a string",
		`7`:                        "the response is a number",
		`true`:                     "the response is a boolean",
		`null`:                     "the response is null",
		`{"id":"r_1"`:              "the response is not valid JSON",
		`{"id":"r_1"} {}`:          "the response is not valid JSON",
		`{"id":"r_1","new":[{]}`:   "the response is not valid JSON",
		`{"id":"r_1","id":"r_2"}`:  "the response is not valid JSON",
		"{\"id\":\"\xff\"}":        "the response has no id: it is null; /id is text that JSON does not allow",
		`{"id":"\x"}`:              "the response is not valid JSON",
		`{"name":1,"n":{"a":,}}`:   "the response is not valid JSON",
		`{"n":{"a":1,"a":2}}`:      "the response is not valid JSON",
		`{"id":7,"n":{"a":1,"a":}`: "the response is not valid JSON",
	} {
		var value resource
		unread, err := read([]byte(body), &value, &resourceShape)
		require.ErrorContains(t, err, problem, body)
		assert.Empty(t, unread, body)
	}
}

// A proof that is an object must not be empty, and must have its own proof.
func TestAProofThatIsAnObject(t *testing.T) {
	type instructions struct {
		Part part `json:"part"`
	}
	shape := Shape{Kind: KindObject,
		Members: []Member{{Name: "part", Shape: &partShape, Type: Stated, Required: Stated, Proof: true}}}
	for body, problem := range map[string]string{
		`{"part":{"id":"p_1"}}`: "", `{"part":{"id":"p_1","size":"7"}}`: "",
		`{"id":"p_1"}`:       "", // the part itself
		`{"part":{}}`:        "the response has no part: it has no id",
		`{"part":null}`:      "the response has no part: it is null",
		`{"part":"p_1"}`:     "the response has no part: it is a string",
		`{"other":{}}`:       "the response has no part",
		`{"size":7}`:         "the response has no part",
		`{"part":{"id":""}}`: "the response has no part: it has no id: it is empty",
	} {
		var value instructions
		_, err := read([]byte(body), &value, &shape)
		if problem != "" {
			require.EqualError(t, err, problem, body)
			continue
		}
		require.NoError(t, err, body)
		assert.Equal(t, "p_1", value.Part.ID)
	}
}

// Whatever the JSON is, Decode reports each failure and never panics, and the decoded value is what the response says.
func TestAnyResponseIsRead(t *testing.T) {
	names := []string{"new"}
	for _, m := range resourceShape.Members {
		names = append(names, m.Name)
	}
	var value *rapid.Generator[string]
	value = rapid.Deferred(func() *rapid.Generator[string] {
		return rapid.OneOf(
			rapid.SampledFrom([]string{`null`, `true`, `false`, `0`, `-1`, `7`, `1.5`, `1e999`, `""`, `"x"`, `"7"`,
				`"true"`, `"YQ"`, `"2026-01-02T03:04Z"`}),
			rapid.Custom(func(t *rapid.T) string {
				return "[" + strings.Join(rapid.SliceOfN(value, 0, 3).Draw(t, "entries"), ",") + "]"
			}),
			rapid.Custom(func(t *rapid.T) string {
				var members []string
				for name, v := range rapid.MapOfN(rapid.SampledFrom(names), value, 0, 4).Draw(t, "members") {
					members = append(members, fmt.Sprintf("%q:%s", name, v))
				}
				return "{" + strings.Join(members, ",") + "}"
			}),
		)
	})
	rapid.Check(t, func(t *rapid.T) {
		members := map[string]string{"id": `"r_1"`}
		for name, v := range rapid.MapOfN(rapid.SampledFrom(names[2:]), value, 0, 8).Draw(t, "members") {
			members[name] = v
		}
		body := object(members)
		var got resource
		unread, err := read([]byte(body), &got, &resourceShape)
		require.NoError(t, err, body)
		assert.Equal(t, "r_1", got.ID)
		for _, m := range resourceShape.Members {
			_, given := members[m.Name]
			if !given && m.Required != 0 {
				assert.True(t, pointersOf(unread)["/"+m.Name], "%s is missing in %s", m.Name, body)
			}
		}
		other := value.Draw(t, "other")
		_, _ = read([]byte(other), &resource{}, &resourceShape)
		_, _ = read([]byte(other), &list{}, &listShape)
	})
}

func pointersOf(unread []moneymovement.Unread) map[string]bool {
	named := map[string]bool{}
	for _, u := range unread {
		named[u.Pointer] = true
	}
	return named
}

// read is Decode with a new Reader.
func read(body []byte, value any, shape *Shape) ([]moneymovement.Unread, error) {
	response := Response{Shape: shape}
	if _, bare := value.(*[]part); bare {
		response.Field = func(value any) any { return List(value.(*[]part)) }
	}
	return response.Decode(new(Reader), body, value)
}

func TestUnreadMembersAreBounded(t *testing.T) {
	var value list
	unread, err := read([]byte(`{"items":[`+strings.Repeat("7,", 9_999)+`{"id":"p_1"}]}`), &value, &listShape)
	require.NoError(t, err)
	assert.Len(t, unread, 1000)
	assert.Equal(t, []part{{ID: "p_1"}}, value.Items)
}

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
func TestAcknowledgementHasNoResource(t *testing.T) {
	for body, shows := range map[string]bool{
		`{"ok":true}`: false, `{}`: false, `[]`: false, `true`: false, `"ok"`: false, `null`: false,
		`{"id":"r_1"}`: true, `{"comment":null}`: true,
	} {
		assert.Equal(t, shows, resourceShape.HasResource([]byte(body)), body)
	}
	assert.False(t, resourceShape.HasResource([]byte(`["id","comment"]`)), "a list of names")
	assert.True(t, listShape.HasResource([]byte(`[]`)))
	for _, body := range []string{`{}`, `[]`, `"ok"`} {
		assert.True(t, (&Shape{Kind: KindList, Item: &partShape}).HasResource([]byte(body)),
			"%s: what is not an object has no members to show", body)
	}
}
