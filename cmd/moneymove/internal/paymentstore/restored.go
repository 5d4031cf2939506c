package paymentstore

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/payments"
)

func restoredCommand(s *store) *cobra.Command {
	var since string
	var end bool
	command := &cobra.Command{
		Use:   "restored",
		Short: "Say that the store was restored from a copy, or end that",
		Long: `Says that the store was restored from an older copy. Payments may have been made
since the copy was made, so each payment is searched for before it is paid, also
one that is submitted again. Run it before the programs start. A copy that
Backup of package payments/sqlite made says so itself.

Once all payments since the copy are submitted again and reconciled, -end ends
it for payments that are submitted from then on. docs/deploys.md has all steps.`,
		Example: `  moneymove payments restored -since 2026-03-01T04:00:00Z -store payments.db
  moneymove payments restored -end -store payments.db`,
		Args: cobra.NoArgs,
	}
	s.flags(command)
	flags := command.Flags()
	flags.StringVar(&since, "since", "", "`time` at which the copy was begun, or earlier, such as 2026-03-01T04:00:00Z")
	flags.BoolVar(&end, "end", false, "all payments since the copy were submitted again")
	command.RunE = func(c *cobra.Command, _ []string) error {
		if end == (since != "") {
			return app.Usagef("give -since with the time of the copy, or -end")
		}
		var at time.Time
		if !end {
			var err error
			if at, err = time.Parse(time.RFC3339, since); err != nil {
				return app.Usagef("-since is %q; give a time such as 2026-03-01T04:00:00Z", since)
			}
		}
		return s.open(c.Context(), func(p *payments.Processor) error {
			if end {
				return p.EndRestored(c.Context())
			}
			return p.MarkRestored(c.Context(), at)
		})
	}
	return command
}
