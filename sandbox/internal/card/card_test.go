package card_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/oapi-codegen/nullable"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox/deployment"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/card"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/clock"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store/storetest"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
	"github.com/moneymovement/moneymovement-go/signing/wallet"
)

// bank is a card programme with a clock that moves only by Advance.
type bank struct {
	*card.Cards
	config card.Config
	t      testing.TB
	clock  *clock.Clock
	key    *wallet.Key
}

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func newBank(t testing.TB) *bank {
	t.Helper()
	key, err := wallet.Generate()
	require.NoError(t, err)
	clk := clock.New(func() time.Time { return start })
	kept := new(storetest.Encoded)
	t.Cleanup(func() { assert.Empty(t, kept.Stale()) })
	config := card.Config{
		Store: kept,
		Clock: clk, Settings: func() *deployment.Settings {
			settings := deployment.DefaultSettings()
			return &settings
		}, WalletAddress: key.Address(),
		Holder: func(context.Context) card.Holder { return card.Holder{Name: "Ada Lovelace"} },
	}
	return &bank{t: t, clock: clk, key: key, Cards: card.New(config), config: config}
}

// reopen opens the cards again from their store.
func (b *bank) reopen() { b.Cards = card.New(b.config) }

// me and other are the contexts of requests of two accounts.
var (
	me    = wire.WithCaller(context.Background(), wire.Caller{Owner: "acc_1"})
	other = wire.WithCaller(context.Background(), wire.Caller{Owner: "acc_2"})
)

// active issues a card and waits until it can be used.
func (b *bank) active() string {
	b.t.Helper()
	issued, err := b.Create(me)
	require.NoError(b.t, err)
	b.clock.Advance(time.Second)
	return issued.ID
}

func (b *bank) proof(key *wallet.Key, id string, nonce int64) commonwire.CardDetailsProof {
	b.t.Helper()
	signature, err := key.SignMessage(b.t.Context(), fmt.Appendf(nil, "Reveal card %s at %d", id, nonce))
	require.NoError(b.t, err)
	return commonwire.CardDetailsProof{MessageSignature: signature, Nonce: nonce}
}

func fields(t testing.TB, err error) map[string]string {
	t.Helper()
	var refusal *wire.Refusal
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, "validation_failed", refusal.Code)
	found := map[string]string{}
	for _, field := range refusal.Details["fields"].([]wire.Field) {
		found[field.Field] = field.Code
	}
	return found
}

func TestListCardsWithoutCards(t *testing.T) {
	t.Parallel()
	list := newBank(t).List(me)
	assert.NotNil(t, list.Cards)
	assert.Empty(t, list.Cards)
	assert.Zero(t, *list.Total)
	assert.False(t, list.Created)
	assert.Equal(t, commonwire.KYCStatusNotStarted, list.KYCStatus)
	assert.False(t, list.PhoneVerified)
}

func TestCardStatusPendingActiveFrozen(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	issued, err := b.Create(me)
	require.NoError(t, err)
	assert.Equal(t, commonwire.CardStatusPending, issued.Status)
	assert.False(t, issued.Activated)
	assert.Equal(t, b.key.Address(), issued.WalletAddress)
	assert.Equal(t, "Ada Lovelace", issued.CardData.NameOnCard)
	assert.Equal(t, "03/29", issued.CardData.ExpiryDate)
	assert.Equal(t, "0", issued.Limit.DailyUsage.String())
	for _, frozen := range []bool{true, false} {
		_, err = b.Freeze(me, issued.ID, frozen)
		require.ErrorIs(t, err, wire.Conflict(""))
	}
	_, err = b.Reveal(me, issued.ID, b.proof(b.key, issued.ID, start.Unix()))
	require.ErrorIs(t, err, wire.Conflict(""))

	b.clock.Advance(300 * time.Millisecond)
	for _, step := range []struct {
		frozen bool
		want   commonwire.CardStatus
	}{{false, "active"}, {true, "frozen"}, {true, "frozen"}, {false, "active"}} {
		moved, err := b.Freeze(me, issued.ID, step.frozen)
		require.NoError(t, err)
		assert.Equal(t, step.want, moved.Status)
		assert.True(t, moved.Activated)
	}
	assert.True(t, b.List(me).Created)
}

func TestCardsBelongToTheirAccount(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	id := b.active()
	_, err := b.Get(other, id)
	require.ErrorIs(t, err, wire.NotFound())
	_, err = b.Reveal(other, id, b.proof(b.key, id, b.clock.Now().Unix()))
	require.ErrorIs(t, err, wire.NotFound())
	assert.Empty(t, b.List(other).Cards)
	b.Reset()
	_, err = b.Get(me, id)
	require.ErrorIs(t, err, wire.NotFound())
}

func TestLabels(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	first, second := b.active(), b.active()
	labelled, err := b.SetLabel(me, first, "Travel")
	require.NoError(t, err)
	assert.Equal(t, "Travel", labelled.Label)
	list := b.List(me)
	assert.Equal(t, []string{second, first}, []string{list.Cards[0].ID, list.Cards[1].ID}, "newest first")
	assert.Equal(t, "Travel", list.Cards[1].Label)
}

func limit(text string) nullable.Nullable[wire.Number] {
	return nullable.NewNullableWithValue(wire.NumberOf(decimal.RequireFromString(text)))
}

func TestLimits(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	id := b.active()
	limited, err := b.SetLimit(me, id,
		appwire.CardLimitUpdate{DailyLimit: limit("25.50"), MonthlyLimit: limit("0025.5")})
	require.NoError(t, err)
	assert.Equal(t, "25.5", limited.Limit.DailyLimit.String())
	assert.Equal(t, "100000", limited.Limit.LifetimeLimit.String(), "what is absent stays")

	for name, c := range map[string]struct {
		body appwire.CardLimitUpdate
		want map[string]string
	}{
		"negative": {appwire.CardLimitUpdate{DailyLimit: limit("-1")},
			map[string]string{"dailyLimit": "greater_than_equal"}},
		"too fine": {appwire.CardLimitUpdate{MonthlyLimit: limit("1.001")},
			map[string]string{"monthlyLimit": "amount_precision"}},
		"too long": {appwire.CardLimitUpdate{LifetimeLimit: limit("1e9999")},
			map[string]string{"lifetimeLimit": "decimal_max_digits"}},
		"day over month": {appwire.CardLimitUpdate{DailyLimit: limit("26")},
			map[string]string{"dailyLimit": "less_than_equal"}},
		"month over all": {appwire.CardLimitUpdate{LifetimeLimit: limit("0")},
			map[string]string{"monthlyLimit": "less_than_equal"}},
	} {
		_, err := b.SetLimit(me, id, c.body)
		assert.Equal(t, c.want, fields(t, err), name)
	}
	read, err := b.Get(me, id)
	require.NoError(t, err)
	assert.Equal(t, limited, read, "a refused change changes nothing")
}

func TestRevealCardDetails(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	id := b.active()
	nonce := b.clock.Now().Unix()
	details, err := b.Reveal(me, id, b.proof(b.key, id, nonce))
	require.NoError(t, err)
	assert.Regexp(t, `^999999\d{10}$`, details.CardNumber)
	assert.True(t, luhn(details.CardNumber))
	assert.Regexp(t, `^\d{3}$`, details.CVV)
	assert.Equal(t, "03/29", details.ExpiryDate)
	read, err := b.Get(me, id)
	require.NoError(t, err)
	assert.Equal(t, details.CardNumber[12:], read.CardData.LastFour)

	_, err = b.Reveal(me, id, b.proof(b.key, id, nonce))
	require.ErrorIs(t, err, wire.Conflict(""), "a nonce reveals once")
	again, err := b.Reveal(me, id, b.proof(b.key, id, nonce+1))
	require.NoError(t, err)
	assert.Equal(t, details, again)
}

// luhn checks ISO/IEC 7812-1 from the left, unlike the code that it tests.
func luhn(number string) bool {
	sum := 0
	for i, r := range number {
		digit := int(r - '0')
		if (len(number)-i)%2 == 0 {
			digit = digit*2/10 + digit*2%10
		}
		sum += digit
	}
	return sum%10 == 0
}

func TestNonceToleranceIsFiveMinutes(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	id := b.active()
	now := b.clock.Now().Unix()
	for _, off := range []int64{-300, 0, 300} {
		_, err := b.Reveal(me, id, b.proof(b.key, id, now+off))
		require.NoError(t, err, off)
	}
	for _, nonce := range []int64{now - 301, now + 301, now * 1000, 0, -1, math.MinInt64, math.MaxInt64} {
		_, err := b.Reveal(me, id, b.proof(b.key, id, nonce))
		assert.Equal(t, map[string]string{"nonce": "nonce_expired"}, fields(t, err), nonce)
	}
	b.clock.Advance(11 * time.Minute)
	_, err := b.Reveal(me, id, b.proof(b.key, id, now+300))
	assert.Equal(t, map[string]string{"nonce": "nonce_expired"}, fields(t, err),
		"forgotten nonces are too old to come again")
}

func TestRevealRefusesProofOfAnotherWalletCardOrNonce(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	id, otherCard := b.active(), b.active()
	other, err := wallet.Generate()
	require.NoError(t, err)
	now := b.clock.Now().Unix()
	shifted := b.proof(b.key, id, now)
	shifted.Nonce++
	for name, proof := range map[string]commonwire.CardDetailsProof{
		"another wallet":  b.proof(other, id, now),
		"another card":    b.proof(b.key, otherCard, now),
		"another nonce":   shifted,
		"no signature":    {Nonce: now},
		"not hexadecimal": {Nonce: now, MessageSignature: "0xzz"},
	} {
		_, err := b.Reveal(me, id, proof)
		assert.ErrorIs(t, err, wire.SignatureInvalid(), name)
	}
	_, err = b.Reveal(me, id, b.proof(b.key, id, now))
	require.NoError(t, err, "what failed used nothing up")
}

func TestVerificationOfTheCardProgramme(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	link := b.KYCLink(me)
	assert.Equal(t, commonwire.KYCStatusRequested, link.Status)
	b.clock.Advance(time.Second)
	again := b.KYCLink(me)
	assert.Equal(t, link.URL, again.URL)
	assert.Equal(t, commonwire.KYCStatusApproved, again.Status)
	list := b.List(me)
	assert.Equal(t, commonwire.KYCStatusApproved, list.KYCStatus)
	assert.True(t, list.PhoneVerified)
	assert.False(t, list.Created)
	assert.Equal(t, commonwire.KYCStatusNotStarted, b.List(other).KYCStatus)
}

func TestPreApprovals(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	ten, more := decimal.NewFromInt(10), decimal.NewFromInt(11)
	seen := map[string]bool{}
	for _, body := range []appwire.CardPreApprovalCreate{{}, {Amount: &ten}, {Amount: &more},
		{Amount: &more, Currency: "EURC"}} {
		first, err := b.PreApprove(me, body)
		require.NoError(t, err)
		assert.True(t, first.Approved)
		assert.Regexp(t, `^0x[0-9a-f]{64}$`, first.TxHash)
		again, err := b.PreApprove(me, body)
		require.NoError(t, err)
		assert.Equal(t, first, again)
		seen[first.TxHash] = true
	}
	assert.Len(t, seen, 4)

	zero, fine := decimal.Zero, decimal.RequireFromString("0.0000001")
	_, err := b.PreApprove(me, appwire.CardPreApprovalCreate{Amount: &zero})
	assert.Equal(t, map[string]string{"amount": "greater_than"}, fields(t, err))
	_, err = b.PreApprove(me, appwire.CardPreApprovalCreate{Amount: &fine})
	assert.Equal(t, map[string]string{"amount": "amount_precision"}, fields(t, err))
	_, err = b.PreApprove(me, appwire.CardPreApprovalCreate{Currency: "USD"})
	assert.Equal(t, map[string]string{"currency": "enum"}, fields(t, err))
}

// TestCardsAreRestoredFromStore opens the same store again and compares.
func TestCardsAreRestoredFromStore(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	first, second := b.active(), b.active()
	_, err := b.Freeze(me, first, true)
	require.NoError(t, err)
	_, err = b.SetLabel(me, first, "Travel")
	require.NoError(t, err)
	daily := nullable.NewNullableWithValue(wire.NumberOf(decimal.RequireFromString("12.5")))
	_, err = b.SetLimit(me, second, appwire.CardLimitUpdate{DailyLimit: daily})
	require.NoError(t, err)
	proof := b.proof(b.key, second, b.clock.Now().Unix())
	details, err := b.Reveal(me, second, proof)
	require.NoError(t, err)
	asked := decimal.NewFromInt(100)
	approved, err := b.PreApprove(me, appwire.CardPreApprovalCreate{Amount: &asked})
	require.NoError(t, err)
	b.KYCLink(other)
	b.clock.Advance(time.Second)
	mine, others, records := b.List(me), b.List(other), b.Records()

	b.reopen()
	assert.Equal(t, mine, b.List(me))
	assert.Equal(t, others, b.List(other))
	assert.Equal(t, commonwire.KYCStatusApproved, others.KYCStatus)
	assert.Equal(t, records, b.Records())
	_, err = b.Reveal(me, second, proof)
	require.ErrorIs(t, err, wire.Conflict(""), "the nonce was used before")
	again, err := b.Reveal(me, second, b.proof(b.key, second, b.clock.Now().Unix()))
	require.NoError(t, err)
	assert.Equal(t, details, again)
	repeated, err := b.PreApprove(me, appwire.CardPreApprovalCreate{Amount: &asked})
	require.NoError(t, err)
	assert.Equal(t, approved, repeated)

	b.Reset()
	b.reopen()
	assert.Zero(t, b.Records())
	assert.Equal(t, commonwire.KYCStatusNotStarted, b.List(other).KYCStatus)
}
