package wire

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
)

// deal is a resource with its own id, which proves it, and the id of another one.
type deal struct {
	ID     string `json:"id"`
	Payout string `json:"payoutId"`
}

var answerDeal = Answer{Shape: &Shape{Kind: KindObject, Members: []Member{
	{Name: "id", Shape: &Shape{Kind: KindText, ID: &IDForm{}}, Type: Assumed, Required: Assumed, Proof: true},
	{Name: "payoutId", Shape: &Shape{Kind: KindText, ID: &IDForm{Prefix: "po_", Pattern: "^po_"}}, Type: Stated},
}, Must: 1, Fields: func(object any, name []byte) (int, any) {
	v := object.(*deal)
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
		var v deal
		unread, err := answerDeal.Decode(new(Reader), []byte(`{"id":"esc_1","payoutId":"`+id+`"}`), &v)
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
		_, err := answerDeal.Decode(new(Reader), []byte(`{"id":"`+id+`"}`), new(deal))
		assert.ErrorContains(t, err, "the response has no id: it is ", id)
	}
}
