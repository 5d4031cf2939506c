package wire

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
)

func TestListsAreBounded(t *testing.T) {
	answer, items := Answer{Shape: &listShape}, func(entry string, n int) string {
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
			_, err := answer.Decode(&Reader{Most: 100}, []byte(c.body), &value)
			if c.fits {
				require.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, "more than 100 items")
		})
	}
}

func TestMoreThanAskedIsReported(t *testing.T) {
	page := &Answer{Shape: &listShape}
	bare := &Answer{Shape: &Shape{Kind: KindList, Item: &Text}}
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
	assert.Nil(t, (&Answer{Shape: &Text}).TooMany([]byte(`["a","b"]`), 1))
}
