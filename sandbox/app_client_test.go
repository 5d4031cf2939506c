package sandbox_test

import (
	"net/http"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// bearer is a caller of the app API or of the reference endpoints, without any SDK.
type bearer struct {
	*world
	token string
}

// app calls with the app key of the host's credentials.
func (w *world) app() bearer { return bearer{w, w.host.Credentials().APIKey.Reveal()} }

// reference calls with the access token of the host's credentials.
func (w *world) reference() bearer { return bearer{w, w.host.Credentials().AccessToken.Reveal()} }

// appWith calls with an app key of its own.
func (w *world) appWith(registration sandbox.AppKeyRegistration) bearer {
	w.t.Helper()
	key, err := w.host.RegisterAppKey(registration)
	require.NoError(w.t, err)
	return bearer{w, key.Key.Reveal()}
}

func (b bearer) call(method, path string, body any, headers ...string) reply {
	b.t.Helper()
	return b.world.call(method, path, body, append([]string{"Authorization", "Bearer " + b.token}, headers...)...)
}

// must is call for requests that are to succeed with this status.
func (b bearer) must(status int, method, path string, body any, headers ...string) reply {
	b.t.Helper()
	answered := b.call(method, path, body, headers...)
	require.Equal(b.t, status, answered.status, "%s %s: %s", method, path, answered.raw)
	return answered
}

// fund credits the account in USDC, in credits as large as the host gives.
func (b bearer) fund(hundreds int) {
	b.t.Helper()
	me := b.login()
	for range hundreds {
		me.must(http.StatusCreated, "POST", "/sandbox/deposits", object{"amount": "100", "currency": "USDC"},
			"Idempotency-Key", "fund-"+decimal.NewFromInt(int64(len(b.host.Ledger().Entries))).String())
	}
}

// wallet saves a wallet as a contact of the app API.
func (b bearer) wallet(chain, token string) string {
	b.t.Helper()
	return b.must(http.StatusCreated, "POST", "/user/contact",
		object{"name": "Bob", "relationship": "external", "account": object{
			"walletAddress": "0x52908400098527886E0F7030069857D2E4169EE7", "chainId": chain, "currency": token,
		}}).body.text("id")
}

// items are the entries of a list.
func (r reply) items() []object {
	list, _ := r.body.at("items").([]any)
	items := make([]object, len(list))
	for i, item := range list {
		items[i] = item.(map[string]any)
	}
	return items
}

// details are what failed in a request to the reference endpoints: the last part of each place, and its type.
func (r reply) details() map[string]string {
	found := map[string]string{}
	list, _ := r.body.at("detail").([]any)
	for _, item := range list {
		failed := object(item.(map[string]any))
		place, _ := failed.at("loc").([]any)
		key := ""
		for i, part := range place {
			if i > 0 {
				key += "."
			}
			key += part.(string)
		}
		found[key] = failed.text("type")
	}
	return found
}

// balanced asserts that the books sum to zero.
func balanced(t testing.TB, w *world) {
	t.Helper()
	for currency, sum := range w.host.Ledger().Sums {
		assert.True(t, sum.IsZero(), "%s sums to %s", currency, sum)
	}
}

func dollars(text string) *decimal.Decimal {
	amount := decimal.RequireFromString(text)
	return &amount
}
