package wire

import (
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/codec"
)

func TestListsAreBounded(t *testing.T) {
	response, items := Response{Shape: &listShape}, func(entry string, n int) string {
		return strings.TrimSuffix(strings.Repeat(entry+",", n), ",")
	}
	page := func(entries string) string { return `{"items":[` + entries + `]}` }
	for name, c := range map[string]struct {
		body string
		fits bool
	}{
		"as many as there may be":       {page(items(`{"id":"p_1"}`, 100)), true},
		"one more":                      {page(items(`{"id":"p_1"}`, 101)), false},
		"one more that cannot be read":  {page(items(`7`, 101)), false},
		"a bare list":                   {`[` + items(`{"id":"p_1"}`, 101) + `]`, false},
		"in another envelope":           {`{"data":[` + items(`{"id":"p_1"}`, 101) + `]}`, false},
		"commas in a text":              {page(`{"id":"` + items(`,`, 500) + `"}`), true},
		"quotes in a text":              {page(`{"id":"\"` + items(`,`, 500) + `"}`), true},
		"a member that is not known":    {`{"items":[],"more":[` + items(`7`, 500) + `]}`, true},
		"in the place of an object":     {page(`[` + items(`7`, 101) + `]`), false},
		"in the place of a text":        {page(`{"id":[` + items(`7`, 101) + `]}`), false},
		"an object of too many members": {page(`[{` + items(`"a":1`, 101) + `}]`), false},
		"many lists":                    {page(items(`[`+items(`7000`, 99)+`]`, 99)), false},
		"not JSON":                      {page(items(`{}`, 101))[:311], false},
	} {
		t.Run(name, func(t *testing.T) {
			var value list
			_, err := response.Decode(&Reader{Most: 100}, []byte(c.body), &value)
			if c.fits {
				require.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, "more than 100 items")
		})
	}
}

func TestMoreThanAskedIsReported(t *testing.T) {
	page := &Response{Shape: &listShape}
	bare := &Response{Shape: &Shape{Kind: KindList, Item: &Text}}
	for body, want := range map[string][]moneymovement.Unread{
		`{"items":[7,7,7]}`: {{Pointer: "/items", Stated: true, Problem: "has 3 entries, but 2 were asked for"}},
		`{"data":[7,7,7]}`:  {{Pointer: "/items", Stated: true, Problem: "has 3 entries, but 2 were asked for"}},
		`{"items":[7,7]}`:   nil,
		`{"items":7}`:       nil,
	} {
		assert.Equal(t, want, page.TooMany([]byte(body), 2), body)
	}
	assert.Equal(t, []moneymovement.Unread{{Stated: true, Problem: "has 2 entries, but 1 were asked for"}},
		bare.TooMany([]byte(`["a","b"]`), 1))
	assert.Nil(t, (&Response{Shape: &Text}).TooMany([]byte(`["a","b"]`), 1))
}

func TestTheEntriesOfAListAsTheyCame(t *testing.T) {
	bare := Shape{Kind: KindList, Item: &partShape}
	for _, test := range []struct {
		body  string
		shape *Shape
		want  string
	}{
		{`{"items":[{"id":"p_1"},7,null,{"size":"x"}],"nextCursor":7}`, &listShape,
			`{"id":"p_1"} -7 -null {"size":"x"}`},
		{` {"\u0069tems" : [ "p_1" ] } `, &listShape, `-"p_1"`},
		{`[[],{"id":7}]`, &listShape, `-[] {"id":7}`},
		{`{"data":[7]}`, &listShape, `-7`},
		{`{"items":[7]}`, &bare, `-7`},
		{`[7]`, &bare, `-7`},
		{`{"items":[]}`, &listShape, ``},
		{`{"items":null}`, &listShape, ``},
		{`null`, &bare, ``},
		{`{}`, &listShape, ``},
		{`{"parts":[7]}`, &resourceShape, ``},
		{`[7]`, &resourceShape, ``},
		{`[` + strings.Repeat("7,", 3*maxUnread) + `7]`, &bare,
			strings.TrimSpace(strings.Repeat("-7 ", 3*maxUnread+1))},
	} {
		response := Response{Shape: test.shape}
		var got []string
		for _, entry := range response.Entries([]byte(test.body)) {
			if entry.Read {
				got = append(got, string(entry.Raw))
			} else {
				got = append(got, "-"+string(entry.Raw))
			}
		}
		assert.Equal(t, test.want, strings.Join(got, " "), test.body)
	}
}

// Text that JSON does not allow costs the response no more than the text.
func TestTextThatJSONDoesNotAllow(t *testing.T) {
	for name, damaged := range map[string]string{
		"half a surrogate pair": `"Bob \ud83d"`, "the other half": `"\ude00 Bob"`, "not UTF-8": "\"Bo\xff\"",
		"a tab": "\"Bo\tb\"", "a line end": "\"Bo\nb\"", "escapes, too": "\"\\\"\\\\ \\u00e9\xc3\"",
	} {
		for _, test := range []struct {
			member, is string
			pointer    string
			want       func(*resource)
		}{
			{"name", damaged, "/name", func(r *resource) { r.Name = "" }},
			{"comment", damaged, "/comment", func(r *resource) { r.Comment = "" }},
			{"amount", damaged, "/amount", func(r *resource) { r.Amount = decimal.Decimal{} }},
			{"at", damaged, "/at", func(r *resource) { r.At = time.Time{} }},
			{"tags", `["a",` + damaged + `,"b"]`, "/tags/1", func(r *resource) { r.Tags = []string{"a", "b"} }},
			{"parts", `[{"id":"p_3"},{"id":` + damaged + `,"size":4}]`, "/parts/1/id", func(r *resource) {
				r.Parts[1].ID = ""
			}},
			{"parts", `[{"id":"p_3"},` + damaged + `,{"id":"p_4","size":4}]`, "/parts/1", func(*resource) {}},
			{"choice", `{"kind":"part","id":` + damaged + `}`, "/choice/id", func(*resource) {}},
			{"choice", `{"kind":` + damaged + `,"id":"p_5"}`, "/choice/kind", func(r *resource) { r.Choice.variant = nil }},
			{"open", `{"a":1,"b":` + damaged + `}`, "/open/b", func(r *resource) { r.Open["b"] = codec.Value("null") }},
			{"open", `{"a":1,` + damaged + `:2}`, "/open/", nil},
			{"unknown", damaged, "/unknown", func(*resource) {}},
			{"unknown", `{` + damaged + `:1}`, "/unknown/", func(*resource) {}},
		} {
			t.Run(test.member+" with "+name, func(t *testing.T) {
				members := described()
				members[test.member] = test.is
				body := object(members)
				if test.member == "unknown" {
					body = body[:len(body)-1] + `,"unknown":` + test.is + "}"
				}
				got, unread := decode(t, body)
				var named []string
				for _, u := range unread {
					named = append(named, u.Pointer)
					assert.True(t, u.Stated, "that the service sends JSON is stated")
					assert.Contains(t, u.Problem, "JSON does not allow")
				}
				if strings.HasSuffix(test.pointer, "/") { // and the name follows, with U+FFFD in it
					require.Len(t, named, 1)
					assert.True(t, strings.HasPrefix(named[0], test.pointer), named)
				} else {
					assert.Equal(t, test.pointer, strings.Join(named, " "))
				}
				if test.want == nil {
					return
				}
				want, _ := decode(t, object(described()))
				test.want(&want)
				want.Choice.raw, got.Choice.raw = nil, nil
				if test.pointer == "/choice/id" {
					want.Choice.variant = part{}
				}
				assert.Equal(t, want, got)
			})
		}
		t.Run("a proof with "+name, func(t *testing.T) {
			members := described()
			members["id"] = damaged
			_, err := read([]byte(object(members)), new(resource), &resourceShape)
			require.ErrorContains(t, err, "/id is text that JSON does not allow")
			assert.NotContains(t, err.Error(), "Bo")
		})
	}
}
