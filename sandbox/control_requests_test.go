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
