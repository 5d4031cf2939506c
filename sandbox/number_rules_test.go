package sandbox_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Which release of Go decodes the body, and how it words what it cannot decode, decides nothing here.
//
// Rule: error.fields, status.422
func TestNumbersThatCannotBeReadAreNamed(t *testing.T) {
	const uuid = "0b0e7f0e-5d0f-4f7e-9a57-0c3a6a9f4b11"
	long := strings.Repeat("9", 300)
	w := newWorld(t)
	app := w.app()
	type fields = map[string]string
	for body, want := range map[string]fields{
		`{"contactId":"` + uuid + `","amount":0.` + long + `}`: {"amount": "decimal_max_digits"},
		`{"contactId":"` + uuid + `","amount":1e-20000}`:       {"amount": "decimal_max_digits"},
		// the validation sees this first
		`{"contactId":"` + uuid + `","amount":1e400}`: {"amount": "float_type"},
		`{"contactId":"` + uuid + `","amount":"1"}`:   {"amount": "float_type"},
		`{"contactId":"` + uuid + `","amount":[1]}`:   {"amount": "float_type"},
		`{"contactId":"` + uuid + `","amount":null}`:  {"amount": "missing"},
	} {
		got := app.call("POST", "/apps/transfer", body)
		refused(t, http.StatusUnprocessableEntity, "validation_failed", got)
		assert.Equal(t, want, got.fields(), body)
	}

	for number, code := range map[string]string{
		"9223372036854775807": "chain_not_live", // is read
		"9223372036854775808": "int_type", "1.0": "int_type", "1e0": "int_type", "1.5": "int_type", "1e400": "int_type",
		"null": "int_type", "true": "int_type", `"1"`: "int_type", "-1": "greater_than_equal",
	} {
		got := w.login().call("POST", "/payins", `{"amount":"50","currency":"USDC","originChainId":`+number+`}`)
		refused(t, http.StatusUnprocessableEntity, "validation_failed", got)
		assert.Equal(t, fields{"originChainId": code}, got.fields(), number)
	}

	lines := app.call("POST", "/documents/contracts/invoices",
		`{"currency":"EUR","clientEmail":"client@example.com","items":[`+
			`{"name":"a","quantity":0.`+long+`,"price":"1"},{"name":"b","quantity":1,"price":"1"},{"name":"c",`+
			`"quantity":1e-20000,"price":"1"}]}`)
	refused(t, http.StatusUnprocessableEntity, "validation_failed", lines)
	assert.Equal(t, fields{"items.0.quantity": "decimal_max_digits", "items.2.quantity": "decimal_max_digits"},
		lines.fields(), "each is named")

	batch := app.call("POST", "/documents/contracts/invoices/batch_invoicing",
		`[{"contractId":"`+uuid+`","period":1},{"contractId":"`+uuid+`","period":1e2}]`)
	refused(t, http.StatusUnprocessableEntity, "validation_failed", batch)
	assert.Equal(t, fields{"1.period": "int_type"}, batch.fields(), "in a list")
}

// What the description shows no fields of is kept as it came, but for a number that nothing holds.
func TestANumberBeyondAllBoundsInAnOpenObject(t *testing.T) {
	body := func(number string) string {
		return `{"name":"Bob","bank":{"method":"sepa","currency":"EUR","fields":{"iban":"DE89370400440532013000","x":` +
			number + `},"holder":{"name":"Bob"}}}`
	}
	me := newWorld(t).login()
	refused(t, http.StatusBadRequest, "invalid_request", me.call("POST", "/contacts", body("1e400")))
	me.must(http.StatusCreated, "POST", "/contacts", body("1e300"))
}
