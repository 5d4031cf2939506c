package fakes

import (
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
)

var invoice = Invoice{Number: "42", Supplier: "ct_1", Amount: decimal.RequireFromString("12.50")}

// The price that a person saw is the price that is paid, because both calls have one key and the same terms.
func TestPriceAndPaymentHaveOneKey(t *testing.T) {
	payouts := &fakePayouts{payout: recordedPayout(t, "dapi.BookPayout")}
	cashier := Cashier{Payouts: payouts, MaxFee: decimal.NewFromInt(1)}
	fee, err := cashier.Price(t.Context(), invoice)
	require.NoError(t, err)
	assert.True(t, fee.IsPositive(), fee)

	payouts.payout = recordedPayout(t, "dapi.ConfirmPayout")
	assert.Equal(t, "paid", cashier.Pay(t.Context(), invoice))

	booked, paid := payouts.calls[0], payouts.calls[1]
	assert.Equal(t, "Book", booked.method)
	assert.Equal(t, "Pay", paid.method)
	assert.Equal(t, moneymovement.DeriveKey("invoice", "42"), paid.key)
	assert.Equal(t, paid.key, booked.key)
	assert.Equal(t, paid.payout, booked.payout)
	require.NotNil(t, paid.options.MaxFee, "a fee has a bound")
	assert.True(t, cashier.MaxFee.Equal(*paid.options.MaxFee))
}

// A response that is lost says nothing about the money. The same key makes the second call harmless.
func TestAnUnknownPaymentIsTriedAgainWithItsKey(t *testing.T) {
	payouts := &fakePayouts{payout: recordedPayout(t, "dapi.ConfirmPayout"), errs: []error{&errors.OutcomeUnknown{}}}
	cashier := Cashier{Payouts: payouts}
	assert.Equal(t, "not known yet: try again later", cashier.Pay(t.Context(), invoice))
	assert.Equal(t, "paid", cashier.Pay(t.Context(), invoice))
	assert.Equal(t, payouts.calls[0], payouts.calls[1])
}

func TestWhatAPersonReads(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"the balance is low":     {&errors.PayoutNotFundable{}, "not paid: fill the account first"},
		"the supplier is closed": {&errors.ContactNotPayable{}, "not paid"},
		"the fee is too high":    {&dapi.PriceRefused{}, "somebody has to look"},
		"a field is wrong":       {&errors.InvalidInput{}, "somebody has to look"},
		"another error":          {errors.New("broken"), "not known yet: try again later"},
	} {
		t.Run(name, func(t *testing.T) {
			cashier := Cashier{Payouts: &fakePayouts{errs: []error{test.err}}}
			assert.Equal(t, test.want, cashier.Pay(t.Context(), invoice))
		})
	}
}
