package model_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/model"
)

// TestAPaymentMethodIsSentBackAsItCame: a contract's methods are replaced all at once, so that a caller who adds one
// sends the others back, with the fields of theirs that this version does not know.
func TestAPaymentMethodIsSentBackAsItCame(t *testing.T) {
	for text, want := range map[string]model.PaymentMethodVariant{
		`{"accountType":"sepa","bic":"TESTDEFF","intermediaryBank":{"bic":"EXAMDEFF"}}`: model.SEPAPaymentMethod{AccountType: "sepa", BIC: "TESTDEFF"},
		// an address in another form than is assumed
		`{"accountType":"swift","bankAddress":"1 Main Street","bic":"TESTDEFF"}`: nil,
		`{"accountType":"swift","bic":7}`:                                        nil,
		`{"accountType":"carrier_pigeon","loft":"7"}`:                            nil,
		`{"loft":"7"}`: nil,
	} {
		for name, version := range versions {
			var method model.PaymentMethod
			require.NoError(t, version.unmarshal([]byte(text), &method), "%s: %s", name, text)
			assert.Equal(t, want, method.Variant(), text)
			assert.JSONEq(t, text, string(method.Raw()))
			again, err := version.marshal([]model.PaymentMethod{method})
			require.NoError(t, err)
			assert.JSONEq(t, "["+text+"]", string(again))
		}
	}
}

func TestWhatAUnionWritesIsACopy(t *testing.T) {
	const text = `{"accountType":"carrier_pigeon","loft":"7"}`
	var method model.PaymentMethod
	require.NoError(t, method.UnmarshalJSON([]byte(text)))
	written, err := method.MarshalJSON()
	require.NoError(t, err)
	clear(written)
	assert.Equal(t, text, string(method.Raw())) //nolint:testifylint // the very text
}
