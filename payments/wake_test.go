package payments_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/signing"
)

// claims counts the claims of a class.
type claims struct {
	payments.Store
	begin int
}

func (c *claims) Claim(ctx context.Context, claim payments.Claim) (
	[]payments.Claimed, time.Time, error,
) {
	if claim.Work == payments.WorkBegin {
		c.begin++
	}
	return c.Store.Claim(ctx, claim)
}

func TestWakeLooksForWorkBeforeTheNextPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &claims{Store: payments.NewMemoryStore()}
		services := payments.Integrator(new(dapi.Integrator)) // nothing is submitted
		processor, err := payments.New(store, services, payments.Config{PollEvery: time.Hour, InFlight: 1})
		require.NoError(t, err)
		assert.False(t, processor.Wake(), "nothing runs before Resume")
		_, err = processor.Resume(t.Context())
		require.NoError(t, err)
		synctest.Wait()
		before := store.begin
		time.Sleep(30 * time.Minute)
		assert.Equal(t, before, store.begin, "it does not poll by itself in this time")
		assert.True(t, processor.Wake())
		synctest.Wait()
		assert.Equal(t, before+1, store.begin)
		require.NoError(t, processor.Stop(t.Context()))
		assert.False(t, processor.Wake())
		synctest.Wait()
		assert.Equal(t, before+1, store.begin)
	})
}

// tracer names each payment.
type tracer struct{ payments.Tracer }

func (tracer) Submitted(_ context.Context, key moneymovement.Key) string {
	return "trace of " + string(key)
}

func TestPrepareOfAProcessor(t *testing.T) {
	key, err := signing.Generate()
	require.NoError(t, err)
	integrator, err := dapi.NewIntegrator("http://127.0.0.1", dapi.Developer{Email: "a@example.com", Key: key})
	require.NoError(t, err)
	config := payments.Config{Tracer: tracer{}}
	processor, err := payments.New(payments.NewMemoryStore(), payments.Integrator(integrator), config)
	require.NoError(t, err)
	payment := payments.Payment{Key: "a", Account: payments.OwnAccount, Payout: dapi.PayoutCreate{
		ContactID: "ct_1", Amount: decimal.NewFromInt(1), Currency: dapi.USDC}}
	record, err := processor.Prepare(t.Context(), payment)
	require.NoError(t, err)
	assert.Equal(t, "trace of a", record.Trace)
	_, err = processor.Prepare(t.Context(), payments.TransferPayment{Key: "b", To: appapi.ToQuote{QuoteID: "q_1"}})
	require.ErrorAs(t, err, new(*errors.InvalidInput), "there is no app API")
}
