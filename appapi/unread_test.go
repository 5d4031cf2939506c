package appapi_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
)

// TestAPaymentMethodThatIsNullIsLeftOutAndNamed: one of a variant that is not known is kept, and null is of none.
func TestAPaymentMethodThatIsNullIsLeftOutAndNamed(t *testing.T) {
	const method = `{"accountType":"sepa","ibanNumber":"DE89370400440532013000"}`
	for methods, want := range map[string]struct {
		read    int
		pointer []string
	}{
		`[null]`:                          {0, []string{"/paymentMethods/0 is null"}},
		`[null,` + method + `,null]`:      {1, []string{"/paymentMethods/0 is null", "/paymentMethods/2 is null"}},
		`[` + method + `,` + method + `]`: {2, nil},
		`null`:                            {0, nil},
	} {
		_, app := serve(t, answering(200, strings.Replace(invoiceJSON, `[`+method+`]`, methods, 1)))
		var answer moneymovement.Answer
		invoice, err := app.Invoices.Get(t.Context(), id1, moneymovement.Capture(&answer))
		require.NoError(t, err, methods)
		var named []string
		for _, unread := range answer.Unread {
			named = append(named, unread.Pointer+" "+unread.Problem)
		}
		assert.Equal(t, want.pointer, named, methods)
		require.Len(t, invoice.PaymentMethods, want.read, methods)
		for _, read := range invoice.PaymentMethods {
			assert.IsType(t, moneymovement.SEPAPaymentMethod{}, read.Variant(), methods)
		}
	}
}
