package wire

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

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
		answer := Answer{Shape: test.shape}
		var got []string
		for _, entry := range answer.Entries([]byte(test.body)) {
			if entry.Read {
				got = append(got, string(entry.Raw))
			} else {
				got = append(got, "-"+string(entry.Raw))
			}
		}
		assert.Equal(t, test.want, strings.Join(got, " "), test.body)
	}
}
