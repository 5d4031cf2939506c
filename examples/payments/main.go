// Payments pays invoices, and survives its own death: go run ./examples/payments
//
// A processor of package payments stores each payment in one file before it sends anything. The program starts itself
// in another process and kills that process when a payment has left whose response is lost. Then it opens the same
// file, goes on, and compares the host's books: every invoice is paid, and none twice.
//
// To kill it by hand, start a host that stays, run the last command, and press Ctrl-C or kill the process. The same
// command goes on: the file knows which client pays, and whom.
//
//	go run ./cmd/moneymove sandbox -key-file developer.pem
//	export MONEYMOVEMENT_BASE_URL=http://127.0.0.1:8080 MONEYMOVEMENT_EMAIL=ops@example.com
//	export MONEYMOVEMENT_KEY_FILE=developer.pem
//	go run ./examples/payments -store payments.db
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/examples/internal/customer"
	"github.com/moneymovement/moneymovement-go/examples/internal/interrupted"
	"github.com/moneymovement/moneymovement-go/examples/internal/program"
)

func main() { program.Main(run) }

// settings are the values of the flags.
type settings struct {
	store     string
	client    string
	contact   string
	invoices  int
	killAfter int
}

func (s *settings) register(flags *flag.FlagSet) {
	flags.StringVar(&s.store, "store", "", "`file` that keeps the payments; if empty, a temporary one")
	flags.StringVar(&s.client, "client", "", "`id` of the client that pays; if empty, the program creates one")
	flags.StringVar(&s.contact, "contact", "", "`id` of the contact that is paid; if empty, the program creates one")
	flags.IntVar(&s.invoices, "invoices", 12, "`number` of invoices to pay")
	flags.IntVar(&s.killAfter, "kill-after", 5,
		"on the program's own host: kill the first start after this `number` of payments; 0 does not")
}

func run(ctx context.Context, args []string, out io.Writer) error {
	var s settings
	p, err := program.Open("payments", args, out, s.register)
	if err != nil {
		return err
	}
	defer p.Close()
	platform, err := dapi.NewIntegrator(p.BaseURL, p.Developer(), p.Options()...)
	if err != nil {
		return err
	}
	if p.Host == nil {
		if err := s.recall(ctx); err != nil {
			return err
		}
	}
	if err := s.prepare(ctx, p, platform); err != nil {
		return err
	}
	if s.store == "" {
		folder, err := os.MkdirTemp("", "payments-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(folder)
		s.store = filepath.Join(folder, "payments.db")
	}
	if p.Host != nil && s.killAfter > 0 {
		err := interrupted.Run(ctx, p, s.killAfter, "-store", s.store, "-client", s.client, "-contact", s.contact,
			"-invoices", strconv.Itoa(s.invoices))
		if err != nil {
			return err
		}
		p.Step("second start: the same file")
	}
	if err := s.payInvoices(ctx, p, platform); err != nil || p.Host == nil {
		return err
	}
	return s.audit(p)
}

// prepare creates a client with enough money, and a contact, unless the flags name them.
func (s *settings) prepare(ctx context.Context, p *program.Program, platform *dapi.Integrator) error {
	if s.client == "" {
		account, err := customer.Open(ctx, p, platform)
		if err != nil {
			return err
		}
		enough := s.total().Mul(decimal.NewFromInt(2))
		if err := customer.Credit(ctx, account.Sandbox, enough, dapi.USDC, p.Name); err != nil {
			return err
		}
		client, err := customer.Client(ctx, p, platform)
		if err != nil {
			return err
		}
		s.client = string(client.ID)
	}
	if s.contact != "" {
		return nil
	}
	contact, err := platform.For(dapi.ClientID(s.client)).Contacts.Create(ctx, dapi.ContactCreate{
		Name: "Example supplier",
		Account: dapi.SEPA(dapi.IBANAccount{
			IBAN: "DE89370400440532013000", Holder: dapi.AccountHolder{Name: "Example supplier"},
		}),
	})
	if err != nil {
		return err
	}
	s.contact = string(contact.ID)
	return nil
}

// amount returns the amount of an invoice. Each invoice has another one.
func amount(invoice int) decimal.Decimal { return decimal.New(1000+25*int64(invoice), -2) }

func (s *settings) total() (sum decimal.Decimal) {
	for invoice := range s.invoices {
		sum = sum.Add(amount(invoice + 1))
	}
	return sum
}

// audit compares the host's books with the invoices: as many payouts, and the same sum.
func (s *settings) audit(p *program.Program) error {
	left, sum := interrupted.Paid(p.Host), decimal.Zero
	for _, amount := range left {
		sum = sum.Add(amount)
	}
	if len(left) != s.invoices || !sum.Equal(s.total()) {
		return fmt.Errorf("the host's books have %d payouts with %s USDC in all, not %d with %s", len(left), sum,
			s.invoices, s.total())
	}
	p.Step("the host's books: %d payouts for %d invoices, %s USDC in all; no invoice was paid twice", len(left),
		s.invoices, sum.StringFixed(2))
	return nil
}

// grace is the time that calls under way have to finish after Ctrl-C.
const grace = 20 * time.Second
