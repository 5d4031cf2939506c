package fakes

import (
	"context"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
)

var invoice = Invoice{Number: "42", Supplier: "ct_1", Amount: decimal.RequireFromString("12.50")}

// cashier returns a cashier over a fake, and the invoice as it stored it last.
func cashier(payouts *fakePayouts) (c *Cashier, stored *Invoice) {
	stored = new(invoice)
	return &Cashier{Payouts: payouts, MaxFee: decimal.NewFromInt(1),
		Save: func(_ context.Context, i Invoice) error { *stored = i; return nil }}, stored
}

// The price that a person saw is the price that is paid, because both calls have one key and the same terms.
func TestPriceAndPaymentHaveOneKey(t *testing.T) {
	payouts := &fakePayouts{booked: recordedPayout(t, "dapi.BookPayout"), ends: []dapi.Payment{
		{State: moneymovement.PaymentPaid, Payout: recordedPayout(t, "dapi.ConfirmPayout")}}}
	cashier, _ := cashier(payouts)
	fee, err := cashier.Price(t.Context(), invoice)
	require.NoError(t, err)
	assert.True(t, fee.IsPositive(), fee)
	assert.Equal(t, "paid", cashier.Pay(t.Context(), invoice))

	booked, paid := payouts.calls[0], payouts.calls[1]
	assert.Equal(t, "Book", booked.method)
	assert.Equal(t, "Pay", paid.method)
	assert.Equal(t, moneymovement.DeriveKey("invoice", "42"), paid.key)
	assert.Equal(t, paid.key, booked.key)
	assert.Equal(t, paid.payout, booked.payout)
	assert.Equal(t, "1", paid.maxFee, "a fee has a bound")
}

// A response that is lost says nothing about the money. The same key makes the second call harmless.
func TestAPaymentInDoubtIsTriedAgainWithItsKey(t *testing.T) {
	payouts := &fakePayouts{ends: []dapi.Payment{{History: dapi.History{PayoutID: "po_1"}},
		{State: moneymovement.PaymentPaid, Payout: recordedPayout(t, "dapi.ConfirmPayout")}}}
	cashier, stored := cashier(payouts)
	assert.Equal(t, "not known yet: try again later", cashier.Pay(t.Context(), invoice), "no state is a doubt")
	assert.Equal(t, dapi.PayoutID("po_1"), stored.History.PayoutID)
	assert.Equal(t, "paid", cashier.Pay(t.Context(), *stored))
	assert.Equal(t, payouts.calls[0], payouts.calls[1])
}

// What is signed is stored first.
func TestWithoutItsDatabaseTheCashierSignsNothing(t *testing.T) {
	payouts := &fakePayouts{ends: []dapi.Payment{{State: moneymovement.PaymentPaid}}}
	cashier, _ := cashier(payouts)
	cashier.Save = func(context.Context, Invoice) error { return errors.New("the database is away") }
	assert.Equal(t, "not known yet: try again later", cashier.Pay(t.Context(), invoice))
	assert.Len(t, payouts.ends, 1, "nothing was signed")
}

func TestWhatAPersonReads(t *testing.T) {
	for name, test := range map[string]struct {
		state   moneymovement.PaymentState
		refusal error
		want    string
	}{
		"the balance is low": {moneymovement.PaymentNeedsDecision, &errors.PayoutNotFundable{},
			"not paid: fill the account first"},
		"the rate is too high": {moneymovement.PaymentNotPaid, &errors.RateLimited{}, "not paid: try again later"},
		"the supplier is closed": {moneymovement.PaymentNeedsDecision, &errors.ContactNotPayable{},
			"somebody has to look"},
		"the fee is too high": {moneymovement.PaymentNeedsDecision, &dapi.PriceRefused{}, "somebody has to look"},
		"the money came back": {moneymovement.PaymentEnded, &dapi.PayoutNotCompleted{}, "somebody has to look"},
		"the balance is low, after a lost response": {moneymovement.PaymentInDoubt, &errors.PayoutNotFundable{},
			"not known yet: try again later"},
		"a state of tomorrow": {"postponed", nil, "not known yet: try again later"},
	} {
		t.Run(name, func(t *testing.T) {
			cashier, _ := cashier(&fakePayouts{ends: []dapi.Payment{{State: test.state, Refusal: test.refusal}}})
			assert.Equal(t, test.want, cashier.Pay(t.Context(), invoice))
		})
	}
}
