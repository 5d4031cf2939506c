package sandbox_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Rule: resource.payout
func TestAPayoutCarriesWhatItWasBookedWith(t *testing.T) {
	p := newPayer(t)
	terms := object{
		"contactId": p.contact, "amount": "20", "currency": "USDC", "paymentReference": "Invoice 42",
		"purpose":     "goods",
		"documentIds": []any{"doc_1", "doc_2"}, "publicKey": base64Of(120), "signature": base64Of(96),
		"fromChainId": float64(8453), "toChainId": float64(8453),
	}
	booked := p.must(http.StatusCreated, "POST", "/payouts", terms, "Idempotency-Key", "invoice-42")
	read := p.must(http.StatusOK, "GET", "/payouts/"+booked.body.text("id"), nil)
	for name, value := range terms {
		assert.Equal(t, value, booked.body[name], name)
		assert.Equal(t, value, read.body[name], name)
	}
	for name, value := range map[string]any{
		"paymentReference": "Invoice 43", "purpose": "services", "documentIds": []any{"doc_2", "doc_1"},
		"publicKey": base64Of(124),
		"signature": base64Of(92), "toChainId": nil,
	} {
		other := object{}
		for name, value := range terms {
			other[name] = value
		}
		if other[name] = value; value == nil {
			delete(other, name)
		}
		got := p.call("POST", "/payouts", other, "Idempotency-Key", "invoice-42")
		refused(t, http.StatusConflict, "idempotency_key_reused", got)
	}
}

// Rule: resource.payin
func TestAPayinCarriesWhereItComesFromAndItsMaximum(t *testing.T) {
	p := newPayer(t)
	quoted := p.payin(object{"maxAmount": "60"})
	require.Equal(t, http.StatusCreated, quoted.status, "%s", quoted.raw)
	read := p.must(http.StatusOK, "GET", "/payins/"+quoted.body.text("id"), nil)
	for _, body := range []object{quoted.body, read.body} {
		assert.EqualValues(t, 1, body.at("originChainId"))
		assert.Equal(t, "60", body.text("maxAmount"))
	}
	below := p.payin(object{"maxAmount": "49.99"})
	assert.Equal(t, map[string]string{"maxAmount": "greater_than_equal"}, below.fields())
}

// Every resource, with everything that it can carry: amounts are decimal strings, and times are UTC.
// Rule: resource.decimals, resource.dates, resource.id-prefixes
func TestHowAmountsTimesAndIDsAreWritten(t *testing.T) {
	p := newPayer(t)
	p.verify()
	rail := p.activeRail("sepa", "EUR")
	booked, deal, quoted := p.book("invoice-42", "20.5"), p.deal("deal-1",
		object{"amount": "0.000001"}), p.payin(object{"maxAmount": "60"})
	answers := []reply{
		booked, deal, quoted, p.confirm(booked), p.act(deal, deal.action()),
		p.must(http.StatusOK, "GET", "/transactions", nil), p.must(http.StatusOK, "GET", "/sandbox/treasury", nil),
		p.must(http.StatusOK, "GET", "/clients/"+p.account, nil),
		p.call("POST", "/contacts", object{"email": "acme@example.com"}),
		p.call("POST", "/sandbox/deposits", object{"amount": "000.50", "currency": "EURC"}), p.challenge(p.email),
	}
	amounts := []string{"amount", "available", "sourceAmount", "destinationAmount", "rate", "fee", "maxAmount",
		"maxCredit", "gas"}
	written := map[string]int{}
	for _, answered := range answers {
		require.Less(t, answered.status, http.StatusMultipleChoices, "%s", answered.raw)
		eachMember(answered.body, func(name string, value any) {
			text, _ := value.(string)
			switch {
			case slices.Contains(amounts, name):
				written["amount"]++
				assert.Regexp(t, `^[+-]?(\d+\.?\d*|\.\d+)$`, text, name)
			case strings.HasSuffix(name, "At"), name == "approveBy", strings.HasSuffix(name, "Until"):
				written["time"]++
				_, err := time.Parse("2006-01-02T15:04:05.999999999Z", text)
				assert.NoError(t, err, name)
			}
		})
	}
	assert.Greater(t, written["amount"], 20)
	assert.Greater(t, written["time"], 20)

	for id, prefix := range map[string]string{
		p.account: "cl_", rail: "bnk_", p.contact: "ct_", booked.body.text("id"): "po_",
		p.host.Credentials().KeyID: "dk_",
	} {
		assert.Regexp(t, "^"+prefix+`[A-Za-z0-9._:\-]{1,216}$`, id)
	}
}

// eachMember visits the members of an object and of every object in it.
func eachMember(value any, visit func(name string, value any)) {
	switch value := value.(type) {
	case object:
		eachMember(map[string]any(value), visit)
	case map[string]any:
		for name, inner := range value {
			visit(name, inner)
			eachMember(inner, visit)
		}
	case []any:
		for _, item := range value {
			eachMember(item, visit)
		}
	}
}

// Rule: resource.partner-unnamed
func TestNoBankingPartnerIsNamed(t *testing.T) {
	p := newPayer(t)
	p.verify()
	for method, rail := range p.rails() {
		require.Equal(t, http.StatusCreated, p.openRail(method, rail.text("currency")).status, method)
	}
	p.host.Advance(time.Duration(p.host.Settings().RailActiveAfter))
	rails := p.rails()
	assert.Len(t, rails, 13)
	for method, rail := range rails {
		assert.Equal(t, "licensed banking partner",
			strings.ToLower(rail.text("virtualAccount", "requisites", "bankName")), method)
	}
}

// Rule: contact.linked-account
func TestAContactThatIsAnAccountIsLinkedToIt(t *testing.T) {
	p := newPayer(t)
	linked := p.must(http.StatusCreated, "POST", "/contacts", object{"name": "Acme", "email": "ACME@example.com"})
	id := linked.body.text("userId")
	assert.Regexp(t, `^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`, id)
	assert.Equal(t, id, linked.body.text("user", "id"))
	assert.Equal(t, id, p.as("").must(http.StatusCreated, "POST", "/contacts", object{"email": "acme@example.com"}).
		body.text("userId"), "of every account's contact")
	wallet := p.must(http.StatusOK, "PATCH", "/contacts/"+p.contact, object{"name": "Bob"})
	assert.Nil(t, wallet.body.at("userId"))
	assert.Nil(t, wallet.body.at("user"))
}
