package descriptions_test

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/openapi"
)

// rows are the endpoint tables of the description, and the operations that it implies without a row.
var rows = map[string]string{
	"dapi.yaml": `
		POST /auth/challenge
		POST /auth/token
		POST /auth/refresh
		POST /clients
		PUT /client/kyb
		POST /client/kyb/complete
		GET /banks
		POST /banks
		POST /payins
		POST /payins/{payinId}/instructions
		POST /contacts
		PATCH /contacts/{contactId}
		DELETE /contacts/{contactId}
		GET /contacts/{contactId}/capabilities
		POST /payouts
		POST /payouts/{payoutId}/confirm
		GET /transactions
		GET /chains
		POST /escrow
		POST /escrow/{escrowId}/actions
		POST /escrow/{escrowId}/sync
		GET /sandbox/treasury
		POST /sandbox/deposits
		POST /sandbox/payins/{payinId}/complete
		POST /sandbox/payouts/{payoutId}/status

		GET /clients/{clientId}
		GET /client/kyb
		GET /payins/{payinId}
		GET /payouts/{payoutId}
		POST /escrow/{escrowId}/actions/{idempotencyKey}/confirm`,
	"appapi.yaml": `
		GET /user
		PUT /user/kyc
		POST /user/kyc_link
		GET /user/kyc/status
		GET /balance
		GET /mcp/get_balance
		GET /apps/me

		GET /user/contacts
		POST /user/contact
		PATCH /user/contacts/{contact_id}
		DELETE /user/contacts/{contact_id}
		POST /user/contact/bank/validate

		POST /documents/upload

		GET /documents/contracts/invoices
		GET /documents/contracts/invoices/{invoice_id}
		POST /documents/contracts/invoices
		POST /documents/contracts/invoices/uploaded
		PUT /documents/contracts/invoices/{invoice_id}
		POST /documents/contracts/{contract_id}/create-invoice
		POST /documents/contracts/invoices/batch_invoicing

		GET /documents/contracts
		GET /documents/contracts/{contract_id}
		GET /documents/contracts/{contract_id}/preview
		GET /documents/contracts/templates
		POST /documents/contracts
		PATCH /documents/contracts/{contract_id}
		POST /documents/contracts/{contract_id}/pause
		POST /documents/contracts/{contract_id}/approve
		PUT /documents/contracts/{contract_id}/payment_methods
		DELETE /documents/contracts/{contract_id}

		GET /transactions

		GET /banks
		POST /banks/activate
		POST /balance/payin/quote
		POST /banks/payin/quote
		POST /banks/payin/quote/submit
		POST /balance/payout/quote

		GET /cards
		POST /cards
		GET /cards/{card_id}
		POST /cards/{card_id}/details
		PUT /cards/{card_id}/label
		PUT /cards/{card_id}/limit
		POST /cards/{card_id}/freeze
		POST /cards/{card_id}/unfreeze
		POST /cards/kyc/link
		POST /cards/pre-approve

		POST /apps/transfer
		GET /apps/transfers`,
	"refapi.yaml": `
		PUT /api/v1/documents/contracts/invoices/{invoice_id}
		PUT /api/v1/invoices/documents/contracts/invoices/{invoice_id}
		GET /api/v1/invoices/documents/contracts/{contract_id}
		GET /api/v1/transactions/merchant/products
		GET /api/v1/accounts/cards
		POST /api/v1/accounts/cards/{card_id}/details
		GET /api/v1/wallet/balance/transaction/status/{quote_id}
		POST /api/v1/wallet/login
		POST /api/v1/webhook/{partner}`,
	"public.yaml": `
		GET /utils/rates/{currency}
		GET /public/invoices/{invoice_id}
		GET /public/invoices/{id}/pdf`,
}

func TestEveryRowIsDescribedAndNothingElse(t *testing.T) {
	counts := map[string]int{"dapi.yaml": 25 + 5, "appapi.yaml": 49, "refapi.yaml": 8 + 1, "public.yaml": 3}
	for _, name := range surfaces {
		t.Run(name, func(t *testing.T) {
			var expected []string
			for line := range strings.Lines(rows[name]) {
				if line = strings.TrimSpace(line); line != "" {
					expected = append(expected, line)
				}
			}
			assert.Len(t, expected, counts[name])
			var described []string
			for _, o := range operations(t, name) {
				described = append(described, o.method+" "+o.path)
			}
			assert.ElementsMatch(t, expected, described)
		})
	}
}

// The five operations without a row are assumed, and those with a row are not.
func TestOnlyImpliedOperationsAreAssumed(t *testing.T) {
	implied := []string{
		"GET /clients/{clientId}", "GET /client/kyb", "GET /payins/{payinId}", "GET /payouts/{payoutId}",
		"POST /escrow/{escrowId}/actions/{idempotencyKey}/confirm",
	}
	for _, name := range surfaces {
		for _, o := range operations(t, name) {
			_, whole := o.node["x-assumed"].(string)
			if name == "dapi.yaml" {
				assert.Equal(t, slices.Contains(implied, o.method+" "+o.path), whole, o.id)
			} else {
				assert.False(t, whole, o.id)
			}
		}
	}
}

func TestOperationsSayWhatAClientNeeds(t *testing.T) {
	for _, name := range surfaces {
		t.Run(name, func(t *testing.T) {
			seen := map[string]bool{}
			for _, o := range operations(t, name) {
				assert.Regexp(t, `^[A-Z][a-z]+([A-Z]+[a-z0-9]*)+$`, o.id,
					"an operationId is a verb and a noun in PascalCase")
				assert.False(t, seen[o.id], "%s is there twice", o.id)
				seen[o.id] = true
				assert.NotEmpty(t, o.node["summary"], o.id)
				assert.NotEmpty(t, o.node["description"], o.id)
				assert.NotEmpty(t, o.node["x-source"], o.id)

				if o.method == "GET" {
					assert.NotContains(t, o.node, "x-idempotency", o.id)
				} else {
					assert.Contains(t, []any{"key", "natural", "none"}, o.node["x-idempotency"], o.id)
				}
				assert.Contains(t, object(o.node, "responses"), "default", "%s can be refused", o.id)
			}
		})
	}
}

// Only routes whose Idempotency-Key is said to anchor something may be repeated on the strength of the key.
func TestKeyAnchoredOperations(t *testing.T) {
	var anchored []string
	for _, name := range surfaces {
		for _, o := range operations(t, name) {
			if o.node["x-idempotency"] == "key" {
				anchored = append(anchored, o.method+" "+o.path)
			}
		}
	}
	assert.ElementsMatch(t, []string{
		"POST /payouts", "POST /escrow", "POST /escrow/{escrowId}/actions",
		"POST /sandbox/deposits", "POST /sandbox/payins/{payinId}/complete", "POST /sandbox/payouts/{payoutId}/status",
		"POST /apps/transfer",
	}, anchored)
}

// "Without a key the server derives one from the request" is said of the platform API, and means something only where a
// key anchors.
func TestDerivedKeys(t *testing.T) {
	for _, name := range surfaces {
		for _, o := range operations(t, name) {
			anchored := o.node["x-idempotency"] == "key"
			assert.Equal(t, name == "dapi.yaml" && anchored, o.node["x-derived-key"] == true, o.id)
			owner := map[string]any{"BookPayout": "payoutId", "CreateEscrow": "escrowId"}[o.id]
			assert.Equal(t, owner, o.node["x-key-owner"], o.id)
			inPath := o.id == "CreateEscrow" || o.id == "PrepareEscrowAction"
			assert.Equal(t, inPath, o.node["x-key-in-path"] == true, o.id)
		}
	}
}

// What an operation takes brings slugs along: a key that is malformed, an id or a client of nobody, a cursor of another
// query, an anchored key with other terms.
func TestParametersBringTheirSlugs(t *testing.T) {
	for _, o := range operations(t, "dapi.yaml") {
		var expected []any
		names := map[string]bool{}
		for _, parameter := range o.node["parameters"].([]any) {
			p := parameter.(map[string]any)
			name, _ := p["name"].(string)
			names[name+path.Base(fmt.Sprint(p["$ref"]))] = true
		}
		if o.method != "GET" {
			assert.True(t, names["IdempotencyKey"], "%s takes a key, as every write", o.id)
			expected = append(expected, "idempotency_key_invalid")
		}
		if o.node["x-idempotency"] == "key" {
			expected = append(expected, "idempotency_key_reused")
		}
		if names["ServiceAccount"] || strings.Contains(o.path, "{") {
			expected = append(expected, "not_found", "invalid_id")
		}
		if names["cursor<nil>"] {
			expected = append(expected, "invalid_cursor")
		}
		assert.Subset(t, o.node["x-slugs"], expected, o.id)
	}
}

// Confirming is where the service co-signs: whatever can stand in the way of that is listed, and one confirm is like
// the other but for what a payout and an escrow have of their own.
func TestConfirmsOfPayoutsAndEscrowsListTheSameSlugs(t *testing.T) {
	slugs := map[string][]any{}
	for _, o := range operations(t, "dapi.yaml") {
		slugs[o.id], _ = o.node["x-slugs"].([]any)
	}
	for _, confirm := range []string{"ConfirmPayout", "ConfirmEscrowAction"} {
		assert.Subset(t, slugs[confirm], []any{
			"signature_invalid", "key_not_registered", "wallet_not_linked", "signer_not_attached",
			"signing_policy_refused",
			"approval_consumed", "approval_mismatch",
		}, confirm)
	}
	assert.Contains(t, slugs["ConfirmPayout"], "funding_attempt_expired")
	assert.NotContains(t, slugs["ConfirmPayout"], "approval_expired")
	assert.Subset(t, slugs["ConfirmEscrowAction"], []any{"approval_expired", "conflict"})
	assert.NotContains(t, slugs["ConfirmEscrowAction"], "funding_attempt_expired")
}

type operation struct {
	id, method, path string
	node             map[string]any
}

func operations(t *testing.T, name string) []operation {
	t.Helper()
	var found []operation
	for path, item := range object(source(t, name), "paths") {
		for method, node := range item.(map[string]any) {
			node := node.(map[string]any)
			id, _ := node["operationId"].(string)
			found = append(found, operation{id: id, method: strings.ToUpper(method), path: path, node: node})
		}
	}
	return found
}

func TestEveryAssumptionHasAReason(t *testing.T) {
	names, err := fs.Glob(openapi.Files, "*.yaml")
	require.NoError(t, err)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			walk("", source(t, name), func(pointer string, mapping map[string]any) {
				for _, key := range []string{"x-assumed", "x-assumed-values"} {
					mark, marked := mapping[key]
					if !marked {
						continue
					}
					switch mark := mark.(type) {
					case string:
						assert.NotEmpty(t, strings.TrimSpace(mark), pointer)
						assert.Equal(t, "x-assumed", key, pointer)
					case map[string]any:
						assert.NotEmpty(t, mark, pointer)
						for aspect, reason := range mark {
							text, _ := reason.(string)
							assert.NotEmpty(t, strings.TrimSpace(text), "%s: %s", pointer, aspect)
						}
					default:
						t.Errorf("%s: %s is %T", pointer, key, mark)
					}
				}
			})
		})
	}
}

// A field of a schema that is assumed as a whole says for itself why it is there.
func TestFieldsOfAssumedSchemasAreAssumed(t *testing.T) {
	for _, name := range descriptions {
		for schema, node := range object(source(t, name), "components", "schemas") {
			if _, whole := node.(map[string]any)["x-assumed"].(string); !whole {
				continue
			}
			for field, node := range object(node.(map[string]any), "properties") {
				assert.Contains(t, node, "x-assumed", "%s: %s.%s", name, schema, field)
			}
		}
	}
}

// A mark on one aspect of a node, such as its pattern, stands beside that aspect.
func TestAnAssumedAspectExists(t *testing.T) {
	for _, name := range descriptions {
		walk("", source(t, name), func(pointer string, mapping map[string]any) {
			marks, _ := mapping["x-assumed"].(map[string]any)
			node := mapping
			if schema := object(mapping, "schema"); schema != nil {
				node = schema
			}
			for _, aspect := range []string{"pattern", "minLength", "maxLength", "minimum", "maximum", "minItems",
				"maxItems", "default", "format", "nullable"} {
				if _, marked := marks[aspect]; marked {
					assert.Contains(t, node, aspect, "%s%s marks what is not there", name, pointer)
				}
			}
		})
	}
}

func TestEverySlugIsInTheCatalogue(t *testing.T) {
	known := map[string]bool{}
	for _, entry := range source(t, "errors.yaml")["slugs"].([]any) {
		known[entry.(map[string]any)["slug"].(string)] = true
	}
	require.Greater(t, len(known), 40)
	for _, name := range append([]string{"coverage.yaml"}, descriptions...) {
		walk("", source(t, name), func(pointer string, mapping map[string]any) {
			slugs, _ := mapping["x-slugs"].([]any)
			for _, slug := range slugs {
				assert.True(t, known[slug.(string)], "%s%s: %s", name, pointer, slug)
			}
		})
	}
}
