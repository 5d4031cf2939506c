package wire

import (
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/codec"
)

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
