package dapi_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// What a text says of earlier calls.
const (
	paidNothing   = "this call paid nothing"
	earlier       = "an earlier call with this key may have paid"
	howToSay      = "dapi.FirstUse"
	sameTerms     = "the same terms"
	outcomeIsOpen = "outcome unknown"
)

// assertInOrder asserts that a text has all parts, one after the other.
func assertInOrder(t *testing.T, text string, parts ...string) {
	t.Helper()
	rest := text
	for _, part := range parts {
		_, after, found := strings.Cut(rest, part)
		if !assert.True(t, found, "%q is not there, or not in its place, in: %s", part, text) {
			return
		}
		rest = after
	}
}

// Input that the same call can never pass needs a decision, by its own type, whatever earlier calls did. A doubt would
// ask for the same call for ever.
func TestInputThatNeverPassesNeedsADecision(t *testing.T) {
	answer := func(status int, slug string) func(*payWorld) {
		return func(w *payWorld) { w.Host.Arm("POST", bookPath, sandbox.Respond(status, slug)) }
	}
	for name, c := range map[string]struct {
		arrange func(*payWorld)
		typed   func(t *testing.T, err error)
	}{
		"refused by the SDK": {
			func(w *payWorld) { w.asked.Amount = amount("-1") },
			func(t *testing.T, err error) { t.Helper(); as[*errors.InvalidInput](t, err) },
		},
		"decimals": {
			func(w *payWorld) { w.asked.Amount = amount("1.0000001") },
			func(t *testing.T, err error) { t.Helper(); as[*errors.ValidationFailed](t, err) },
		},
		"validation_failed": {
			answer(http.StatusUnprocessableEntity, "validation_failed"),
			func(t *testing.T, err error) { t.Helper(); as[*errors.ValidationFailed](t, err) },
		},
		"invalid_request": {
			answer(http.StatusBadRequest, "invalid_request"),
			func(t *testing.T, err error) { t.Helper(); as[*errors.InvalidRequest](t, err) },
		},
		"invalid_id": {
			answer(http.StatusBadRequest, "invalid_id"),
			func(t *testing.T, err error) { t.Helper(); as[*errors.InvalidID](t, err) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Run("the first use", func(t *testing.T) {
				w := newPayWorld(t)
				c.arrange(w)
				payout, err := w.pay(dapi.FirstUse())
				c.typed(t, err)
				assert.Equal(t, dapi.PaymentNeedsDecision, dapi.PaymentStateOf(payout, err))
				assert.False(t, dapi.MayHavePaid(payout, err), "%v", err)
				assert.NotContains(t, err.Error(), earlier)
			})
			t.Run("nothing is said of earlier calls", func(t *testing.T) {
				w := newPayWorld(t)
				asked := w.asked
				c.arrange(w)
				payout, err := w.pay()
				c.typed(t, err)
				assert.Equal(t, dapi.PaymentNeedsDecision, dapi.PaymentStateOf(payout, err))
				assert.True(t, dapi.MayHavePaid(payout, err), "%v", err)
				assertInOrder(t, err.Error(), paidNothing, earlier, howToSay)
				assert.NotContains(t, err.Error(), sameTerms)

				w.asked = asked // corrected
				_, err = w.pay(dapi.FirstUse())
				require.NoError(t, err, "the key is free for corrected terms")
				assert.Equal(t, 1, w.Fundings())
			})
			t.Run("an earlier call may have paid", func(t *testing.T) {
				if name == "decimals" {
					t.Skip("these are other terms, which the key does not allow")
				}
				w := newPayWorld(t)
				w.loseConfirm()
				payout, err := w.pay(dapi.FirstUse())
				w.assertInDoubt(t, payout, err)
				w.hideReads()
				c.arrange(w)
				payout, err = w.pay(dapi.FirstUse())
				assert.True(t, dapi.MayHavePaid(payout, err), "%v", err)
				assert.NotEqual(t, dapi.PaymentNotPaid, dapi.PaymentStateOf(payout, err))
				assertInOrder(t, err.Error(), paidNothing, earlier)
				assert.NotContains(t, err.Error(), howToSay, "it would have no effect")
			})
		})
	}
}

// loseConfirm loses the responses to all confirms of a call, and refuses the reads that look for what they did.
func (w *payWorld) loseConfirm() {
	w.Host.Arm("POST", confirmPath, sandbox.DropAfterCommit().Times(4))
	w.hideReads()
}

// hideReads refuses the next reads of payouts and of the ledger.
func (w *payWorld) hideReads() {
	w.Host.Arm("GET", "/payouts/*", sandbox.Respond(http.StatusForbidden, "forbidden").Times(2))
	w.Host.Arm("GET", "/transactions", sandbox.Respond(http.StatusForbidden, "forbidden").Times(2))
}

// A refusal says first that this call paid nothing and why, then what is known of earlier calls. It never asks for a
// correction and for the same terms at once.
func TestARefusalInDoubtSaysWhatToDo(t *testing.T) {
	for slug, status := range map[string]int{
		"not_found": 404, "contact_not_payable": 409, "payout_not_fundable": 409, "forbidden": 403, "gone": 410,
		"rail_requirements_unmet": 422, "wallet_not_linked": 409, "method_not_allowed": 405,
	} {
		t.Run(slug, func(t *testing.T) {
			w := newPayWorld(t)
			w.Host.Arm("POST", bookPath, sandbox.Respond(status, slug))
			payout, err := w.pay()
			w.assertInDoubt(t, payout, err)
			text := err.Error()
			assertInOrder(t, text, paidNothing, slug, earlier, howToSay)
			assert.NotContains(t, text, outcomeIsOpen, "this call paid nothing, and that is known")
			for _, correction := range []string{"correct", "check the id", "change the request"} {
				assert.NotContains(t, text, correction)
			}

			w.Host.Arm("POST", bookPath, sandbox.Respond(status, slug))
			payout, err = w.pay(dapi.FirstUse()) // as the text says
			assert.Equal(t, dapi.PaymentNotPaid, dapi.PaymentStateOf(payout, err), "%v", err)
			assert.True(t, errors.HasCode(err, errors.Code(slug)), "%v", err)
			assert.NotContains(t, err.Error(), earlier)
		})
	}
}

// A request that never reached the service paid nothing.
func TestNobodyListensAtTheFirstUse(t *testing.T) {
	w := newPayWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	payout, err := w.account.Payouts.Pay(ctx, w.asked, "invoice-42")
	w.ended(err)
	w.assertInDoubt(t, payout, err)
	assertInOrder(t, err.Error(), paidNothing, earlier, howToSay)
	payout, err = w.account.Payouts.Pay(ctx, w.asked, "invoice-42", dapi.FirstUse())
	w.ended(err)
	assert.Equal(t, dapi.PaymentNotPaid, dapi.PaymentStateOf(payout, err), "%v", err)
}
