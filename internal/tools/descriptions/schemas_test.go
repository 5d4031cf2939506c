package descriptions_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dlclark/regexp2"
	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestSchemasHaveASource(t *testing.T) {
	for _, name := range []string{"appapi.yaml", "refapi.yaml", "public.yaml", "common.yaml"} {
		for schema, node := range object(source(t, name), "components", "schemas") {
			assert.NotEmpty(t, node.(map[string]any)["x-source"], "%s: %s", name, schema)
			for field, node := range object(node.(map[string]any), "properties") {
				assert.NotEmpty(t, node.(map[string]any)["description"], "%s: %s.%s", name, schema, field)
			}
		}
	}
}

// A schema name becomes a Go type; these names would collide with what the generator derives from operations.
func TestSchemaNamesDoNotClashInGo(t *testing.T) {
	for _, name := range surfaces {
		var ids []string
		for _, o := range operations(t, name) {
			ids = append(ids, o.id)
		}
		for schema := range object(source(t, name), "components", "schemas") {
			assert.Regexp(t, `^[A-Z][A-Za-z0-9]*$`, schema, name)
			for _, id := range ids {
				for _, suffix := range []string{"Response", "Params", "JSONBody", "JSONRequestBody"} {
					assert.NotEqual(t, id+suffix, schema, name)
				}
			}
		}
	}
}

// Objects and enumerations have names, so that Go types have names; a reference stands alone, because siblings of it
// are ignored.
func TestSchemasAreNamed(t *testing.T) {
	for _, name := range descriptions {
		walk("", source(t, name), func(pointer string, mapping map[string]any) {
			if _, isRef := mapping["$ref"].(string); isRef {
				assert.Len(t, mapping, 1, "%s%s has siblings of $ref", name, pointer)
			}
			isComponent := strings.Count(pointer, "/") == 3 && strings.HasPrefix(pointer, "/components/schemas/")
			if isComponent || !strings.Contains(pointer, "/components/schemas/") {
				return
			}
			if mapping["type"] == "object" {
				assert.NotContains(t, mapping, "properties", "%s%s is an object without a name", name, pointer)
			}
			if mapping["type"] == "string" {
				assert.NotContains(t, mapping, "enum", "%s%s is an enumeration without a name", name, pointer)
			}
		})
	}
}

// Every object and union that a request body can hold is checked before it is sent.
func TestRequestSchemasAreMarked(t *testing.T) {
	for _, name := range surfaces {
		t.Run(name, func(t *testing.T) {
			reached := map[string]map[string]any{}
			for _, o := range operations(t, name) {
				walk("", o.node["requestBody"], func(_ string, mapping map[string]any) {
					reach(t, name, mapping["$ref"], reached)
				})
			}
			if name != "public.yaml" {
				require.NotEmpty(t, reached)
			}
			for ref, schema := range reached {
				if !composite(schema) {
					continue
				}
				assert.Equal(t, true, schema["x-request"], ref)
			}
		})
	}
}

// The platform API refuses a misspelled field instead of ignoring it.
func TestPlatformBodiesRefuseUnknownKeys(t *testing.T) {
	bodies := 0
	for _, o := range operations(t, "dapi.yaml") {
		ref, _ := object(o.node, "requestBody", "content", "application/json", "schema")["$ref"].(string)
		if ref == "" {
			continue
		}
		bodies++
		body := object(source(t, "dapi.yaml"), strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
		assert.Equal(t, false, body["additionalProperties"], "%s: %s", o.id, ref)
	}
	assert.Greater(t, bodies, 10)
}

// Who changes something can say null, and mean it.
func TestUpdateFieldsAreNullable(t *testing.T) {
	updates := 0
	for _, name := range surfaces {
		for _, o := range operations(t, name) {
			if o.method != "PATCH" && o.method != "PUT" {
				continue
			}
			reached := map[string]map[string]any{}
			ref := object(o.node, "requestBody", "content", "application/json", "schema")["$ref"]
			reach(t, name, ref, reached)
			target := ref.(string)
			if !strings.Contains(target, ".yaml#") {
				target = name + target
			}
			for field, node := range object(reached[target], "properties") {
				if node.(map[string]any)["nullable"] == true {
					updates++
					assert.Equal(t, true, reached[target]["x-sends-null"], "%s: %s of %s is null", o.id, field, target)
				}
			}
		}
	}
	assert.Greater(t, updates, 15)
}

// composite tells objects with fields, unions and lists from plain values and from objects of unknown shape.
func composite(schema map[string]any) bool {
	return schema["properties"] != nil || schema["oneOf"] != nil || schema["type"] == "array"
}

// reach collects every schema that a reference leads to, by file and name.
func reach(t *testing.T, file string, ref any, reached map[string]map[string]any) {
	target, _ := ref.(string)
	if target == "" {
		return
	}
	if other, fragment, _ := strings.Cut(target, "#"); other != "" {
		file, target = other, "#"+fragment
	}
	key := file + target
	if _, seen := reached[key]; seen {
		return
	}
	schema := object(source(t, file), strings.Split(strings.TrimPrefix(target, "#/"), "/")...)
	require.NotEmpty(t, schema, key)
	reached[key] = schema
	walk("", schema, func(_ string, mapping map[string]any) { reach(t, file, mapping["$ref"], reached) })
}

// Every branch of a union has a value of the discriminator, and every value leads to a branch.
func TestDiscriminatorsMapEveryVariant(t *testing.T) {
	for _, name := range descriptions {
		for schema, node := range object(source(t, name), "components", "schemas") {
			branches, isUnion := node.(map[string]any)["oneOf"].([]any)
			if !isUnion {
				continue
			}
			var variants, mapped []string
			for _, branch := range branches {
				variants = append(variants, branch.(map[string]any)["$ref"].(string))
			}
			for _, target := range object(node.(map[string]any), "discriminator", "mapping") {
				if !slices.Contains(mapped, target.(string)) {
					mapped = append(mapped, target.(string))
				}
			}
			assert.ElementsMatch(t, variants, mapped, "%s: %s", name, schema)
		}
	}
}

// What holds secrets is treated so by the SDK: their texts travel in the request alone, and the response's body is not
// captured.
func TestOperationsWithSecretsAreMarked(t *testing.T) {
	parts := map[string]string{"request": "requestBody", "answer": "responses"}
	marked := 0
	for _, name := range surfaces {
		for _, o := range operations(t, name) {
			said, _ := o.node["x-sensitive"].([]any)
			for part, member := range parts {
				holds := holdsSecrets(t, name, o.node[member])
				assert.Equal(t, holds, slices.Contains(said, any(part)), "%s, %s", o.id, part)
				if holds {
					marked++
				}
			}
		}
	}
	assert.GreaterOrEqual(t, marked, 9)
}

// holdsSecrets looks for marks in all that a part of an operation refers to.
func holdsSecrets(t *testing.T, name string, part any) (holds bool) {
	reached := map[string]map[string]any{}
	walk("", part, func(_ string, mapping map[string]any) { reach(t, name, mapping["$ref"], reached) })
	for _, schema := range reached {
		walk("", schema, func(_ string, mapping map[string]any) { holds = holds || mapping["x-sensitive"] == true })
	}
	return holds
}

// The description's pattern, run by an engine that knows look-ahead, and the one that Go's engine can compile accept
// the same strings. RE2 compatibility makes `$` the end of the text and `\d` the ASCII digits, as in ECMA-262.
func TestDecimalPatternHasAnEquivalent(t *testing.T) {
	original := regexp2.MustCompile(decimalPattern, regexp2.RE2)
	equivalent := regexp.MustCompile(decimalRE2)
	same := func(t require.TestingT, text string) bool {
		expected, err := original.MatchString(text)
		require.NoError(t, err)
		require.Equal(t, expected, equivalent.MatchString(text), "%q", text)
		return expected
	}

	t.Run("every short string over the pattern's alphabet", func(t *testing.T) {
		accepted, refused := 0, 0
		texts := []string{""}
		for range 6 {
			var longer []string
			for _, text := range texts {
				for _, c := range "+-.019 \nx" {
					longer = append(longer, text+string(c))
				}
			}
			for _, text := range longer {
				if same(t, text) {
					accepted++
				} else {
					refused++
				}
			}
			if len(longer) > 7000 {
				break
			}
			texts = longer
		}
		assert.Positive(t, accepted)
		assert.Positive(t, refused)
	})
	t.Run("decimals and near misses", rapid.MakeCheck(func(t *rapid.T) {
		same(t, rapid.StringMatching(`[+-]{0,2}0{0,3}\d{0,20}\.{0,2}\d{0,20}\n?`).Draw(t, "text"))
	}))
	t.Run("any string", rapid.MakeCheck(func(t *rapid.T) {
		same(t, rapid.String().Draw(t, "text"))
	}))
}

func TestDecimalPattern(t *testing.T) {
	pattern, err := compilePattern(decimalPattern)
	require.NoError(t, err)
	for _, text := range []string{"0", "1", "-1", "+1", "1.", ".5", "-.5", "000.10", "12345678901234567890.123456789"} {
		assert.True(t, pattern.MatchString(text), text)
	}
	for _, text := range []string{"", ".", "-", "+.", "--1", "1.2.3", "1,5", "1e3", " 1", "1\n", "٣", "0x1", "NaN"} {
		assert.False(t, pattern.MatchString(text), text)
	}
}

// Every schema of the decimal format carries exactly the pattern that compilePattern knows.
func TestDecimalsCarryTheStatedPattern(t *testing.T) {
	found := 0
	for _, name := range descriptions {
		walk("", source(t, name), func(pointer string, mapping map[string]any) {
			if mapping["format"] == "decimal" {
				found++
				assert.Equal(t, decimalPattern, mapping["pattern"], name+pointer)
			}
		})
	}
	assert.Positive(t, found)
}

const (
	fiatCurrencies = "USD EUR GBP JPY CHF CAD AUD NZD SEK NOK AED HKD"

	bankMethods = "sepa swift ach uaefts fedwire rtp fednow pix spei pse breb transfers_3_0 ukfps npp nip bdt_local " +
		"bdt_ewallet bob_local brl_local cad_eft clp_local cny_alipay cny_wechatpay cop_local crc_local " +
		"dkk_local dop_local dop_ewallet egp_local gtq_local gtq_ewallet hkd_fps hnl_local idr_local " +
		"idr_ewallet ils_local inr_local inr_upi jmd_local jpy_local krw_local myr_local nok_local php_local " +
		"php_ewallet pkr_raast pkr_ewallet pln_local sar_local sle_local thb_local try_fast tzs_local " +
		"ugx_local vnd_local xof_local zmw_local"
)

func TestEnumerationsHaveExactlyTheStatedValues(t *testing.T) {
	for _, tt := range []struct {
		file, schema string
		count        int
		values       string
	}{
		{"dapi.yaml", "BankMethod", 57, bankMethods},
		{"common.yaml", "FiatCurrency", 12, fiatCurrencies},
		{"common.yaml", "InvoiceCurrency", 35, fiatCurrencies +
			" BRL MXN USDC USDT DAI SOL BTC ETH NEAR BNB XRP ADA DOGE TRX GRAM AVAX MATIC DOT LTC LINK ARB OP SUI"},
		{"common.yaml", "KYCStatus", 8,
			"not_started requested incorporating pending under_review in_review approved rejected"},
		{"common.yaml", "InvoiceStatus", 6, "draft sent paid cancelled client_paid client_declined"},
		{"common.yaml", "ContractStatus", 6,
			"pending_approval_by_contractor pending_approval_by_client active completed cancelled paused"},
		{"common.yaml", "ContractType", 10,
			"service employment nda contractor default_contractor custom vendor milestone msa other"},
		{"common.yaml", "PriorityMethod", 13,
			"sepa swift ach uaefts fedwire swift-usd swift-eur wire pix crypto card internal refund"},
		{"appapi.yaml", "DocumentKind", 2, "invoice contract"},
	} {
		t.Run(tt.file+" "+tt.schema, func(t *testing.T) {
			schema := object(source(t, tt.file), "components", "schemas", tt.schema)
			require.NotEmpty(t, schema)
			var values []string
			for _, value := range schema["enum"].([]any) {
				values = append(values, value.(string))
			}
			assert.Equal(t, strings.Fields(tt.values), values)
			assert.Len(t, values, tt.count)
			assert.NotContains(t, schema, "x-assumed-values", "all of them are stated")
		})
	}
}

// A value that is assumed is a value of its enumeration.
func TestAssumedValuesExist(t *testing.T) {
	for _, name := range descriptions {
		walk("", source(t, name), func(pointer string, mapping map[string]any) {
			for value := range object(mapping, "x-assumed-values") {
				assert.Contains(t, mapping["enum"], value, name+pointer)
			}
		})
	}
}

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
