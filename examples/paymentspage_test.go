package examples_test

import "testing"

// paymentsTest uses the code of docs/payments.md: a process pays, another one goes on with a payment whose fee was too
// high, the changes are followed from a position, and the day is reconciled.
const paymentsTest = `package guide

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// changes keeps the newest position, and how often each state was seen.
type changes struct {
	position payments.Position
	states   map[moneymovement.PaymentState]int
	enough   func(*changes) bool
	end      context.CancelFunc
}

func (c *changes) Position(context.Context) (payments.Position, error) { return c.position, nil }

func (c *changes) Save(_ context.Context, record payments.Record) error {
	c.position = record.Position
	c.states[record.State]++
	if c.enough(c) {
		c.end()
	}
	return nil
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func Test(t *testing.T) {
	host := sandbox.New(sandbox.WithInstantProgress(), sandbox.WithSettings(func(s *sandbox.Settings) {
		s.QuoteLifetime = sandbox.Duration(time.Second) // new bounds wait for the end of the old price
	}))
	server := httptest.NewServer(host)
	defer server.Close()
	platform, err := dapi.NewIntegrator(server.URL,
		dapi.Developer{Email: host.Credentials().Email, Key: host.Credentials().Key})
	check(t, err)
	account := platform.Self()
	_, err = account.Sandbox.Deposit(t.Context(), dapi.DepositCreate{Amount: decimal.NewFromInt(50), Currency: dapi.USDC})
	check(t, err)
	contact, err := account.Contacts.Create(t.Context(), dapi.ContactCreate{Name: "Supplier",
		Account: dapi.SEPA(dapi.IBANAccount{IBAN: "DE89370400440532013000",
			Holder: dapi.AccountHolder{Name: "Supplier"}})})
	check(t, err)
	submit := func(ctx context.Context, p *payments.Processor, id, fee string) payments.Record {
		most := decimal.RequireFromString(fee)
		record, err := p.Submit(ctx, payments.Payment{Key: moneymovement.DeriveKey("invoice", id), Account: payments.OwnAccount,
			Payout: dapi.PayoutCreate{ContactID: contact.ID, Amount: decimal.NewFromInt(12), Currency: dapi.USDC},
			Bounds: dapi.Bounds{MaxFee: &most}})
		check(t, err)
		record, err = p.Await(ctx, record.Key)
		check(t, err)
		return record
	}
	path, logger := filepath.Join(t.TempDir(), "payments.db"), slog.New(slog.DiscardHandler)

	check(t, serve(t.Context(), platform, path, logger, func(ctx context.Context, p *payments.Processor) error {
		if state := submit(ctx, p, "1", "1").State; state != moneymovement.PaymentCompleted {
			t.Errorf("the first payment is %s", state)
		}
		if state := submit(ctx, p, "2", "0.01").State; state != moneymovement.PaymentNeedsDecision {
			t.Errorf("the second payment is %s", state)
		}
		return nil
	}))

	db := &changes{states: map[moneymovement.PaymentState]int{}, enough: func(c *changes) bool { return len(c.states) == 2 }}
	check(t, serve(t.Context(), platform, path, logger, func(ctx context.Context, p *payments.Processor) error {
		watching, end := context.WithCancel(ctx)
		db.end = end
		if err := follow(watching, p, db); watching.Err() == nil {
			return err
		}
		check(t, raiseFees(ctx, p, decimal.RequireFromString("0.02"))) // still too low
		record, err := p.Get(ctx, moneymovement.DeriveKey("invoice", "2"))
		if err != nil || record.State != moneymovement.PaymentNeedsDecision {
			t.Errorf("the second payment is %s: %v", record.State, err)
		}
		check(t, raiseFees(ctx, p, decimal.NewFromInt(1)))
		record, err = p.Await(ctx, record.Key)
		if err != nil || record.State != moneymovement.PaymentCompleted {
			t.Errorf("the second payment is %s: %v", record.State, err)
		}
		watching, db.end = context.WithCancel(ctx)
		db.enough = func(c *changes) bool { return c.states[moneymovement.PaymentCompleted] == 2 }
		if err := follow(watching, p, db); watching.Err() == nil {
			return err
		}

		_, err = account.Payouts.Pay(ctx, dapi.PayoutCreate{ContactID: contact.ID, Amount: decimal.NewFromInt(7),
			Currency: dapi.USDC}, "of-somebody-else", dapi.PayTerms{})
		check(t, err)
		differences := 0
		for _, day := range []int{0, 1} { // midnight can pass during the test
			found, err := reconcileDay(ctx, p, []dapi.ClientID{payments.OwnAccount}, time.Now().AddDate(0, 0, day))
			check(t, err)
			differences += found
		}
		if differences != 1 {
			t.Errorf("%d differences", differences)
		}
		return nil
	}))
	if db.states[moneymovement.PaymentCompleted] != 2 || db.states[moneymovement.PaymentNeedsDecision] != 1 {
		t.Errorf("%v", db.states)
	}
}
`

func TestTheCodeOfThePaymentsPageWorks(t *testing.T) {
	runCodeOf(t, "docs/payments.md", 4, paymentsTest)
}
