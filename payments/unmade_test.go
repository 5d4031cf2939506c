package payments_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/surfacetest"
	"github.com/moneymovement/moneymovement-go/payments"
)

// callsOf calls each method of a processor that makes a call, and returns the errors.
func callsOf(ctx context.Context, p *payments.Processor) map[string]error {
	calls := map[string]error{"Stop": p.Stop(ctx)}
	_, calls["Submit"] = p.Submit(ctx, payments.Payment{})
	_, calls["Prepare"] = p.Prepare(ctx, payments.Payment{})
	_, calls["Get"] = p.Get(ctx, "k")
	_, calls["Decide"] = p.Decide(ctx, "k", payments.Retry())
	_, calls["Step"] = p.Step(ctx, "k")
	_, calls["Await"] = p.Await(ctx, "k")
	_, calls["Resume"] = p.Resume(ctx)
	_, calls["Reconcile"] = p.Reconcile(ctx, payments.ReconcileParams{})
	for _, err := range p.List(ctx, payments.ListParams{}) {
		calls["List"] = err
	}
	for _, err := range p.Watch(ctx, "") {
		calls["Watch"] = err
	}
	return calls
}

func TestCallsThatCannotBeMade(t *testing.T) {
	for name, p := range map[string]*payments.Processor{"nil": nil, "zero": new(payments.Processor)} {
		for method, err := range callsOf(t.Context(), p) {
			t.Run(method+" of "+name, func(t *testing.T) { surfacetest.NoClient(t, err, "payments.New") })
		}
		assert.False(t, p.Wake())
	}
	p, err := payments.New(new(payments.MemoryStore), payments.Services{}, payments.Config{})
	require.NoError(t, err)
	var without context.Context
	for method, err := range callsOf(without, p) {
		t.Run(method+" without a context", func(t *testing.T) { surfacetest.NoContext(t, err) })
	}
}

// What JSON cannot write is refused as invalid, before anything is stored.
func TestTermsThatCannotBeStored(t *testing.T) {
	valid := payments.Payment{Key: "k", Account: payments.OwnAccount,
		Payout: dapi.PayoutCreate{ContactID: "ct_1", Amount: decimal.NewFromInt(1), Currency: dapi.USDC}}
	late := time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, change := range map[string]func(*payments.Payment){
		"deadline":  func(p *payments.Payment) { p.Deadline = late },
		"first use": func(p *payments.Payment) { p.FirstUsed = time.Date(-5, 1, 1, 0, 0, 0, 0, time.UTC) },
		"quote": func(p *payments.Payment) {
			p.Bounds.NoWorseThan = &dapi.Quote{ExpiresAt: late, SourceAmount: decimal.NewFromInt(1), SourceCurrency: "USDC",
				DestinationAmount: decimal.NewFromInt(1), DestinationCurrency: "EUR"}
		},
		"text":     func(p *payments.Payment) { p.Payout.PaymentReference = "\xff" },
		"account":  func(p *payments.Payment) { p.Account = "\xff" },
		"metadata": func(p *payments.Payment) { p.Metadata = map[string]string{"\xff": ""} },
		"a lot":    func(p *payments.Payment) { p.Metadata = map[string]string{"k": strings.Repeat("v", 1<<20)} },
	} {
		asked := valid
		change(&asked)
		_, err := payments.Prepare(asked, time.Now())
		_, invalid := errors.AsType[*errors.InvalidInput](err)
		assert.True(t, invalid, "%s: %T: %v", name, err, err)
	}
	_, err := payments.Prepare(valid, time.Now())
	require.NoError(t, err)
}
