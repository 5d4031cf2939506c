package appapi_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/model"
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
		var answer moneymovement.Response
		invoice, err := app.Invoices.Get(t.Context(), id1, moneymovement.CaptureResponse(&answer))
		require.NoError(t, err, methods)
		var named []string
		for _, unread := range answer.Unread {
			named = append(named, unread.Pointer+" "+unread.Problem)
		}
		assert.Equal(t, want.pointer, named, methods)
		require.Len(t, invoice.PaymentMethods, want.read, methods)
		for _, read := range invoice.PaymentMethods {
			assert.IsType(t, model.SEPAPaymentMethod{}, read.Variant(), methods)
		}
	}
}

// TestAnInvoiceOfABatchKeepsItsPlace, whatever of the others can be read.
func TestAnInvoiceOfABatchKeepsItsPlace(t *testing.T) {
	batch := appapi.InvoiceBatch{{ContractID: id1}, {ContractID: id2}, {ContractID: id1}}
	for answered, want := range map[string][]string{
		`{"items":[7,` + invoiceJSON + `,null]}`:                  {"", id1, ""},
		`[` + invoiceJSON + `,"` + id2 + `",` + invoiceJSON + `]`: {id1, "", id1},
		`{"items":["a","b","c"]}`:                                 {"", "", ""},
		`{"items":[` + invoiceJSON + `,{"id":"` + id2 + `"}]}`:    {id1, id2},
		`{"items":[]}`: nil,
	} {
		_, app := serve(t, answering(201, answered))
		var answer moneymovement.Response
		issued, err := app.Invoices.CreateBatch(t.Context(), batch, moneymovement.CaptureResponse(&answer))
		require.NoError(t, err, answered)
		var ids []string
		for _, invoice := range issued {
			ids = append(ids, invoice.ID)
		}
		assert.Equal(t, want, ids, answered)
		assert.Equal(t, answered, string(answer.Body))
	}
}

// TestABatchWithoutAListIsUnknown: it may have issued all of them.
func TestABatchWithoutAListIsUnknown(t *testing.T) {
	for _, body := range []string{``, `{"ok":true}`} {
		server, app := serve(t, answering(201, body))
		_, err := app.Invoices.CreateBatch(t.Context(), appapi.InvoiceBatch{{ContractID: id1}})
		_, unknown := errors.AsType[*errors.InDoubt](err)
		assert.True(t, unknown, "%v", err)
		assert.Len(t, server.requests(), 1)
	}
}

// TestAVerdictThatIsAbsentIsNotFalse: no field of the check of bank details is stated.
func TestAVerdictThatIsAbsentIsNotFalse(t *testing.T) {
	for body, want := range map[string]*bool{
		``: nil, `{"ok":true}`: nil, `{}`: nil, `{"valid":null}`: nil, `{"valid":{},"errors":[]}`: nil,
		`{"valid":false}`: pointer(false), `{"valid":true}`: pointer(true), `{"valid":"true"}`: pointer(true),
	} {
		_, app := serve(t, answering(200, body))
		check, err := app.Contacts.ValidateBank(t.Context(), appapi.BankDetails{IBAN: "DE89370400440532013000"})
		require.NoError(t, err, body)
		assert.Equal(t, want, check.Valid, body)
	}
}
