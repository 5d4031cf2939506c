package recordings_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestWhatVariesIsNamedByFirstAppearance(t *testing.T) {
	start := time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	const (
		first, second = "MFRGGZDFMZTWQ2LKNNWG23TPOA", "ORSXG5DJNZTSAYLSMVQQ23TPOB"
		address       = "0x52908400098527886E0F7030069857D2E4169EE7"
		hash          = "0x3f1c2b4a5968778695a4b3c2d1e0f00112233445566778899aabbccddeeff001"
		uuid          = "c9a646d3-9c61-4cb7-bfcd-ee2522c8f633"
	)
	tests := map[string]struct{ sent, answered, want string }{
		"texts by their prefix": {
			"", `{"a":"po_` + first + `","b":"po_` + second + `","c":"ct_` + strings.ToLower(first) + `","d":"po_` +
				first + `","e":"` + first + `"}`,
			`{"a":"po_1","b":"po_2","c":"ct_1","d":"po_1","e":"random_1"}`,
		},
		"long texts": {"", `{"a":"at_` + first + second + `"}`, `{"a":"at_1"}`},
		"parts of a text": {
			"", `{"a":"/public/invoices/` + uuid + `","b":"card_` + uuid + `"}`,
			`{"a":"/public/invoices/00000000-0000-4000-8000-000000000001",` +
				`"b":"card_00000000-0000-4000-8000-000000000001"}`,
		},
		"hashes and addresses": {
			"", `{"a":"` + hash + `","b":"` + address + `"}`,
			`{"a":"0x` + strings.Repeat("0", 63) + `1","b":"0x` + strings.Repeat("0", 39) + `1"}`,
		},
		"what the example sent": {
			`{"to":"` + address + `","paidAt":"2025-12-24T09:00:00Z","due":"2026-05-09"}`,
			`{"to":"` + address + `","paidAt":"2025-12-24T09:00:00Z","due":"2026-05-09"}`,
			`{"to":"` + address + `","paidAt":"2025-12-24T09:00:00Z","due":"2026-05-09"}`,
		},
		"times and dates": {
			"", `{"a":"2026-05-06T07:08:09Z","b":"2026-05-06T07:10:09Z","c":"2026-05-06T07:08:08.5Z",` +
				`"d":"2026-05-06","e":"2026-05-13"}`,
			`{"a":"{{now}}","b":"{{now+2m0s}}","c":"{{now-500ms}}","d":"{{date now}}","e":"{{date now+168h0m0s}}"}`,
		},
		"the end that a login asks for": {
			`{"requestExpiry":"2026-05-06T07:10:41.852Z"}`, `{"expiresAt":"2026-05-06T07:10:41.852Z"}`,
			`{"expiresAt":"{{now+2m30s}}"}`,
		},
		"what a key signs": {
			"", `{"payload":"` +
				base64.StdEncoding.EncodeToString([]byte(`{"expiresAt":"2026-05-06T07:10:09Z","nonce":"`+first+`"}`)) +
				`"}`,
			`{"payload":{"{{base64}}":{"expiresAt":"{{now+2m0s}}","nonce":"random_1"}}}`,
		},
		"a cursor, also as it is sent": {
			"", `{"nextCursor":"tBRlq35SNFyDPcvZh9TDOjI","next":"/list?cursor=tBRlq35SNFyDPcvZh9TDOjI"}`,
			`{"nextCursor":"nextCursor_1","next":"/list?cursor=nextCursor_1"}`,
		},
		"a card": {
			"", `{"cardNumber":"9999994321051847","lastFour":"1847","cvv":"632","expiryDate":"11/29"}`,
			`{"cardNumber":"9999990000000006","lastFour":"0006","cvv":"000","expiryDate":"12/99"}`,
		},
		"the number of a bank account": {"", `{"iban":"DE57470630083147672628"}`, `{"iban":"DE89370400440532013000"}`},
		"what always is the same": {
			"", `{"amount":"25.10","count":3,"iban":"DE89370400440532013000","none":null,"currency":"USDC","on":true,` +
				`"number":"INV-0001"}`,
			`{"amount":"25.10","count":3,"iban":"DE89370400440532013000","none":null,"currency":"USDC","on":true,` +
				`"number":"INV-0001"}`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			n := newNames(start)
			n.request(t, []byte(test.sent))
			assert.Equal(t, test.want, string(n.answer(t, []byte(test.answered))))
		})
	}
}

func TestWhatAnExampleSendsIsKeptButForWhatDiffers(t *testing.T) {
	n := newNames(time.Now())
	n.answer(t, []byte(`{"id":"po_MFRGGZDFMZTWQ2LKNNWG23TPOA"}`))
	assert.JSONEq(t, `{"approvalId":"po_1","nonce":"{{any}}","signature":"{{any}}","amount":"25"}`,
		string(n.request(t,
			[]byte(`{"approvalId":"po_MFRGGZDFMZTWQ2LKNNWG23TPOA","nonce":17,"signature":"x","amount":"25"}`))))
	assert.Nil(t, n.request(t, []byte("a form")))
	assert.Nil(t, n.request(t, nil))
	assert.Equal(t, "/payouts/po_1", n.sent("/payouts/po_MFRGGZDFMZTWQ2LKNNWG23TPOA"))
}

func TestTheFirstDifferenceIsShown(t *testing.T) {
	assert.Empty(t, firstDifference("a\nb\n", "a\nb\n"))
	assert.Equal(t, "  a\n- b\n- c\n+ x\n+ c\n", firstDifference("a\nb\nc", "a\nx\nc"))
	assert.Equal(t, "  a\n+ b\n", firstDifference("a", "a\nb"))
	assert.Equal(t, "- a\n+ \n", firstDifference("a", ""))
}
