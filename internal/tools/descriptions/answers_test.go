package descriptions_test

import (
	"encoding/json"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	invoiceID  = "7f1f7a1e-3c1d-4b59-9d7c-0a4a2f5b9a10"
	contractID = "1c7f2a66-09a3-4f0e-8a51-6a0f6c2f3b21"
)

// Values as the service would send them pass, through references into common.yaml, unions and nullable wrappers; values
// that the description rules out do not.
func TestValuesAgainstTheirSchemas(t *testing.T) {
	for _, tt := range []struct {
		name, file, schema, value string
		valid                     bool
	}{
		{"an invoice with three payment methods", "common.yaml", "Invoice", `{
			"id": "` + invoiceID + `", "amount": "120.50", "currency": "EUR", "status": "sent",
			"createdAt": "2026-01-02T03:04:05Z", "updatedAt": "2026-01-02T03:04:05Z", "dueDate": "2026-02-01",
			"transaction": null, "discount": null, "contract": null, "paidAt": null,
			"items": [{"name": "Design", "quantity": 1.5, "price": "80.333"}],
			"paymentMethods": [
				{"accountType": "sepa", "ibanNumber": "DE02100100109307118603", "accountHolderType": "individual"},
				{"accountType": "onchain", "walletAddress": "0x0000000000000000000000000000000000000001", "chainId": "base", "currency": "USDC"},
				{"accountType": "local", "method": "spei", "unknownKey": true}
			]}`, true},
		{"an invoice without its required fields", "common.yaml", "Invoice", `{"id": "` + invoiceID + `"}`, false},
		{"an amount that is only a sign", "common.yaml", "Decimal", `"-"`, false},
		{"a contract whose nullable fields are null", "common.yaml", "Contract", `{
			"id": "` + contractID + `", "clientId": "` + contractID + `", "contractorId": "` + contractID + `",
			"type": "msa", "status": "active", "createdAt": "2026-01-02T03:04:05Z", "updatedAt": "2026-01-02T03:04:05Z",
			"amount": null, "currency": null, "lastInvoice": null, "signed": null, "activationAt": null,
			"priorityMethods": ["swift-usd", "crypto"]}`, true},
		{"a contract in an unknown currency", "common.yaml", "Contract", `{
			"id": "` + contractID + `", "clientId": "` + contractID + `", "contractorId": "` + contractID + `",
			"type": "msa", "status": "active", "createdAt": "2026-01-02T03:04:05Z", "updatedAt": "2026-01-02T03:04:05Z",
			"currency": "BRL"}`, false},
		{"an empty card list", "common.yaml", "CardList", `{"cards": [], "total": null}`, true},
		{"a card proof with a nonce as text", "common.yaml", "CardDetailsProof",
			`{"messageSignature": "0x00", "nonce": "1"}`, false},

		{"a contact by email address", "appapi.yaml", "ContactCreate",
			`{"name": "A", "account": {"accountType": "email", "email": "a@example.com"}}`, true},
		{"a contact by wallet", "appapi.yaml", "ContactCreate",
			`{"account": {"accountType": "onchain", "walletAddress": "0x1", "chainId": "base", ` +
				`"currency": "EURC", "email": null}}`, true},
		{"a wallet contact without a chain", "appapi.yaml", "ContactCreate",
			`{"account": {"accountType": "onchain", "walletAddress": "0x1", "currency": "EURC"}}`, false},
		{"a bank contact", "appapi.yaml", "ContactCreate",
			`{"account": {"accountType": "sepa", "ibanNumber": "DE02100100109307118603"}}`, false},
		{"a transfer to a contact", "appapi.yaml", "TransferCreate",
			`{"contactId": "` + contractID + `", "quoteId": null, "amount": 10.25, "memo": null}`, true},
		{"a transfer with an amount as text", "appapi.yaml", "TransferCreate",
			`{"contactId": "` + contractID + `", "amount": "10.25"}`, false},
		{"payment methods", "appapi.yaml", "PaymentMethodsReplacement",
			`{"paymentMethods": [{"accountType": "pix", "pixKey": "k"}]}`, true},
		{"payment methods of an unknown kind", "appapi.yaml", "PaymentMethodsReplacement",
			`{"paymentMethods": [{"accountType": "barter"}]}`, false},
		{"a batch", "appapi.yaml", "InvoiceBatch",
			`[{"contractId": "` + contractID +
				`", "period": 1, "items": [{"name": "A", "quantity": 1, "price": "1"}]}]`, true},

		{"a failed validation", "refapi.yaml", "HTTPValidationError",
			`{"detail": [{"loc": ["body", "status"], "msg": "field required", "type": "missing"}]}`, true},
		{"a webhook without a payload", "refapi.yaml", "WebhookEvent",
			`{"eventType": "e", "entityId": "1", "entityType": "t", "createdAt": "now"}`, true},
		{"a webhook without an entity", "refapi.yaml", "WebhookEvent",
			`{"eventType": "e", "entityType": "t", "createdAt": "now"}`, false},
		{"a rate with more fields", "public.yaml", "FXRate",
			`{"usdRate": "1.08", "bankTransfer": "1.07", "card": ".99", "other": 1}`, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			schema := load(t, tt.file).Components.Schemas[tt.schema]
			require.NotNil(t, schema)
			var value any
			require.NoError(t, json.Unmarshal([]byte(tt.value), &value))
			err := schema.Value.VisitJSON(value, openapi3.SetSchemaRegexCompiler(compilePattern),
				openapi3.MultiErrors())
			if tt.valid {
				assert.NoError(t, err)
			} else {
				assert.Error(t, err)
			}
		})
	}
}
