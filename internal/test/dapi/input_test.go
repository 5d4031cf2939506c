package dapi_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/signing"
)

func make11() []string { return strings.Split("a,b,c,d,e,f,g,h,i,j,k", ",") }

// Rule: size.payment-reference, size.purpose, size.document-ids, idempotency.pattern
func TestInputAtItsBoundsIsSent(t *testing.T) {
	w := newPayWorld(t)
	w.asked.PaymentReference = strings.Repeat("€", 140)
	w.asked.Purpose = strings.Repeat("ß", 64)
	w.asked.DocumentIDs = make11()[:10]
	w.asked.Amount = amount("25.123456")
	payment, err := w.payAs(moneymovement.Key(strings.Repeat("k", 128)))
	require.NoError(t, err)
	assert.Equal(t, w.asked.PaymentReference, payment.Payout.PaymentReference)
	assert.Equal(t, w.asked.Purpose, payment.Payout.Purpose)
	assert.Equal(t, w.asked.DocumentIDs, payment.Payout.DocumentIDs)
	assert.True(t, w.asked.Amount.Equal(payment.Payout.Amount))
}

func TestAllThatIsWrongIsSaidAtOnce(t *testing.T) {
	_, err := newWorld(t).integrator().For("ct_1").Payouts.Book(t.Context(), dapi.PayoutCreate{})
	assert.ErrorContains(t, err,
		"BookPayout: invalid input: X-Service-Account (the client of For) is the id of another kind of "+
			"resource (ct_): pass an id that begins with cl_; "+
			"amount is required and must not be zero; currency is required; contactId is required")
}

// A known asset in another spelling is refused before anything is sent. The service can have other assets.
func TestAMisspelledAsset(t *testing.T) {
	w := newPayWorld(t)
	for _, asset := range []dapi.Asset{"usdc", " USDC", "Eurc"} {
		w.asked.Currency = asset
		before := len(w.Host.Requests())
		_, err := w.pay()
		field := as[*errors.InvalidInput](t, err).Fields[0]
		assert.Equal(t, "currency", field.Field, asset)
		assert.Equal(t, "unknown_variant", field.Code, asset)
		assert.Contains(t, field.Message, "did you mean "+strings.ToUpper(strings.TrimSpace(string(asset))))
		assert.Len(t, w.Host.Requests(), before)
	}
	w.asked.Currency = "USDT"
	_, err := w.pay()
	require.Error(t, err)
	assert.Equal(t, 1, w.Sent("BookPayout"), "the service decides")
}

func TestConfirmOfNothing(t *testing.T) {
	w := newWorld(t)
	asked := dapi.PayoutCreate{ContactID: "ct_1", Amount: amount("25"), Currency: dapi.USDC}
	for name, booked := range map[string]*dapi.Payout{
		"no payout": nil, "no approval": {ID: "po_1"}, "an empty approval": {ID: "po_1", Approval: &dapi.Approval{}},
	} {
		_, err := w.integrator().Self().Payouts.Confirm(t.Context(), asked, booked)
		as[*signing.ApprovalRefused](t, err)
		assert.Empty(t, w.Host.Requests(), name)
	}
}
