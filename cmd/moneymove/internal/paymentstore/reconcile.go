package paymentstore

import (
	"fmt"
	"time"

	"github.com/shopspring/decimal"
	"github.com/spf13/cobra"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/client"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/payments"
)

const reconcileHelp = `Compares the stored payments of one account with the account's ledger at the service, over a period: each paid payment
must have an entry, and each entry a payment. It needs the developer key, logs in, and reads.

It stores one thing: if the payout itself says that its money came back, the payment is came_back from then on. Nothing
is paid. The exit code is 7 if there are differences. docs/production.md says what each kind of difference needs.`

// reconciliation is a report as the command prints it.
type reconciliation struct {
	Account     dapi.ClientID `json:"account"`
	From        time.Time     `json:"from"`
	To          time.Time     `json:"to"`
	Matched     int           `json:"matched"`
	Pending     int           `json:"pending"`
	Differences []difference  `json:"differences"`
}

// difference is one between the stored payments and the ledger.
type difference struct {
	Kind     payments.DifferenceKind    `json:"kind"`
	Key      moneymovement.Key          `json:"key,omitzero"`
	State    moneymovement.PaymentState `json:"state,omitzero"`
	PayoutID dapi.PayoutID              `json:"payoutId,omitzero"`
	EscrowID dapi.EscrowID              `json:"escrowId,omitzero"`
	Stored   *decimal.Decimal           `json:"stored,omitempty"`
	Entry    *dapi.Transaction          `json:"entry,omitempty"`
}

func reconcileCommand(s *store) *cobra.Command {
	where := client.New(s.app)
	var from, to string
	command := &cobra.Command{
		Use: "reconcile", Short: "Compare the payments of a store with the ledger of an account",
		Long: reconcileHelp,
		Example: `  moneymove payments reconcile -as cl_123 -store postgres://ops@db.internal/shop
  moneymove payments reconcile -from 2026-03-01T00:00:00Z -to 2026-03-02T00:00:00Z -store payments.db`,
	}
	s.flags(command)
	where.PlatformFlags(command.Flags())
	command.Flags().StringVar(&from, "from", "24h", "begin of the period: RFC 3339, or how long `ago`, such as 48h")
	command.Flags().StringVar(&to, "to", "0s", "its end, which is not part of it: RFC 3339, or how long `ago`")
	command.RunE = func(c *cobra.Command, _ []string) error {
		now := time.Now()
		params := payments.ReconcileParams{}
		var err error
		if params.From, err = timeOf("from", from, now); err != nil {
			return err
		}
		if params.To, err = timeOf("to", to, now); err != nil {
			return err
		}
		if !params.From.Before(params.To) {
			return app.Usagef("-from is not before -to: give a period")
		}
		services, account, err := where.Payments()
		if err != nil {
			return err
		}
		params.Account = account
		return s.openWith(c.Context(), services, func(p *payments.Processor) error {
			report, err := p.Reconcile(c.Context(), params)
			if err != nil && !isUnreadable(err) {
				return err
			}
			if printed := s.printReport(account, report); printed != nil {
				return printed
			}
			switch n := len(report.Differences); {
			case err != nil || n == 0:
				return err
			case n == 1:
				return app.Otherwisef("the payments and the ledger differ once")
			default:
				return app.Otherwisef("the payments and the ledger differ %d times", n)
			}
		})
	}
	return command
}

// timeOf reads a time, or how long ago it was.
func timeOf(flag, text string, now time.Time) (time.Time, error) {
	if ago, err := time.ParseDuration(text); err == nil && ago >= 0 {
		return now.Add(-ago), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, app.Usagef("-%s is %q: give a time such as 2026-01-31T12:00:00Z, or how long ago, such as "+
			"24h", flag, text)
	}
	return at, nil
}

func (s *store) printReport(account dapi.ClientID, report payments.Report) error {
	printed := reconciliation{Account: account, From: report.From.UTC(), To: report.To.UTC(), Matched: report.Matched,
		Pending: report.Pending, Differences: []difference{}}
	for _, d := range report.Differences {
		printed.Differences = append(printed.Differences,
			difference{d.Kind, d.Key, d.State, d.PayoutID, d.EscrowID, d.Stored, d.Entry})
	}
	return s.app.Print(printed, func() app.Table {
		table := app.Table{Rows: [][]string{
			{"account", string(account)},
			{"period", report.From.UTC().Format(time.RFC3339) + " to " + report.To.UTC().Format(time.RFC3339)},
			{"agree", fmt.Sprintf("%d, of which %d are pending", report.Matched, report.Pending)},
		}}
		for _, d := range report.Differences {
			table.Rows = append(table.Rows, []string{"differs", d.String()})
		}
		return table
	})
}
