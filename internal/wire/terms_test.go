package wire

import (
	"hash/maphash"
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func TestSameTermsInAnotherSpelling(t *testing.T) {
	stated := []Term{
		{Name: "amount", Format: TermDecimal}, {Name: "contactId", Format: TermID("ct_")},
		{Name: "paymentReference", Format: TermText},
		{Name: "payee", Format: TermCaseless}, {Name: "holdFor", Format: TermDuration},
		{Name: "documentIds", Format: TermSet},
		{Name: "toChainId", Format: TermText}, {Name: "invoiceId", Format: TermCaseless, Choice: true},
	}
	seed := maphash.MakeSeed()
	for name, tc := range map[string]struct {
		before, now string
		differ      string // members that do
	}{
		"equal":                       {`{"amount":"12.5"}`, `{"amount":"12.5"}`, ""},
		"another amount":              {`{"amount":"12.5"}`, `{"amount":"12.51"}`, "amount"},
		"an amount in more digits":    {`{"amount":"12.5"}`, `{"amount":"+012.500"}`, ""},
		"an amount as a number":       {`{"amount":12.50}`, `{"amount":1.25e1}`, ""},
		"an amount that explodes":     {`{"amount":"1e999999999"}`, `{"amount":"1e999999998"}`, "amount"},
		"a long amount":               {`{"amount":"1e1000"}`, `{"amount":"10e999"}`, ""},
		"an amount that is too long":  {`{"amount":"1e1001"}`, `{"amount":"10e1000"}`, "amount"},
		"a small amount":              {`{"amount":"1e-1000"}`, `{"amount":"0.1e-999"}`, ""},
		"an amount that is too small": {`{"amount":"1e-1001"}`, `{"amount":"0.1e-1000"}`, "amount"},
		"no amount at all":            {`{"amount":"x"}`, `{"amount":"y"}`, "amount"},
		"another contact":             {`{"contactId":"ct_1"}`, `{"contactId":"ct_2"}`, "contactId"},
		"a contact without prefix":    {`{"contactId":"ct_1"}`, `{"contactId":"1"}`, ""},
		"a contact's letter case":     {`{"contactId":"ct_a"}`, `{"contactId":"ct_A"}`, "contactId"},
		"text that reads as a number": {`{"paymentReference":"12.5"}`, `{"paymentReference":"12.50"}`,
			"paymentReference"},
		"text in other letters":       {`{"paymentReference":"a"}`, `{"paymentReference":"A"}`, "paymentReference"},
		"text written otherwise":      {`{"paymentReference":"\u0061"}`, `{"paymentReference":"a"}`, ""},
		"an address's letter case":    {`{"payee":"0xAB"}`, `{"payee":"0xab"}`, ""},
		"another address":             {`{"payee":"0xAB"}`, `{"payee":"0xAC"}`, "payee"},
		"a duration in other units":   {`{"holdFor":"1h"}`, `{"holdFor":"60m"}`, ""},
		"a duration in seconds":       {`{"holdFor":"60s"}`, `{"holdFor":"1m"}`, ""},
		"a duration in days":          {`{"holdFor":"2d"}`, `{"holdFor":"48h"}`, ""},
		"a second":                    {`{"holdFor":"1s"}`, `{"holdFor":"01s"}`, ""},
		"no unit":                     {`{"holdFor":"1h"}`, `{"holdFor":"3600"}`, "holdFor"},
		"a second of another name":    {`{"holdFor":"5y"}`, `{"holdFor":"5s"}`, "holdFor"},
		"an unknown unit":             {`{"holdFor":"5y"}`, `{"holdFor":"6y"}`, "holdFor"},
		"no duration":                 {`{"holdFor":""}`, `{"holdFor":"1h"}`, ""},
		"another duration":            {`{"holdFor":"1h"}`, `{"holdFor":"1d"}`, "holdFor"},
		"what is not a duration":      {`{"holdFor":"soon"}`, `{"holdFor":"late"}`, "holdFor"},
		"a list in another order":     {`{"documentIds":["a","b"]}`, `{"documentIds":["b", "a"]}`, ""},
		"a list that runs together":   {`{"documentIds":["a","b"]}`, `{"documentIds":["ab"]}`, "documentIds"},
		"another list":                {`{"documentIds":["a","b"]}`, `{"documentIds":["a"]}`, "documentIds"},
		"a list that is as long":      {`{"documentIds":["a","b"]}`, `{"documentIds":["a","c"]}`, "documentIds"},
		"no list of texts":            {`{"documentIds":[1]}`, `{"documentIds":[2]}`, "documentIds"},
		"another chain":               {`{"toChainId":8453}`, `{"toChainId":1}`, "toChainId"},
		"members in another order":    {`{"amount":"1","payee":"a"}`, `{ "payee":"a", "amount":"1" }`, ""},
		"left to the service":         {`{"amount":"1"}`, `{"amount":"1","toChainId":8453}`, ""},
		"left to the service by null": {`{"toChainId":8453}`, `{"toChainId":null}`, ""},
		"something else is paid":      {`{"invoiceId":"a"}`, `{"quoteId":"b"}`, "invoiceId"},
		"a signature of its own":      {`{"amount":"1","signature":"a"}`, `{"amount":"1","signature":"b"}`, ""},
		"several": {`{"amount":"1","toChainId":1}`, `{"amount":"2","toChainId":2}`,
			"amount toChainId"},
		"no JSON": {`{`, `[1]`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			before, now := DigestsOf(seed, stated, []byte(tc.before)), DigestsOf(seed, stated, []byte(tc.now))
			assert.Equal(t, tc.differ, strings.Join(Differing(stated, before, now), " "))
			assert.Equal(t, tc.differ, strings.Join(Differing(stated, now, before), " "))
			for i, term := range stated { // each alone
				before, now := DigestsOf(seed, stated[i:i+1], []byte(tc.before)), DigestsOf(seed, stated[i:i+1],
					[]byte(tc.now))
				assert.Equal(t, slices.Contains(strings.Fields(tc.differ), term.Name),
					Differing(stated[i:i+1], before, now) != nil, term.Name)
			}
		})
	}
}

// Plain digits are written in the same way without package decimal.
func TestPlainAmountsAreWrittenAsPackageDecimalDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		digits := rapid.StringMatching(`[0-9]{1,8}(\.[0-9]{1,8})?`).Draw(t, "digits")
		assert.Equal(t, decimal.RequireFromString(digits).String(), string(TermDecimal(nil, []byte(digits))))
	})
}
