package dapi

import (
	"context"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/errorbase"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/signing"
)

const (
	notPaid   = transport.KeyUnpaid
	maybePaid = transport.KeyMaybePaid
	finished  = transport.KeySettled
)

// maxDoubts is how many doubts a client keeps.
const maxDoubts = 100_000

func keyOf(i int) transport.KeyScope { return transport.KeyScopeOf(&opBookPayout, "", strconv.Itoa(i)) }

func newPaymentMemory() paymentMemory { return paymentMemory{transport.NewKeys()} }

func (m paymentMemory) pay(
	t *testing.T, key transport.KeyScope, firstUse bool, came transport.KeyState,
) errorbase.Earlier {
	t.Helper()
	attempt, left, err := m.begin(key, firstUse)
	require.NoError(t, err)
	attempt.end(came)
	return left
}

func TestDoubtsAreKeptUntilTheyAreSettled(t *testing.T) {
	m := newPaymentMemory()
	assert.Equal(t, errorbase.NonePaid, m.pay(t, keyOf(1), true, maybePaid))
	assert.Equal(t, errorbase.MayPay, m.pay(t, keyOf(1), true, maybePaid), "a doubt outweighs what the caller says")
	for _, other := range []transport.KeyScope{transport.KeyScopeOf(&opBookPayout, "cl_1", "1"),
		transport.KeyScopeOf(&opCreateEscrow, "", "1"), keyOf(2)} {
		assert.Equal(t, errorbase.NonePaid, m.pay(t, other, true, notPaid),
			"another account, operation or key is another payment")
	}
	assert.Equal(t, errorbase.MayPay, m.pay(t, keyOf(1), false, notPaid), "a call that came to nothing settles nothing")
	assert.Equal(t, errorbase.MayPay, m.pay(t, keyOf(1), false, finished), "and one that paid does")
	assert.Equal(t, errorbase.MayPay, m.pay(t, keyOf(1), true, notPaid),
		"it is paid all the same, whatever is refused now")
}

// If there are too many doubts, those are forgotten whose keys the service has forgotten.
func TestDoubtsAreForgottenWithTheirKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newPaymentMemory()
		m.pay(t, keyOf(-1), true, maybePaid)
		underway, left, err := m.begin(keyOf(-1), true)
		require.NoError(t, err)
		assert.Equal(t, errorbase.MayPay, left)
		time.Sleep(8 * 24 * time.Hour)
		assert.Equal(t, errorbase.MayPay, m.pay(t, keyOf(-1), true, maybePaid), "there is room")
		for i := range maxDoubts - 1 {
			m.pay(t, keyOf(i), true, maybePaid)
		}
		time.Sleep(7*24*time.Hour + time.Second)
		_, _, err = m.begin(keyOf(maxDoubts), true)
		require.Error(t, err, "the oldest is of a call that is still under way")
		underway.end(maybePaid)
		assert.Equal(t, errorbase.NonePaid, m.pay(t, keyOf(maxDoubts), true, maybePaid))
		assert.Equal(t, errorbase.NonePaid, m.pay(t, keyOf(0), true, maybePaid))
	})
}

// A doubt is never forgotten to make room for another: new first uses are refused before anything is sent, and what is
// in doubt can be settled.
func TestTooManyDoubts(t *testing.T) {
	m := newPaymentMemory()
	assert.Equal(t, errorbase.NonePaid, m.pay(t, keyOf(-1), true, notPaid))
	underway, _, err := m.begin(keyOf(-2), true)
	require.NoError(t, err)
	for i := range maxDoubts {
		m.pay(t, keyOf(i), true, maybePaid)
	}
	_, _, err = m.begin(keyOf(-1), true)
	require.Error(t, err, "nothing came of its first call, so that this is a first use as any other")
	second, left, err := m.begin(keyOf(-2), true)
	require.NoError(t, err, "its first call is under way")
	assert.Equal(t, errorbase.MayExist, left)
	underway.end(notPaid)
	second.end(notPaid)
	_, _, err = m.begin(keyOf(maxDoubts), true)
	unsent, ok := errors.AsType[*errors.NotDelivered](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, errors.NotMoved, unsent.MovedByCall())
	assert.Contains(t, err.Error(), "100,000 payments")
	m.Note(keyOf(-3), maybePaid, nil)
	assert.Equal(t, errorbase.MayPay, m.pay(t, keyOf(-3), false, finished),
		"a doubt that is there is kept all the same")
	assert.Equal(t, errorbase.MayPay, m.pay(t, keyOf(1), true, maybePaid),
		"what is in doubt may be called again, whatever its caller says")
	assert.Equal(t, errorbase.MayPay, m.pay(t, keyOf(0), false, finished), "the oldest is still known, and settled now")
	assert.Equal(t, errorbase.NonePaid, m.pay(t, keyOf(maxDoubts), true, maybePaid), "which makes room")
}

func TestPaymentsWithoutADoubtAreForgottenInTheEnd(t *testing.T) {
	m := newPaymentMemory()
	m.pay(t, keyOf(-1), true, maybePaid)
	underway, _, err := m.begin(keyOf(-2), true)
	require.NoError(t, err)
	for i := range 60_000 {
		m.pay(t, keyOf(i), false, notPaid)
	}
	assert.Nil(t, m.Get(keyOf(0)))
	assert.Equal(t, errorbase.MayPay, m.pay(t, keyOf(-1), true, maybePaid), "a doubt is not forgotten")
	assert.False(t, underway.onlyCall() && m.Get(keyOf(-2)) == nil, "nor a call that is under way")
	assert.NotNil(t, m.Get(keyOf(-2)))
}

// unsent is a way to a service that nothing goes.
type unsent struct{ *testing.T }

func (u unsent) RoundTrip(r *http.Request) (*http.Response, error) {
	u.Errorf("%s %s was sent", r.Method, r.URL.Path)
	return nil, http.ErrHandlerTimeout
}

// A client that is in doubt about too many payments begins no other, of whichever kind.
func TestTooManyDoubtsOfAClient(t *testing.T) {
	key, err := signing.Generate()
	require.NoError(t, err)
	account, err := NewSelfServe("https://service.example", Developer{Email: "ops@example.com", Key: key},
		moneymovement.WithHTTPClient(&http.Client{Transport: unsent{t}}))
	require.NoError(t, err)
	for i := range maxDoubts {
		account.Payouts.memory.pay(t, keyOf(i), true, maybePaid)
	}
	stored := func(context.Context, History) error { return nil }
	asked := PayoutCreate{ContactID: "ct_1", Amount: decimal.NewFromInt(25), Currency: USDC}
	_, err = account.Payouts.Pay(t.Context(), asked, "invoice-42", PayTerms{Journal: stored})
	full, ok := errors.AsType[*errors.NotDelivered](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, "BookPayout", full.Operation)
	assert.Equal(t, "invoice-42", full.IdempotencyKey)

	deal := EscrowCreate{Amount: decimal.NewFromInt(40), Currency: USDC,
		Payee: "0x52908400098527886E0F7030069857D2E4169EE7"}
	_, err = account.Escrows.Open(t.Context(), deal, "deal-1", EscrowTerms{Journal: stored})
	full, ok = errors.AsType[*errors.NotDelivered](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, "CreateEscrow", full.Operation)
	assert.Equal(t, "deal-1", full.IdempotencyKey)

	gone, leave := context.WithCancel(t.Context())
	leave()
	_, err = account.Escrows.Act(gone, deal, "esc_1", EscrowActionTypeRelease, "release-1", EscrowTerms{})
	require.ErrorIs(t, err, context.Canceled, "an action without a journal is tried, because the deal itself shows it")
}

// Of a payment that was settled, little is kept. One that has expired can be booked again, so its first price stays.
func TestWhatIsKeptOfASettledPayment(t *testing.T) {
	quote := &Quote{DestinationAmount: decimal.NewFromInt(25)}
	for name, c := range map[string]struct {
		end   *offer
		kept  remembered
		first *Quote // that a later booking is compared with
		again bool
	}{
		"paid": {&offer{phase: phasePaid, payout: &Payout{Status: PayoutStatusProcessing, TransactionHash: "0x1"}},
			remembered{booked: true, settled: true, phase: phasePaid, hash: "0x1"}, nil, false},
		"paid, and not read": {nil, remembered{booked: true, settled: true, phase: phasePaid}, nil, false},
		"ended": {&offer{phase: phaseEnded, payout: &Payout{Status: PayoutStatusFailed}},
			remembered{booked: true, first: quote, settled: true, phase: phaseEnded, status: "failed"}, quote, true},
		"expired": {&offer{phase: phaseLapsed, payout: &Payout{Status: PayoutStatusExpired}},
			remembered{booked: true, first: quote, settled: true, phase: phaseLapsed, status: "expired"}, quote, true},
		"a deal": {&offer{phase: phaseEnded, deal: &Escrow{Status: EscrowStatusExpired, TransactionHash: "0x2"}},
			remembered{booked: true, first: quote, settled: true, phase: phaseEnded, status: "expired", hash: "0x2"},
			quote, true},
	} {
		t.Run(name, func(t *testing.T) {
			a, _, err := newPaymentMemory().begin(keyOf(1), true)
			require.NoError(t, err)
			first, again := a.recordPrice(quote)
			assert.Nil(t, first)
			assert.False(t, again)
			a.settle(c.end)
			assert.Equal(t, c.kept, a.seen())
			first, again = a.recordPrice(nil)
			assert.Equal(t, c.first, first)
			assert.Equal(t, c.again, again)
		})
	}
}
