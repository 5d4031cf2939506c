package payments_test

import (
	"context"
	"os"
	"strings"
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
	"github.com/moneymovement/moneymovement-go/internal/testkit"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/payments/storetest"
	"github.com/moneymovement/moneymovement-go/signing"
)

func TestMemoryStore(t *testing.T) {
	open := func(*testing.T) payments.Store { return payments.NewMemoryStore() }
	t.Run("in virtual time", func(t *testing.T) { storetest.Run(t, open, storetest.VirtualTime()) })
	t.Run("in real time", func(t *testing.T) {
		testkit.Long(t, "waits for leases to end")
		storetest.Run(t, open, storetest.Seed(2))
	})
}

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
	_, calls["Summary"] = p.Summary(ctx)
	_, calls["Reconcile"] = p.Reconcile(ctx, payments.ReconcileParams{})
	for _, err := range p.List(ctx, payments.ListParams{}) {
		calls["List"] = err
	}
	for _, err := range p.Watch(ctx, "") {
		calls["Watch"] = err
	}
	return calls
}

func TestCallsWithoutProcessorOrContext(t *testing.T) {
	for name, p := range map[string]*payments.Processor{"nil": nil, "zero": new(payments.Processor)} {
		for method, err := range callsOf(t.Context(), p) {
			t.Run(method+" of "+name, func(t *testing.T) { testkit.CheckNoClient(t, err, "payments.New") })
		}
		assert.False(t, p.Wake())
	}
	p, err := payments.New(new(payments.MemoryStore), payments.Services{}, payments.Config{})
	require.NoError(t, err)
	var without context.Context
	for method, err := range callsOf(without, p) {
		t.Run(method+" without a context", func(t *testing.T) { testkit.CheckNoContext(t, err) })
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
			p.Bounds.NoWorseThan = &dapi.Quote{ExpiresAt: late, SourceAmount: decimal.NewFromInt(1),
				SourceCurrency:    "USDC",
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

func TestWakeClaimsBeforeNextPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &claims{Store: payments.NewMemoryStore()}
		services := payments.IntegratorServices(new(dapi.Integrator)) // nothing is submitted
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

func TestProcessorPrepare(t *testing.T) {
	key, err := signing.Generate()
	require.NoError(t, err)
	integrator, err := dapi.NewIntegrator("http://127.0.0.1", dapi.Developer{Email: "a@example.com", Key: key})
	require.NoError(t, err)
	config := payments.Config{Tracer: tracer{}}
	processor, err := payments.New(payments.NewMemoryStore(), payments.IntegratorServices(integrator), config)
	require.NoError(t, err)
	payment := payments.Payment{Key: "a", Account: payments.OwnAccount, Payout: dapi.PayoutCreate{
		ContactID: "ct_1", Amount: decimal.NewFromInt(1), Currency: dapi.USDC}}
	record, err := processor.Prepare(t.Context(), payment)
	require.NoError(t, err)
	assert.Equal(t, "trace of a", record.Trace)
	_, err = processor.Prepare(t.Context(), payments.TransferPayment{Key: "b", To: appapi.ToQuote{QuoteID: "q_1"}})
	require.ErrorAs(t, err, new(*errors.InvalidInput), "there is no app API")
}

// The table of docs/operations.md is the one place that has each state, who returns it, and the words of the service
// beside it.
func TestDocumentedStatesAreComplete(t *testing.T) {
	page, err := os.ReadFile("../docs/operations.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(page), "## The words for the state of a payment\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n## ")
	var ofPay, stored []moneymovement.PaymentState
	statuses := ""
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		require.Len(t, cells, 5, line)
		state := moneymovement.PaymentState(strings.Trim(cells[0], "`"))
		assert.True(t, state.Known(), state)
		assert.Contains(t, []string{"`Pay`", "`payments`", "`Pay`, `payments`"}, cells[1])
		if strings.Contains(cells[1], "`Pay`") {
			ofPay = append(ofPay, state)
		}
		if strings.Contains(cells[1], "`payments`") {
			stored = append(stored, state)
		}
		statuses += cells[2]
	}
	assert.ElementsMatch(t, []moneymovement.PaymentState{moneymovement.PaymentPaid, moneymovement.PaymentNotPaid,
		moneymovement.PaymentInDoubt, moneymovement.PaymentNeedsDecision, moneymovement.PaymentEnded}, ofPay)
	assert.ElementsMatch(t, moneymovement.StoredPaymentStates(), stored)
	for _, status := range []dapi.PayoutStatus{dapi.PayoutStatusAwaitingApproval, dapi.PayoutStatusFunding,
		dapi.PayoutStatusProcessing, dapi.PayoutStatusCompleted, dapi.PayoutStatusFailed, dapi.PayoutStatusRefunded,
		dapi.PayoutStatusExpired} {
		assert.Contains(t, statuses, "`"+string(status)+"`")
	}
}
