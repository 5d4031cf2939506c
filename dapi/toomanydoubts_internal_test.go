package dapi

import (
	"context"
	"net/http"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/signing"
)

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
	_, err = account.Escrows.Open(t.Context(), deal, "deal-1", DealTerms{Journal: stored})
	full, ok = errors.AsType[*errors.NotDelivered](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, "CreateEscrow", full.Operation)
	assert.Equal(t, "deal-1", full.IdempotencyKey)

	gone, leave := context.WithCancel(t.Context())
	leave()
	_, err = account.Escrows.Act(gone, deal, "esc_1", EscrowActionTypeRelease, "release-1", DealTerms{})
	require.ErrorIs(t, err, context.Canceled, "an action without a journal is tried, because the deal itself shows it")
}
