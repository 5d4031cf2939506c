package sandbox_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// payer is a world with a ready client that holds 100 USDC and has a wallet contact.
type payer struct {
	*session
	contact string
}

func newPayer(t testing.TB, options ...sandbox.Option) *payer {
	t.Helper()
	client := newWorld(t, options...).login().readyClient("acme@example.com")
	client.must(http.StatusCreated, "POST", "/sandbox/deposits", object{"amount": "100", "currency": "USDC"},
		"Idempotency-Key", "fund")
	return &payer{session: client, contact: client.walletContact()}
}

// book asks for a payout of an amount to the wallet contact.
func (p *payer) book(key, amount string) reply {
	p.t.Helper()
	var headers []string
	if key != "" {
		headers = []string{"Idempotency-Key", key}
	}
	return p.call("POST", "/payouts", object{"contactId": p.contact, "amount": amount, "currency": "USDC"}, headers...)
}

// balance is what the account holds, in USDC.
func (p *payer) balance() string {
	return p.host.Ledger().Balances[p.account]["USDC"].String()
}

func (p *payer) status(payout reply) string {
	p.t.Helper()
	return p.must(http.StatusOK, "GET", "/payouts/"+payout.body.text("id"), nil).body.text("status")
}

func (p *payer) move(key string, payout reply, to string) reply {
	p.t.Helper()
	return p.call("POST", "/sandbox/payouts/"+payout.body.text("id")+"/status", object{"status": to}, "Idempotency-Key",
		key)
}

// step lets the host's time pass until the next step of a payout.
func (p *payer) step() { p.host.Advance(time.Duration(p.host.Settings().PayoutStepAfter)) }

// Rule: idempotency.replay, idempotency.other-terms, idempotency.wallet-payout, idempotency.scope, idempotency.pattern
func TestReplayedBookingReturnsFirstResponse(t *testing.T) {
	p := newPayer(t)
	first := p.book("invoice-42", "20")
	require.Equal(t, http.StatusCreated, first.status)
	assert.NotContains(t, first.header, "Idempotency-Replayed")
	assert.Regexp(t, `^po_[a-z0-9]+:invoice-42$`, first.body.text("id"),
		"with a wallet contact the key is part of the id")

	again := p.book("invoice-42", "20.00")
	assert.Equal(t, http.StatusOK, again.status)
	assert.Equal(t, "true", again.header.Get("Idempotency-Replayed"))
	assert.Equal(t, first.body, again.body)

	other := p.book("invoice-42", "20.01")
	refused(t, http.StatusConflict, "idempotency_key_reused", other)
	assert.Equal(t, first.body.text("id"), other.body.text("error", "details", "payoutId"))

	deposit := p.call("POST", "/sandbox/deposits", object{"amount": "1", "currency": "USDC"}, "Idempotency-Key",
		"invoice-42")
	assert.Equal(t, http.StatusCreated, deposit.status, "the same key on another operation is no replay")
	refused(t, http.StatusBadRequest, "idempotency_key_invalid", p.book("in voice", "20"))
}

// Rule: idempotency.lifetimes, idempotency.derived
func TestDerivedKeyReplaysForTwoHoursAndAnExplicitOneForSevenDays(t *testing.T) {
	for key, lifetime := range map[string]time.Duration{"": 2 * time.Hour, "invoice-42": 7 * 24 * time.Hour} {
		p := newPayer(t)
		first := p.book(key, "20")
		require.Equal(t, http.StatusCreated, first.status)
		p.host.Advance(lifetime - time.Second)
		p.relogin()
		assert.Equal(t, first.body.text("id"), p.book(key, "20").body.text("id"))
		p.host.Advance(time.Second)
		anew := p.book(key, "20")
		assert.Equal(t, http.StatusCreated, anew.status)
		assert.NotEqual(t, first.body.text("id"), anew.body.text("id"))
	}
}

// relogin replaces the session after its tokens have expired.
func (p *payer) relogin() {
	p.t.Helper()
	fresh := p.login()
	p.access, p.refresh = fresh.access, fresh.refresh
}

// Rule: session.prepare-sign-confirm, ledger.progress
func TestPayoutIsFundedOnceAndSettles(t *testing.T) {
	p := newPayer(t)
	booked := p.book("invoice-42", "20")
	assert.Equal(t, "100", p.balance())

	confirmed := p.confirm(booked)
	require.Equal(t, http.StatusOK, confirmed.status, "%s", confirmed.raw)
	assert.Equal(t, "funding", confirmed.body.text("status"))
	assert.Nil(t, confirmed.body.at("approval"))
	assert.Equal(t, "80", p.balance())
	refused(t, http.StatusConflict, "funding_in_progress", p.confirm(booked))

	p.step()
	assert.Equal(t, "processing", p.status(booked))
	p.step()
	assert.Equal(t, "completed", p.status(booked))
	funded := p.confirm(booked)
	refused(t, http.StatusConflict, "already_funded", funded)
	assert.Equal(t, booked.body.text("id"), funded.body.text("error", "details", "payoutId"))
	assert.Equal(t, confirmed.body.text("transactionHash"), funded.body.text("error", "details", "transactionHash"))
	assert.Equal(t, "80", p.balance())
}

// After a lost response the caller repeats the call with the same key. The money is paid once.
func TestLostResponsesPayOnce(t *testing.T) {
	p := newPayer(t)
	lostBooking := p.host.Arm("POST", "/payouts", sandbox.DropAfterCommit())
	_, err := p.attempt("POST", "/payouts", object{"contactId": p.contact, "amount": "20", "currency": "USDC"},
		"Idempotency-Key", "invoice-42")
	require.Error(t, err)
	booked := p.book("invoice-42", "20")
	assert.Equal(t, "true", booked.header.Get("Idempotency-Replayed"))
	assert.Equal(t, 1, lostBooking.Consumed())

	p.host.Arm("POST", "/payouts/*/confirm", sandbox.DropAfterCommit())
	_, err = p.attempt("POST", "/payouts/"+booked.body.text("id")+"/confirm", object{
		"approvalId": booked.body.text("approval", "id"), "publicKey": p.key.public(t),
		"signature": p.key.sign(t, bytesOf(t, booked.body.text("approval", "payload"))),
	})
	require.Error(t, err)
	refused(t, http.StatusConflict, "funding_in_progress", p.confirm(booked))
	p.step()
	refused(t, http.StatusConflict, "already_funded", p.confirm(p.book("invoice-42", "20")))
	assert.Equal(t, "80", p.balance())
}

func TestConcurrentConfirmsFundOnce(t *testing.T) {
	p := newPayer(t)
	booked := p.book("invoice-42", "20")
	path := "/payouts/" + booked.body.text("id") + "/confirm"
	body := object{
		"approvalId": booked.body.text("approval", "id"), "publicKey": p.key.public(t),
		"signature": p.key.sign(t, bytesOf(t, booked.body.text("approval", "payload"))),
	}
	counted := concurrently(12, func(int) string { return p.call("POST", path, body).slug() })
	assert.Equal(t, map[string]int{"": 1, "funding_in_progress": 11}, counted)
	assert.Equal(t, "80", p.balance())
}

// Rule: lifetime.payout-approval
func TestExpiredApprovalIsRenewedByTheSameKey(t *testing.T) {
	p := newPayer(t)
	first := p.book("invoice-42", "20")
	p.host.Advance(120*time.Second - time.Millisecond)
	assert.Equal(t, "awaiting_approval", p.status(first))
	p.host.Advance(time.Millisecond)
	assert.Equal(t, "expired", p.status(first))
	refused(t, http.StatusConflict, "funding_attempt_expired", p.confirm(first))

	second := p.book("invoice-42", "20")
	assert.Equal(t, http.StatusOK, second.status)
	assert.Equal(t, first.body.text("id"), second.body.text("id"))
	assert.NotEqual(t, first.body.text("approval", "id"), second.body.text("approval", "id"))
	assert.NotEqual(t, first.body.text("quote", "expiresAt"), second.body.text("quote", "expiresAt"))
	refused(t, http.StatusConflict, "funding_attempt_expired", p.confirm(first))
	assert.Equal(t, http.StatusOK, p.confirm(second).status)
	assert.Equal(t, "80", p.balance())
}

// Rule: lifetime.price, lifetime.payout-approval
func TestPayoutPriceHoldsTwoMinutes(t *testing.T) {
	for after, slug := range map[time.Duration]string{119 * time.Second: "",
		121 * time.Second: "funding_attempt_expired"} {
		for _, destination := range []string{"wallet", "bank"} {
			p := newPayer(t)
			if destination == "bank" {
				p.contact = p.must(http.StatusCreated, "POST", "/contacts", object{"name": "Bob", "account": object{
					"accountType": "sepa", "iban": "DE89370400440532013000"}}).body.text("id")
			}
			booked := p.book("invoice-42", "20")
			require.Equal(t, http.StatusCreated, booked.status, "%s", booked.raw)
			created, err := time.Parse(time.RFC3339Nano, booked.body.text("createdAt"))
			require.NoError(t, err)
			ends, err := time.Parse(time.RFC3339Nano, booked.body.text("quote", "expiresAt"))
			require.NoError(t, err)
			assert.Equal(t, 2*time.Minute, ends.Sub(created), destination)

			p.host.Advance(after)
			confirmed := p.confirm(booked)
			if slug != "" {
				refused(t, http.StatusConflict, slug, confirmed)
				continue
			}
			assert.Equal(t, http.StatusOK, confirmed.status, "%s", confirmed.raw)
		}
	}
}

// Rule: lifetime.price
func TestExpiredQuoteIsRefusedWithValidApproval(t *testing.T) {
	p := newPayer(t,
		sandbox.WithSettings(func(s *sandbox.Settings) { s.QuoteLifetime = sandbox.Duration(30 * time.Second) }))
	first := p.book("invoice-42", "20")
	p.host.Advance(30 * time.Second)
	refused(t, http.StatusConflict, "quote_expired", p.confirm(first))
	assert.Equal(t, http.StatusOK, p.confirm(p.book("invoice-42", "20")).status)
}

func TestConfirmErrorsOverHTTP(t *testing.T) {
	p := newPayer(t)
	booked, another := p.book("one", "20"), p.book("two", "20")
	other := newSigner(t)
	payload := bytesOf(t, booked.body.text("approval", "payload"))
	sound := object{
		"approvalId": booked.body.text("approval", "id"), "publicKey": p.key.public(t),
		"signature": p.key.sign(t, payload),
	}
	with := func(name string, value any) object {
		changed := object{}
		for key, value := range sound {
			changed[key] = value
		}
		changed[name] = value
		return changed
	}
	for name, tc := range map[string]struct {
		body   object
		set    func(*sandbox.Settings)
		status int
		slug   string
	}{
		"another payout's approval": {with("approvalId", another.body.text("approval", "id")), nil, 409,
			"approval_mismatch"},
		"another key":             {with("publicKey", other.public(t)), nil, 403, "key_not_registered"},
		"another key's signature": {with("signature", other.sign(t, payload)), nil, 400, "signature_invalid"},
		"another message":         {with("signature", p.key.sign(t, []byte("{}"))), nil, 400, "signature_invalid"},
		"the policy": {sound, func(s *sandbox.Settings) {
			s.SigningPolicy = sandbox.SigningPolicyRefuse
		}, 403, "signing_policy_refused"},
		"a detached signer": {sound, func(s *sandbox.Settings) {
			s.SignerDetached = true
		}, 409, "signer_not_attached"},
	} {
		before := p.host.Settings()
		if tc.set != nil {
			require.NoError(t, p.host.Configure(tc.set))
		}
		refused(t, tc.status, tc.slug, p.call("POST", "/payouts/"+booked.body.text("id")+"/confirm", tc.body))
		assert.Equal(t, "100", p.balance(), name)
		require.NoError(t, p.host.Configure(func(s *sandbox.Settings) { *s = before }))
	}
	refused(t, http.StatusNotFound, "not_found", p.as("").confirm(booked))
	assert.Equal(t, http.StatusOK, p.confirm(booked).status)
}

func TestInsufficientBalanceIsRefusedAtConfirm(t *testing.T) {
	p := newPayer(t)
	booked := p.book("invoice-42", "100.000001")
	require.Equal(t, http.StatusCreated, booked.status)
	short := p.confirm(booked)
	refused(t, http.StatusConflict, "payout_not_fundable", short)
	assert.Equal(t, "100", short.body.text("error", "details", "available"))
}

// Rule: error.amount-precision, error.missing, status.422
func TestBookingErrorsOverHTTP(t *testing.T) {
	p := newPayer(t)
	sepa := p.must(http.StatusCreated, "POST", "/contacts", object{"name": "Bob", "account": object{
		"accountType": "sepa", "iban": "DE89370400440532013000"}}).body.text("id")
	for name, tc := range map[string]struct {
		body  object
		set   func(*sandbox.Settings)
		slug  string
		field string
		code  string
	}{
		"precision": {object{"contactId": sepa, "amount": "1.0000001", "currency": "USDC"}, nil,
			"validation_failed", "amount", "amount_precision"},
		"zero": {object{"contactId": sepa, "amount": "0", "currency": "USDC"}, nil, "validation_failed",
			"amount", "greater_than"},
		"missing": {object{"contactId": sepa, "currency": "USDC"}, nil, "validation_failed", "amount", "missing"},
		"misspelled": {object{"contactId": sepa, "amount": "5", "currency": "USDC", "memo": "x"}, nil,
			"validation_failed", "memo", "extra_forbidden"},
		"below the fee": {object{"contactId": sepa, "amount": "0.4", "currency": "USDC"}, nil, "validation_failed",
			"amount", "amount_below_fee"},
		"wrong chain": {object{"contactId": p.contact, "amount": "5", "currency": "USDC", "toChainId": 1}, nil,
			"validation_failed", "toChainId", "chain_mismatch"},
		"foreign id": {object{"contactId": "cl_1", "amount": "5", "currency": "USDC"}, nil, "invalid_id", "", ""},
		"nobody":     {object{"contactId": "ct_none", "amount": "5", "currency": "USDC"}, nil, "not_found", "", ""},
		"partner down": {object{"contactId": sepa, "amount": "5", "currency": "USDC"}, func(s *sandbox.Settings) {
			s.PartnerDown = true
		}, "provider_unavailable", "", ""},
		"method off": {object{"contactId": sepa, "amount": "5", "currency": "USDC"}, func(s *sandbox.Settings) {
			s.PayoutMethodsDisabled = []string{"sepa"}
		}, "contact_not_payable", "", ""},
		"no wallet": {object{"contactId": sepa, "amount": "5", "currency": "USDC"}, func(s *sandbox.Settings) {
			s.ClientReadyAfter = sandbox.Duration(time.Hour)
		}, "wallet_not_linked", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.set != nil {
				before := p.host.Settings()
				require.NoError(t, p.host.Configure(tc.set))
				defer func() { require.NoError(t, p.host.Configure(func(s *sandbox.Settings) { *s = before })) }()
			}
			answered := p.call("POST", "/payouts", tc.body)
			assert.Equal(t, tc.slug, answered.slug(), "%s", answered.raw)
			assert.Equal(t, tc.code, answered.fields()[tc.field])
		})
	}
}

func TestReopenedPriceCanBeWorse(t *testing.T) {
	p := newPayer(t)
	p.contact = p.must(http.StatusCreated, "POST", "/contacts", object{"name": "Bob", "account": object{
		"accountType": "sepa", "iban": "DE89370400440532013000"}}).body.text("id")
	first := p.book("invoice-42", "20")
	assert.Equal(t, "17.85", first.body.text("quote", "destinationAmount"))
	p.host.Advance(2 * time.Minute)
	require.NoError(t,
		p.host.Configure(func(s *sandbox.Settings) { s.PriceWorsening = decimal.RequireFromString("0.02") }))
	assert.Equal(t, "17.49", p.book("invoice-42", "20").body.text("quote", "destinationAmount"))
}

// newBankPayer is a payer whose contact has a bank account, so that its payouts have a fee and a rate.
func newBankPayer(t testing.TB, change func(*sandbox.Settings)) *payer {
	t.Helper()
	p := newPayer(t, sandbox.WithSettings(change))
	p.contact = p.must(http.StatusCreated, "POST", "/contacts", object{"name": "Bob", "account": object{
		"accountType": "sepa", "iban": "DE89370400440532013000"}}).body.text("id")
	return p
}

// price is the rate and the fee of a booked payout.
func price(booked reply) string {
	return booked.body.text("quote", "rate") + " " + booked.body.text("quote", "fee")
}

// Each price of a payout has its own drift. Another host with the same seed has the same drifts, in any order of
// requests.
func TestPriceDrift(t *testing.T) {
	drifting := func(seed int64) func(*sandbox.Settings) {
		return func(s *sandbox.Settings) {
			s.PriceDrift, s.Seed = decimal.RequireFromString("0.02"), seed
		}
	}
	usual := decimal.RequireFromString("0.9154")
	first, second, other := newBankPayer(t, drifting(7)), newBankPayer(t, drifting(7)), newBankPayer(t, drifting(8))
	prices := map[string]bool{}
	const payments = 20
	for i := range payments {
		booked := first.book(fmt.Sprint("k", i), "2")
		rate := decimal.RequireFromString(booked.body.text("quote", "rate"))
		fee := decimal.RequireFromString(booked.body.text("quote", "fee"))
		assert.LessOrEqual(t, rate.Sub(usual).Abs().Div(usual).InexactFloat64(), 0.02)
		assert.Equal(t, rate.LessThan(usual), fee.GreaterThan(decimal.RequireFromString("0.5")), "both get worse")
		assert.Equal(t, price(booked), price(first.book(fmt.Sprint("k", i), "2")),
			"a replay has the price of the first")
		prices[price(booked)] = true
	}
	assert.Greater(t, len(prices), payments/2)
	same := 0
	for i := payments - 1; i >= 0; i-- {
		booked := second.book(fmt.Sprint("k", i), "2")
		assert.True(t, prices[price(booked)], "k%d", i)
		if price(booked) == price(other.book(fmt.Sprint("k", i), "2")) {
			same++
		}
	}
	assert.Less(t, same, payments/2, "another seed has other prices")

	before := price(first.book("k1", "2"))
	first.host.Advance(2 * time.Minute)
	assert.NotEqual(t, before, price(first.book("k1", "2")), "a new price drifts anew")
}

func TestFeeIncrease(t *testing.T) {
	increase := func(s *sandbox.Settings) { s.FeeIncrease = decimal.RequireFromString("0.25") }
	assert.Equal(t, "0.75", newBankPayer(t, increase).book("k", "20").body.text("quote", "fee"))
	direct := newPayer(t, sandbox.WithSettings(increase)).book("k", "20")
	assert.Equal(t, "0", direct.body.text("quote", "fee"))
}

// countEnds pays some payments of one USDC, lets them end, and counts how.
func (p *payer) countEnds(payments int) map[string]int {
	p.t.Helper()
	for i := range payments {
		require.Equal(p.t, http.StatusOK, p.confirm(p.book(fmt.Sprint("k", i), "1")).status)
	}
	p.step()
	p.step()
	ended := map[string]int{}
	for i := range payments {
		ended[p.status(p.book(fmt.Sprint("k", i), "1"))]++
	}
	return ended
}

func TestFailOneInAndRefundOneIn(t *testing.T) {
	outcomes := func(s *sandbox.Settings) { s.FailOneIn, s.RefundOneIn, s.Seed = 4, 3, 3 }
	p := newPayer(t, sandbox.WithSettings(outcomes))
	ended := p.countEnds(60)
	assert.Equal(t, ended, newPayer(t, sandbox.WithSettings(outcomes)).countEnds(60), "by the keys alone")
	assert.Equal(t, 60, ended["failed"]+ended["refunded"]+ended["completed"], ended)
	assert.InDelta(t, 15, ended["failed"], 8)
	assert.InDelta(t, 15, ended["refunded"], 8)
	assert.Equal(t, fmt.Sprint(100-ended["completed"]), p.balance())
	for currency, sum := range p.host.Ledger().Sums {
		assert.True(t, sum.IsZero(), currency)
	}
	other := newPayer(t, sandbox.WithSettings(outcomes), sandbox.WithSettings(func(s *sandbox.Settings) { s.Seed = 4 }))
	assert.NotEqual(t, ended, other.countEnds(60))
}

// A payout of a named amount is completed, stays so for a week, and then comes back.
func TestFailAmountAndRefundAmount(t *testing.T) {
	p := newPayer(t, sandbox.WithControl())
	require.Equal(t, http.StatusOK, p.world.call("PUT", "/_host/settings", object{"failAmount": "3",
		"refundAmount": "4.00", "refundAfter": "168h", "returnAfter": "1h", "forgetFinishedAfter": "24h"}).status)
	paid, failing, returning := p.book("paid", "2"), p.book("failing", "3"), p.book("returning", "4")
	for _, booked := range []reply{paid, failing, returning} {
		require.Equal(t, http.StatusOK, p.confirm(booked).status)
	}
	p.step()
	assert.Equal(t, "processing", p.status(failing))
	p.step()
	assert.Equal(t, "completed", p.status(paid))
	assert.Equal(t, "failed", p.status(failing))
	assert.Equal(t, "completed", p.status(returning))
	assert.Equal(t, "94", p.balance())

	p.host.Advance(7*24*time.Hour - time.Nanosecond)
	p.session = p.loginAs(p.email, p.key).as(p.account)
	assert.Equal(t, "completed", p.status(returning), "it is not forgotten before it comes back")
	refused(t, http.StatusNotFound, "not_found", p.call("GET", "/payouts/"+paid.body.text("id"), nil))
	p.host.Advance(time.Millisecond)
	assert.Equal(t, "refunded", p.status(returning))
	assert.Equal(t, "94", p.balance(), "the money is on its way")
	p.host.Advance(time.Hour)
	p.session = p.loginAs(p.email, p.key).as(p.account)
	attributed, amounts := p.refunds()
	assert.Equal(t, []string{returning.body.text("id")}, attributed)
	assert.Equal(t, []string{"4"}, amounts)
	assert.Equal(t, "98", p.balance())
}

func TestHostMovePayout(t *testing.T) {
	p := newPayer(t, sandbox.WithControl())
	first, second := p.book("first", "2"), p.book("second", "3")
	refused(t, http.StatusConflict, "quote_not_submitted",
		withoutRequestID(p.world.call("POST", "/_host/payouts/"+first.body.text("id"), object{"status": "failed"})))
	for _, booked := range []reply{first, second} {
		require.Equal(t, http.StatusOK, p.confirm(booked).status)
	}
	require.NoError(t, p.host.MovePayout(first.body.text("id"), "failed"))
	assert.Equal(t, "failed", p.status(first))
	moved := p.world.call("POST", "/_host/payouts/"+second.body.text("id"), object{"status": "refunded"})
	assert.Equal(t, http.StatusNoContent, moved.status)
	assert.Equal(t, "refunded", p.status(second))
	assert.Equal(t, "100", p.balance())

	assert.ErrorContains(t, p.host.MovePayout("po_none", "failed"), "not_found")
	assert.ErrorContains(t, p.host.MovePayout(first.body.text("id"), "completed"), "conflict")
	assert.ErrorContains(t, p.host.MovePayout(first.body.text("id"), "lost"), "lost")
}

// withoutRequestID gives a control call's refusal what refusals of the service have.
func withoutRequestID(got reply) reply {
	got.header.Set("X-Request-ID", "none")
	return got
}

// If many payouts are returned at the same time, each is matched once.
func TestManyReturnsAreMatched(t *testing.T) {
	c := newPayingClient(t, sandbox.WithAudit(), sandbox.WithSettings(func(s *sandbox.Settings) {
		s.PayoutStepAfter, s.RefundOneIn, s.ReturnAfter = 0, 1, sandbox.Duration(time.Hour)
		s.ReturnFee = decimal.RequireFromString("0.1")
	}))
	const payments = 300
	for i := range payments {
		c.pay(fmt.Sprint("k", i))
	}
	c.host.Advance(time.Hour)
	returned := 0
	for payment := range c.host.Audit() {
		returned += payment.Returns
	}
	assert.Zero(t, returned, "nothing happens before the next request")
	assert.Equal(t, "99999970", c.host.Ledger().Balances[c.account]["USDC"].String())
	for payment := range c.host.Audit() {
		returned += payment.Returns
		assert.Equal(t, "12.4", payment.Returned.String())
	}
	assert.Equal(t, payments, returned)
}
