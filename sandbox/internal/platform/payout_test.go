package platform_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox/deployment"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
	"github.com/moneymovement/moneymovement-go/signing"
)

func TestQuotes(t *testing.T) {
	t.Parallel()
	const (
		swift   = `{"name":"S","account":{"accountType":"swift","bic":"EXAMDEFF","iban":"DE89370400440532013000"}}`
		fedwire = `{"name":"F","account":{"accountType":"fedwire","accountNumber":"1","routingNumber":"021000021"}}`
		yen     = `{"name":"Y","account":{"accountType":"jpy_local","accountNumber":"1"}}`
	)
	for name, tc := range map[string]struct {
		contact   string
		asset     platformwire.Asset
		amount    string
		worsening string
		// fee in the asset, rate, and what arrives
		fee, rate, arrives, currency string
	}{
		"dollars by ACH":     {achContact, platformwire.AssetUSDC, "20", "0", "0.5", "1", "19.5", "USD"},
		"dollars by Fedwire": {fedwire, platformwire.AssetUSDC, "20", "0", "5", "1", "15", "USD"},
		"dollars by SWIFT":   {swift, platformwire.AssetUSDC, "20", "0", "15", "1", "5", "USD"},
		"dollars to euros":   {sepaContact, platformwire.AssetUSDC, "20", "0", "0.5", "0.9154", "17.85", "EUR"},
		"euros by SEPA":      {sepaContact, platformwire.AssetEURC, "20", "0", "0.5", "1", "19.5", "EUR"},
		"euros to dollars": {achContact, platformwire.AssetEURC, "20", "0", "0.5", "1.08152174", "21.08",
			"USD"},
		"yen have no minor unit": {yen, platformwire.AssetUSDC, "20", "0", "0.5", "154.026", "3003", "JPY"},
		"wallet on Base": {baseContact, platformwire.AssetUSDC, "20.123456", "0", "0", "1", "20.123456",
			"USDC"},
		"wallet on Base, exchange": {baseContact, platformwire.AssetEURC, "20", "0", "0.3", "1.08152174", "21.305978",
			"USDC"},
		"another chain":        {farContact, platformwire.AssetUSDC, "20", "0", "0.3", "1", "19.7", "USDT"},
		"a worse price":        {achContact, platformwire.AssetUSDC, "20", "0.02", "0.5", "0.98", "19.11", "USD"},
		"no worse when direct": {baseContact, platformwire.AssetUSDC, "20", "0.02", "0", "1", "20", "USDC"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.set(func(s *deployment.Settings) { s.PriceWorsening = decimal.RequireFromString(tc.worsening) })
			body := order(b.contact(wire.Self, tc.contact).ID, tc.amount)
			body.Currency = tc.asset
			quote := b.booked(wire.Self, "", body).Quote
			require.NotNil(t, quote)
			assert.Equal(t, tc.amount, quote.SourceAmount.String())
			assert.Equal(t, string(tc.asset), quote.SourceCurrency)
			assert.Equal(t, tc.fee, quote.Fee.String())
			assert.Equal(t, tc.rate, quote.Rate.String())
			assert.Equal(t, tc.arrives, quote.DestinationAmount.String())
			assert.Equal(t, tc.currency, quote.DestinationCurrency)
			assert.Equal(t, b.clock.Now().Add(2*time.Minute), quote.ExpiresAt)
		})
	}
}

func TestBookingRefusals(t *testing.T) {
	t.Parallel()
	with := func(change func(*platformwire.PayoutCreate)) func(*platformwire.PayoutCreate) { return change }
	amount := func(amount string) func(*platformwire.PayoutCreate) {
		return with(func(p *platformwire.PayoutCreate) { p.Amount = decimal.RequireFromString(amount) })
	}
	field := func(code string) string { return "validation_failed " + code }
	for name, tc := range map[string]struct {
		contact string
		change  func(*platformwire.PayoutCreate)
		set     func(*deployment.Settings)
		want    string
	}{
		"zero":           {sepaContact, amount("0"), nil, field("greater_than")},
		"negative":       {sepaContact, amount("-1"), nil, field("greater_than")},
		"seven decimals": {sepaContact, amount("1.0000001"), nil, field("amount_precision")},
		"many digits": {sepaContact, amount("1000000000000000000000000000000000000"), nil,
			field("decimal_max_digits")},
		"exponent":          {sepaContact, amount("1e9000"), nil, field("decimal_max_digits")},
		"tiny exponent":     {sepaContact, amount("1e-9000"), nil, field("decimal_max_digits")},
		"less than the fee": {sepaContact, amount("0.5"), nil, field("amount_below_fee")},
		"from another chain": {farContact, with(func(p *platformwire.PayoutCreate) { p.FromChainID = 1 }), nil,
			field("chain_mismatch")},
		"to another chain": {farContact, with(func(p *platformwire.PayoutCreate) { p.ToChainID = 137 }), nil,
			field("chain_mismatch")},
		"bank on a chain": {sepaContact, with(func(p *platformwire.PayoutCreate) { p.ToChainID = 1 }), nil,
			field("chain_mismatch")},
		"unknown contact": {sepaContact, with(func(p *platformwire.PayoutCreate) { p.ContactID = "ct_none" }), nil,
			"not_found"},
		"partner down": {sepaContact, nil, func(s *deployment.Settings) {
			s.PartnerDown = true
		}, "provider_unavailable"},
		"signer detached": {sepaContact, nil, func(s *deployment.Settings) {
			s.SignerDetached = true
		}, "signer_not_attached"},
		"no wallet yet": {sepaContact, nil, func(s *deployment.Settings) {
			s.ClientReadyAfter = deployment.Duration(time.Hour)
		}, "wallet_not_linked"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			client := b.readyClient("acme@example.com")
			body := order(b.contact(client, tc.contact).ID, "20")
			if tc.change != nil {
				tc.change(&body)
			}
			if tc.set != nil {
				b.set(tc.set)
			}
			_, err := b.book(client, "", body)
			var refusal *wire.Refusal
			require.ErrorAs(t, err, &refusal)
			got := refusal.Code
			if fields, ok := refusal.Details["fields"].([]wire.Field); ok {
				got += " " + fields[0].Code
			}
			assert.Equal(t, tc.want, got)
		})
	}
}

func TestPartnerDownDoesNotAffectWalletPayouts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.set(func(s *deployment.Settings) { s.PartnerDown = true })
	body := order(b.contact(wire.Self, farContact).ID, "20")
	body.FromChainID, body.ToChainID = 8453, 1
	booked := b.booked(wire.Self, "", body)
	assert.Equal(t, platformwire.PayoutStatusAwaitingApproval, booked.Status)
	assert.EqualValues(t, 1, booked.ToChainID)
}

// The approval of each kind of payout passes the checks of package signing.
func TestApprovalPayloadMatchesBooking(t *testing.T) {
	t.Parallel()
	key, err := signing.Generate()
	require.NoError(t, err)
	b := newBench(t)
	client := b.fundedClient("acme@example.com")
	for account, contact := range map[string]string{wire.Self: sepaContact, client: farContact} {
		body := order(b.contact(account, contact).ID, "20.50")
		want := signing.Intent{Destination: signing.Destination{ContactID: body.ContactID}}
		if contact == farContact {
			body.ToChainID = 1
			want.Destination.ChainID = "1"
		}
		payout := b.booked(account, "invoice-42", body)
		want.Operation, want.ResourceID, want.Account = "payout.fund", payout.ID, account
		want.Amount, want.Currency = decimal.RequireFromString("20.5"), "USDC"
		approval := signing.Approval{ID: payout.Approval.ID, Payload: payout.Approval.Payload,
			ExpiresAt: payout.Approval.ExpiresAt}
		_, err := signing.SignApproval(context.Background(), key, approval, want, b.clock.Now())
		require.NoError(t, err)
		assert.Equal(t, b.clock.Now().Add(120*time.Second), payout.Approval.ExpiresAt)

		var members map[string]any
		require.NoError(t, json.Unmarshal(payout.Approval.Payload, &members))
		assert.Len(t, members, 9)
	}
}

func TestPayoutIsIdempotentByKey(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	client := b.fundedClient("acme@example.com")
	bank, wallet := b.contact(client, sepaContact), b.contact(client, baseContact)
	requested := order(bank.ID, "20")

	first, err := b.book(client, "invoice-42", requested)
	require.NoError(t, err)
	assert.Equal(t, http.StatusCreated, first.Code)
	assert.Equal(t, "invoice-42", read[platformwire.Payout](t, first).IdempotencyKey)

	sameTerms := requested
	sameTerms.Amount = decimal.RequireFromString("20.000")
	sameTerms.ContactID = bank.ID[len("ct_"):]
	again, err := b.book(client, "invoice-42", sameTerms)
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, again.Code)
	assert.True(t, again.replayed())
	assert.Equal(t, first.Body.String(), again.Body.String(), "the first answer")

	other := requested
	other.Purpose = "another"
	_, err = b.book(client, "invoice-42", other)
	assert.Equal(t, read[platformwire.Payout](t, first).ID,
		details[string](t, err, "idempotency_key_reused", "payoutId"))

	inAnother := order(b.contact(wire.Self, sepaContact).ID, "20")
	elsewhere, err := b.book(wire.Self, "invoice-42", inAnother)
	require.NoError(t, err)
	assert.False(t, elsewhere.replayed(), "the scope is (account, operation)")

	assert.Regexp(t, `^po_[a-z0-9]+$`, read[platformwire.Payout](t, first).ID)
	assert.Regexp(t, `^po_[a-z0-9]+:invoice-43$`, b.booked(client, "invoice-43", order(wallet.ID, "5")).ID)
}

func TestIdempotencyKeyLifetimes(t *testing.T) {
	t.Parallel()
	for key, lifetime := range map[string]time.Duration{"": 2 * time.Hour, "invoice-42": 7 * 24 * time.Hour} {
		b := newBench(t)
		requested := order(b.contact(wire.Self, sepaContact).ID, "20")
		first := b.booked(wire.Self, key, requested)
		assert.Regexp(t, `^[A-Za-z0-9._:-]{1,128}$`, first.IdempotencyKey)

		b.clock.Advance(lifetime - time.Millisecond)
		again, err := b.book(wire.Self, key, requested)
		require.NoError(t, err)
		assert.True(t, again.replayed())
		assert.Equal(t, first.ID, read[platformwire.Payout](t, again).ID)

		b.clock.Advance(time.Millisecond)
		anew, err := b.book(wire.Self, key, requested)
		require.NoError(t, err)
		assert.False(t, anew.replayed())
		assert.NotEqual(t, first.ID, read[platformwire.Payout](t, anew).ID)
		assert.Equal(t, first.IdempotencyKey, read[platformwire.Payout](t, anew).IdempotencyKey)
	}
}

func TestRefusedBookingDoesNotUseItsKey(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	requested := order(b.contact(wire.Self, sepaContact).ID, "20")
	b.set(func(s *deployment.Settings) { s.PartnerDown = true })
	_, err := b.book(wire.Self, "invoice-42", requested)
	refusalOf(t, err, "provider_unavailable")
	b.set(func(s *deployment.Settings) { s.PartnerDown = false })
	requested.Purpose = "other terms"
	b.booked(wire.Self, "invoice-42", requested)
}

func TestExpiredPayoutIsReopenedByItsKey(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	client := b.fundedClient("acme@example.com")
	requested := order(b.contact(client, sepaContact).ID, "20")
	first := b.booked(client, "invoice-42", requested)

	b.clock.Advance(120*time.Second - time.Millisecond)
	assert.Equal(t, platformwire.PayoutStatusAwaitingApproval, b.payout(client, first.ID).Status)
	b.clock.Advance(time.Millisecond)
	assert.Equal(t, platformwire.PayoutStatusExpired, b.payout(client, first.ID).Status)
	_, err := b.confirm(client, first)
	refusalOf(t, err, "funding_attempt_expired")

	b.set(func(s *deployment.Settings) { s.PriceWorsening = decimal.RequireFromString("0.1") })
	reopened, err := b.book(client, "invoice-42", requested)
	require.NoError(t, err)
	assert.True(t, reopened.replayed())
	second := read[platformwire.Payout](t, reopened)
	assert.Equal(t, first.ID, second.ID)
	assert.Equal(t, first.CreatedAt, second.CreatedAt)
	assert.NotEqual(t, first.Approval.ID, second.Approval.ID)
	assert.True(t, second.Quote.DestinationAmount.LessThan(first.Quote.DestinationAmount), "a fresh price")
	assert.Equal(t, platformwire.PayoutStatusAwaitingApproval, b.payout(client, first.ID).Status)

	_, err = b.confirm(client, first)
	refusalOf(t, err, "funding_attempt_expired")
	_, err = b.confirm(client, second)
	require.NoError(t, err)
}

func TestPriceCanExpireBeforeTheApproval(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.set(func(s *deployment.Settings) { s.QuoteLifetime = deployment.Duration(30 * time.Second) })
	client := b.fundedClient("acme@example.com")
	requested := order(b.contact(client, sepaContact).ID, "20")
	first := b.booked(client, "invoice-42", requested)

	b.clock.Advance(30 * time.Second)
	_, err := b.confirm(client, first)
	refusalOf(t, err, "quote_expired")
	second := b.booked(client, "invoice-42", requested)
	assert.Equal(t, first.ID, second.ID)
	_, err = b.confirm(client, second)
	require.NoError(t, err)

	third := b.booked(client, "invoice-43", requested)
	b.clock.Advance(120 * time.Second)
	_, err = b.confirm(client, third)
	refusalOf(t, err, "funding_attempt_expired")
}
