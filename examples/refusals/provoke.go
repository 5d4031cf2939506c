package main

import (
	"context"
	"net/http"
	"strings"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/examples/internal/customer"
	"github.com/moneymovement/moneymovement-go/examples/internal/program"
	"github.com/moneymovement/moneymovement-go/signing"
)

// provoker makes the calls that are refused.
type provoker struct {
	program *program.Program
	account *dapi.Account
	wire    *wire

	supplier dapi.ContactID // can be paid
	nobody   dapi.ContactID // has no IBAN
}

type provocation struct {
	title   string
	provoke func(context.Context) error
}

func (p *provoker) prepare(ctx context.Context) error {
	supplier, err := p.account.Contacts.Create(ctx, dapi.ContactCreate{Name: "Example supplier",
		Account: dapi.SEPA(dapi.IBANAccount{IBAN: "DE89370400440532013000",
			Holder: dapi.AccountHolder{Name: "Example supplier"}})})
	if err != nil {
		return err
	}
	nobody, err := p.account.Contacts.Create(ctx, dapi.ContactCreate{Name: "Example without IBAN",
		Account: dapi.SEPA(dapi.IBANAccount{Holder: dapi.AccountHolder{Name: "Example without IBAN"}})})
	if err != nil {
		return err
	}
	p.supplier, p.nobody = supplier.ID, nobody.ID
	return nil
}

// cases returns the calls: first those with mistakes of the program, then refusals of the service, then network
// failures.
func (p *provoker) cases() []provocation {
	return []provocation{
		{"a reference that is too long", func(ctx context.Context) error {
			asked := terms(p.supplier, "10")
			asked.PaymentReference = strings.Repeat("-", 141)
			return p.refusal(ctx, asked, "long", dapi.Bounds{})
		}},
		{"an amount with more decimals than the token has", func(ctx context.Context) error {
			return p.refusal(ctx, terms(p.supplier, "1.1234567"), "fine", dapi.Bounds{})
		}},
		{"an amount that does not cover the fee", func(ctx context.Context) error {
			return p.refusal(ctx, terms(p.supplier, "0.30"), "small", dapi.Bounds{})
		}},
		{"a contact without an IBAN", func(ctx context.Context) error {
			return p.refusal(ctx, terms(p.nobody, "10"), "nobody", dapi.Bounds{})
		}},
		{"more than the balance", func(ctx context.Context) error {
			return p.refusal(ctx, terms(p.supplier, "5000"), "large", dapi.Bounds{})
		}},
		{"one key for two payments", p.reuse},
		{"somebody else's payout", func(ctx context.Context) error {
			_, err := p.account.Payouts.Get(ctx, "po_somebody_elses")
			return err
		}},
		{"a rail for a client that is not verified", func(ctx context.Context) error {
			_, err := p.account.Rails.Open(ctx, dapi.RailCreate{Method: dapi.BankMethodSEPA, Currency: "EUR"})
			return err
		}},
		{"a verification that is not complete", func(ctx context.Context) error {
			_, err := p.account.Verification.Complete(ctx)
			return err
		}},
		{"a sandbox credit over the maximum", func(ctx context.Context) error {
			_, err := p.account.Sandbox.Deposit(ctx,
				dapi.DepositCreate{Amount: decimal.NewFromInt(1_000_000), Currency: dapi.USDC})
			return err
		}},
		{"an email that has no account", p.strangers},
		{"a booking of another amount than the one asked for", p.unasked},
		{"an approval that is not for this payout", p.forged},
		{"a price with a fee over the bound", p.dear},
		{"a refusal of a payment that was in doubt", p.inDoubt},
		{"a payout that comes back", p.refunded},
		{"too many calls",
			p.read(responding{status: http.StatusTooManyRequests, contentType: "application/json", retryAfter: "30",
				body: `{"error":{"code":"rate_limited","message":"Over a window."}}`})},
		{"a key without the scope", p.read(responding{status: http.StatusForbidden, contentType: "application/json",
			body: `{"error":{"code":"forbidden","message":"Not permitted.",` +
				`"details":{"requiredScope":"payouts:write","scope":["read"]}}}`})},
		{"a partner that is down",
			p.read(refusing(http.StatusServiceUnavailable, "provider_unavailable", "A partner is unavailable."))},
		{"a slug that is newer than this program",
			p.read(refusing(http.StatusConflict, "weather_unsuitable", "Not in this rain."))},
		{"a proxy's page",
			p.read(responding{status: http.StatusBadGateway, contentType: "text/html",
				body: "<html>Bad gateway</html>"})},
		{"a response that was lost", p.lost},
		{"a host that is not there", p.nowhere},
	}
}

// terms are those of a payout.
func terms(to dapi.ContactID, amount string) dapi.PayoutCreate {
	return dapi.PayoutCreate{ContactID: to, Amount: decimal.RequireFromString(amount), Currency: dapi.USDC}
}

func (p *provoker) key(name string) moneymovement.Key {
	return moneymovement.DeriveKey(p.program.Name, name)
}

// refusal pays, and returns why this call paid nothing.
func (p *provoker) refusal(ctx context.Context, asked dapi.PayoutCreate, key string, bounds dapi.Bounds) error {
	payment, _ := p.account.Payouts.Pay(ctx, asked, p.key(key), dapi.PayTerms{Bounds: bounds})
	return payment.Refusal
}

// reuse uses a key that another process used for another payment.
func (p *provoker) reuse(ctx context.Context) error {
	if _, err := p.account.Payouts.Book(ctx, terms(p.supplier, "20"),
		moneymovement.IdempotencyKey(p.key("invoice-42"))); err != nil {
		return err
	}
	restarted, err := dapi.NewIntegrator(p.program.BaseURL, p.program.Developer())
	if err != nil {
		return err
	}
	client, err := customer.Client(ctx, p.program, restarted)
	if err != nil {
		return err
	}
	payment, _ := restarted.For(client.ID).Payouts.Pay(ctx, terms(p.supplier, "21"), p.key("invoice-42"),
		dapi.PayTerms{})
	return payment.Refusal
}

func (p *provoker) strangers(ctx context.Context) error {
	key, err := signing.Generate()
	if err != nil {
		return err
	}
	stranger, err := dapi.NewIntegrator(p.program.BaseURL, dapi.Developer{Email: "nobody@example.com", Key: key})
	if err != nil {
		return err
	}
	_, err = stranger.Self().Chains.Live(ctx)
	return err
}

// unasked confirms a booking of 12 with terms that say 11. The developer key does not sign that.
func (p *provoker) unasked(ctx context.Context) error {
	booked, err := p.account.Payouts.Book(ctx, terms(p.supplier, "12"), moneymovement.IdempotencyKey(p.key("unasked")))
	if err != nil {
		return err
	}
	_, err = p.account.Payouts.Confirm(ctx, terms(p.supplier, "11"), booked)
	return err
}

// forged confirms a booking with the approval of another booking. The developer key does not sign that.
func (p *provoker) forged(ctx context.Context) error {
	other, err := p.account.Payouts.Book(ctx, terms(p.supplier, "12"), moneymovement.IdempotencyKey(p.key("other")))
	if err != nil {
		return err
	}
	booked, err := p.account.Payouts.Book(ctx, terms(p.supplier, "12"), moneymovement.IdempotencyKey(p.key("forged")))
	if err != nil {
		return err
	}
	booked.Approval = other.Approval
	_, err = p.account.Payouts.Confirm(ctx, terms(p.supplier, "12"), booked)
	return err
}

// dear accepts a fee of 0.01 at most. Nothing is signed, and the booked payout waits for a decision.
func (p *provoker) dear(ctx context.Context) error {
	return p.refusal(ctx, terms(p.supplier, "12"), "dear",
		dapi.Bounds{MaxFee: new(decimal.RequireFromString("0.01"))})
}

// inDoubt loses the response of a payment, and calls again. The second call is refused, which says nothing about the
// first call: the payment stays in doubt until a call succeeds.
func (p *provoker) inDoubt(ctx context.Context) error {
	pay := func() (payment dapi.Payment, err error) {
		return p.account.Payouts.Pay(ctx, terms(p.supplier, "5"), p.key("in-doubt"), dapi.PayTerms{})
	}
	var payment dapi.Payment
	_ = p.wire.while(losing{p.wire.next}, func() (err error) { payment, err = pay(); return err })
	p.program.Detail("the first call: the payment is %s", payment.State)
	inDoubt := p.wire.while(refusing(http.StatusForbidden, "forbidden", "The key was deleted."), func() (err error) {
		payment, err = pay()
		return err
	})
	p.program.Detail("the second call was refused: the payment is %s", payment.State)
	payment, err := pay()
	if err != nil {
		return err
	}
	p.program.Detail("the third call: the payment is %s, by payout %s", payment.State, payment.Payout.ID)
	return inDoubt
}

// refunded pays, and makes the sandbox report that the bank sent the money back.
func (p *provoker) refunded(ctx context.Context) error {
	paid, err := p.account.Payouts.Pay(ctx, terms(p.supplier, "15"), p.key("refunded"), dapi.PayTerms{})
	if err != nil {
		return err
	}
	if _, err := p.account.Sandbox.SetPayoutStatus(ctx, paid.Payout.ID, dapi.PayoutStatusRefunded,
		moneymovement.IdempotencyKey(p.key("refund"))); err != nil {
		return err
	}
	_, err = p.account.Payouts.Wait(ctx, paid.Payout.ID)
	return err
}

// read makes a read and returns another response than the service's.
func (p *provoker) read(instead http.RoundTripper) func(context.Context) error {
	return func(ctx context.Context) error {
		return p.wire.while(instead, func() error {
			_, err := p.account.Transactions.List(ctx, dapi.ListTransactionsParams{})
			return err
		})
	}
}

// lost loses the response of a booking, and books again with the same key. Payouts.Pay does that itself.
func (p *provoker) lost(ctx context.Context) error {
	unheard := p.wire.while(losing{p.wire.next}, func() error {
		_, err := p.account.Payouts.Book(ctx, terms(p.supplier, "13"), moneymovement.IdempotencyKey(p.key("lost")))
		return err
	})
	again, err := p.account.Payouts.Book(ctx, terms(p.supplier, "13"), moneymovement.IdempotencyKey(p.key("lost")))
	if err != nil {
		return err
	}
	p.program.Detail("called again with the same key: payout %s is %s", again.ID, again.Status)
	return unheard
}

func (p *provoker) nowhere(ctx context.Context) error {
	platform, err := dapi.NewIntegrator("http://127.0.0.1:1", p.program.Developer(),
		moneymovement.WithRetries(moneymovement.RetryPolicy{Max: -1}))
	if err != nil {
		return err
	}
	_, err = platform.Self().Chains.Live(ctx)
	return err
}
