package moneymovement_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
)

// TestAPaymentMethodIsSentBackAsItCame: a contract's methods are replaced all at once, so that a caller who adds one sends the others back,
// with the fields of theirs that this version does not know.
func TestAPaymentMethodIsSentBackAsItCame(t *testing.T) {
	for text, want := range map[string]moneymovement.PaymentMethodVariant{
		`{"accountType":"sepa","bic":"COBADEFF","intermediaryBank":{"bic":"DEUTDEFF"}}`: moneymovement.SEPAPaymentMethod{AccountType: "sepa", BIC: "COBADEFF"},
		`{"accountType":"swift","bankAddress":"1 Main Street","bic":"COBADEFF"}`:        nil, // an address in another form than is assumed
		`{"accountType":"swift","bic":7}`:                                               nil,
		`{"accountType":"carrier_pigeon","loft":"7"}`:                                   nil,
		`{"loft":"7"}`: nil,
	} {
		for name, version := range versions {
			var method moneymovement.PaymentMethod
			require.NoError(t, version.unmarshal([]byte(text), &method), "%s: %s", name, text)
			assert.Equal(t, want, method.Variant(), text)
			assert.JSONEq(t, text, string(method.Raw()))
			again, err := version.marshal([]moneymovement.PaymentMethod{method})
			require.NoError(t, err)
			assert.JSONEq(t, "["+text+"]", string(again))
		}
	}
}
