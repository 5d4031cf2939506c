package platform_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox/deployment"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

func TestPayoutSettlesOnHostClock(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	client := b.fundedClient("acme@example.com")
	booked := b.booked(client, "", order(b.contact(client, achContact).ID, "20"))
	assert.Equal(t, "100", b.balance(client, platformwire.AssetUSDC), "booking reserves nothing")

	confirmed, err := b.confirm(client, booked)
	require.NoError(t, err)
	assert.Equal(t, platformwire.PayoutStatusFunding, confirmed.Status)
	assert.Nil(t, confirmed.Approval, "absent once funded")
	assert.Regexp(t, `^0x[0-9a-f]{64}$`, confirmed.TransactionHash)
	assert.Equal(t, "80", b.balance(client, platformwire.AssetUSDC))
	assert.Equal(t, "20", b.balance("clearing", platformwire.AssetUSDC))
	_, err = b.confirm(client, booked)
	refusalOf(t, err, "funding_in_progress")

	b.step()
	assert.Equal(t, platformwire.PayoutStatusProcessing, b.payout(client, booked.ID).Status)
	_, err = b.confirm(client, booked)
	assert.Equal(t, booked.ID, details[string](t, err, "already_funded", "payoutId"))
	assert.Equal(t, confirmed.TransactionHash, details[string](t, err, "already_funded", "transactionHash"))

	b.step()
	assert.Equal(t, platformwire.PayoutStatusCompleted, b.payout(client, booked.ID).Status)
	assert.Equal(t, "0", b.balance("clearing", platformwire.AssetUSDC))
	assert.Equal(t, "0.5", b.balance("fees", platformwire.AssetUSDC))
	b.clock.Advance(time.Hour)
	_, err = b.confirm(client, booked)
	refusalOf(t, err, "already_funded")
}

func TestAllDuePayoutStepsHappenAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	client := b.fundedClient("acme@example.com")
	booked := b.booked(client, "", order(b.contact(client, achContact).ID, "20"))
	_, err := b.confirm(client, booked)
	require.NoError(t, err)
	funded := b.clock.Now()
	b.clock.Advance(time.Hour)
	assert.Equal(t, platformwire.PayoutStatusCompleted, b.payout(client, booked.ID).Status)
	entries := b.Ledger().Entries
	assert.Equal(t, funded.Add(600*time.Millisecond), entries[len(entries)-1].At, "settled when it was due")
}

func TestReplayAfterFundingReturnsFirstResponse(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	client := b.fundedClient("acme@example.com")
	requested := order(b.contact(client, achContact).ID, "20")
	first, err := b.book(client, "invoice-42", requested)
	require.NoError(t, err)
	_, err = b.confirm(client, read[platformwire.Payout](t, first))
	require.NoError(t, err)
	b.clock.Advance(time.Hour)
	again, err := b.book(client, "invoice-42", requested)
	require.NoError(t, err)
	assert.True(t, again.replayed())
	assert.Equal(t, first.Body.String(), again.Body.String())
}

func TestRefusedConfirmDoesNotConsumeApproval(t *testing.T) {
	t.Parallel()
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	otherKey, err := x509.MarshalPKIXPublicKey(&other.PublicKey)
	require.NoError(t, err)

	for name, tc := range map[string]struct {
		change func(b *bench, payoutID *string, body *platformwire.ApprovalConfirm)
		set    func(*deployment.Settings)
		as     func(b *bench, client string) context.Context
		want   string
	}{
		"unknown payout": {
			change: func(_ *bench, id *string, _ *platformwire.ApprovalConfirm) { *id = "po_none" }, want: "not_found"},
		"payout of another account": {
			as: func(b *bench, _ string) context.Context { return b.as(wire.Self, "") }, want: "not_found"},
		"unknown approval": {
			change: func(_ *bench, _ *string, body *platformwire.ApprovalConfirm) {
				body.ApprovalID = "apr_none"
			}, want: "approval_mismatch"},
		"key of nobody": {
			change: func(_ *bench, _ *string, body *platformwire.ApprovalConfirm) {
				body.PublicKey = otherKey
			}, want: "key_not_registered"},
		"no key at all": {
			change: func(_ *bench, _ *string, body *platformwire.ApprovalConfirm) {
				body.PublicKey = nil
			}, want: "key_not_registered"},
		"signature over something else": {
			change: func(b *bench, _ *string, body *platformwire.ApprovalConfirm) {
				body.Signature = b.sign([]byte("{}"))
			}, want: "signature_invalid"},
		"no signature": {
			change: func(_ *bench, _ *string, body *platformwire.ApprovalConfirm) {
				body.Signature = nil
			}, want: "signature_invalid"},
		"policy": {
			set: func(s *deployment.Settings) {
				s.SigningPolicy = deployment.SigningPolicyRefuse
			}, want: "signing_policy_refused"},
		"signer detached": {
			set: func(s *deployment.Settings) { s.SignerDetached = true }, want: "signer_not_attached"},
		"key deleted meanwhile": {
			as: func(b *bench, client string) context.Context {
				c := wire.CallerOf(b.as(client, ""))
				c.Signer = b.signer(wire.Forbidden())
				return wire.WithCaller(context.Background(), c)
			},
			want: "forbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			client := b.fundedClient("acme@example.com")
			booked := b.booked(client, "", order(b.contact(client, achContact).ID, "20"))
			id, body := booked.ID, platformwire.ApprovalConfirm{
				ApprovalID: booked.Approval.ID, PublicKey: b.public, Signature: b.sign(booked.Approval.Payload),
			}
			if tc.change != nil {
				tc.change(b, &id, &body)
			}
			if tc.set != nil {
				b.set(tc.set)
			}
			ctx := b.as(client, "")
			if tc.as != nil {
				ctx = tc.as(b, client)
			}
			_, err := b.confirmWith(ctx, id, body)
			refusalOf(t, err, tc.want)
			assert.Equal(t, "100", b.balance(client, platformwire.AssetUSDC))

			b.set(func(s *deployment.Settings) { *s = deployment.DefaultSettings() })
			_, err = b.confirm(client, booked)
			assert.NoError(t, err, "nothing was consumed")
		})
	}
}

func TestApprovalOfAnotherPayoutIsApprovalMismatch(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	client := b.fundedClient("acme@example.com")
	requested := order(b.contact(client, achContact).ID, "20")
	one, two := b.booked(client, "one", requested), b.booked(client, "two", requested)
	_, err := b.confirmWith(b.as(client, ""), one.ID, platformwire.ApprovalConfirm{
		ApprovalID: two.Approval.ID, PublicKey: b.public, Signature: b.sign(two.Approval.Payload),
	})
	refusalOf(t, err, "approval_mismatch")
}

func TestInsufficientBalanceHasAvailableAmount(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	client := b.fundedClient("acme@example.com")
	booked := b.booked(client, "", order(b.contact(client, achContact).ID, "100.000001"))
	_, err := b.confirm(client, booked)
	assert.Equal(t, "100", details[string](t, err, "payout_not_fundable", "available"))
	_, err = b.deposit(client, "top-up", "0.5", platformwire.AssetUSDC)
	require.NoError(t, err)
	_, err = b.confirm(client, booked)
	require.NoError(t, err)
	assert.Equal(t, "0.499999", b.balance(client, platformwire.AssetUSDC))
}

func TestOneOfManyConcurrentConfirmsFunds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	client := b.fundedClient("acme@example.com")
	booked := b.booked(client, "", order(b.contact(client, achContact).ID, "20"))
	var wg sync.WaitGroup
	errs := make([]error, 16)
	for i := range errs {
		body := platformwire.ApprovalConfirm{ApprovalID: booked.Approval.ID, PublicKey: b.public,
			Signature: b.sign(booked.Approval.Payload)}
		wg.Go(func() {
			_, errs[i] = b.ConfirmPayout(b.as(client, ""), booked.ID, body)
		})
	}
	wg.Wait()
	funded := 0
	for _, err := range errs {
		if err == nil {
			funded++
			continue
		}
		refusalOf(t, err, "funding_in_progress")
	}
	assert.Equal(t, 1, funded)
	assert.Equal(t, "80", b.balance(client, platformwire.AssetUSDC))
}

func TestDirectPayoutCreditsAccountOfTheHost(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	payer := b.fundedClient("acme@example.com")
	payee := b.readyClient("payee@example.com")
	byEmail := b.contact(payer, `{"email":"payee@example.com"}`)
	byWallet := b.contact(payer, `{"crypto":{"chain":"base","token":"USDC","address":"`+b.client(payee).
		BaseSmartWallet+`"}}`)
	for key, contact := range map[string]platformwire.Contact{"a": byEmail, "b": byWallet} {
		booked := b.booked(payer, key, order(contact.ID, "20"))
		_, err := b.confirm(payer, booked)
		require.NoError(t, err)
		b.step()
		b.step()
		_, err = b.move(payer, "", booked.ID, platformwire.PayoutStatusRefunded)
		refusalOf(t, err, "conflict")
	}
	assert.Equal(t, "60", b.balance(payer, platformwire.AssetUSDC))
	assert.Equal(t, "40", b.client(payee).Balances[0].Available.String())
	page, err := b.transactions(payee, platformwire.ListTransactionsParams{})
	require.NoError(t, err)
	require.Len(t, page.Items, 2)
	assert.Equal(t, platformwire.TransactionTypeDeposit, page.Items[0].Type)
	assert.Equal(t, platformwire.TransactionDirectionIn, page.Items[0].Direction)
}
