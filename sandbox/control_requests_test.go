package sandbox_test

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// The controls advise what the SDK's errors advise, which know the details of a refusal.
func TestTheAdviceOfTheControlsKnowsTheDetails(t *testing.T) {
	p := newPayer(t, sandbox.WithControl())
	booked := p.book("too-much", "500")
	refused(t, http.StatusConflict, "payout_not_fundable", p.confirm(booked))
	refused(t, http.StatusNotFound, "not_found", p.call("GET", "/payouts/po_1", nil))
	want := map[string]string{
		"payout_not_fundable": "the balance is 100 USDC: credit the account, then repeat with the same idempotency key",
		"not_found":           "client " + p.account + " has no po_1: check the id, and the account that the call acts for",
	}
	for _, entry := range p.world.call("GET", "/_host/requests", nil).items() {
		if advice, expected := want[entry.text("slug")]; expected {
			assert.Equal(t, advice, entry.text("do"))
			id := strconv.Itoa(int(entry.at("id").(float64)))
			one := p.world.call("GET", "/_host/requests/"+id, nil)
			require.Equal(t, http.StatusOK, one.status)
			assert.Equal(t, advice, one.body.text("do"))
			delete(want, entry.text("slug"))
		}
	}
	assert.Empty(t, want, "not met")
}

// A list is searched at the host, which has more requests than a page can show.
func TestRequestsAreFoundAtTheHost(t *testing.T) {
	p := newPayer(t, sandbox.WithControl())
	booked := p.book("invoice-42", "20")
	for range 450 {
		p.world.call("GET", "/utils/rates/EUR", nil)
	}
	paths := func(query string) (all []string) {
		for _, entry := range p.world.call("GET", "/_host/requests?"+query, nil).items() {
			all = append(all, entry.text("method")+" "+entry.text("path"))
		}
		return all
	}
	assert.Equal(t, []string{"POST /dapi/v1/payouts"}, paths("find=invoice-42"))
	assert.Equal(t, []string{"POST /dapi/v1/payouts"}, paths("find="+booked.body.text("id")), "in the response")
	assert.Equal(t, []string{"POST /dapi/v1/payouts"}, paths("kind=writes&last=1"))
	assert.Len(t, paths("find=RATES&last=400"), 400)
	assert.Contains(t, paths("find=acme@example.com"), "POST /dapi/v1/contacts", "the name of the account")
	assert.Equal(t, http.StatusUnprocessableEntity, p.world.call("GET", "/_host/requests?kind=x", nil).status)
}

// A list of payouts says what an operator looks for, and is searched by it.
func TestPayoutsAreFoundAtTheHost(t *testing.T) {
	p := newPayer(t, sandbox.WithControl())
	contact := p.must(http.StatusCreated, "POST", "/contacts", object{"name": "Supplier Ltd",
		"account": object{"accountType": "sepa", "iban": "DE89370400440532013000"}}).body.text("id")
	made := p.must(http.StatusCreated, "POST", "/payouts", object{"contactId": contact, "amount": "20",
		"currency": "USDC", "paymentReference": "RF-7"}, "Idempotency-Key", "invoice-42").body
	for i := range 220 {
		p.book("other-"+strconv.Itoa(i), "1")
	}
	for _, find := range []string{"supplier", "rf-7", "invoice-42", made.text("id"), contact} {
		found := p.world.call("GET", "/_host/payouts?find="+find, nil).items()
		require.Len(t, found, 1, find)
		assert.Equal(t, made.text("id"), found[0].text("id"))
		assert.Equal(t, "Supplier Ltd", found[0].text("contact"))
		assert.Equal(t, made.text("quote", "destinationAmount"), found[0].text("arrives"))
		assert.Equal(t, "EUR", found[0].text("arrivesIn"))
		assert.Equal(t, "RF-7", found[0].text("reference"))
	}
}

// A test payout is made of the requests of a real one.
func TestATestPayoutIsSent(t *testing.T) {
	p := newPayer(t, sandbox.WithControl(), sandbox.WithInstantProgress())
	sent := p.world.call("POST", "/_host/payouts", object{"account": p.account, "amount": "12.5"})
	require.Equal(t, http.StatusCreated, sent.status, "%s", sent.raw)
	assert.Equal(t, "completed", p.must(http.StatusOK, "GET", "/payouts/"+sent.body.text("id"), nil).body.text("status"))
	assert.Equal(t, "87.5", p.balance())
	listed := p.world.call("GET", "/_host/requests?find="+sent.body.text("idempotencyKey"), nil).items()
	require.Len(t, listed, 2, "the booking and the confirmation")

	poor := p.world.call("POST", "/_host/payouts", object{"account": p.account, "amount": "500"})
	assert.Equal(t, "payout_not_fundable", poor.slug(), "%s", poor.raw)
	p.host.Arm("POST", "/payouts", sandbox.DropBefore())
	dropped := p.world.call("POST", "/_host/payouts", object{"account": p.account, "amount": "1"})
	assert.Equal(t, "conflict", dropped.slug(), "%s", dropped.raw)
}
