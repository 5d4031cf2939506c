package paymentstore

import (
	"context"
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
	flags.StringVar(&since, "since", "", "`time` at which the copy was begun, or earlier: RFC 3339, or how long ago, such as 48h")
	flags.BoolVar(&end, "end", false, "all payments since the copy were submitted again")
	command.RunE = func(c *cobra.Command, _ []string) error {
		if end == (since != "") {
			return app.Usagef("give either -since with the time of the copy, or -end")
		}
		var at time.Time
		if !end {
			var err error
			if at, err = timeOf("since", since, time.Now()); err != nil {
				return err
			}
		}
		return s.open(c.Context(), func(p *payments.Processor) error { return s.setRestored(c.Context(), p, at) })
	}
	return command
}

// setRestored says that the store is a copy of a time, or with the zero time that all payments since were submitted
// again, and prints what holds now.
func (s *store) setRestored(ctx context.Context, p *payments.Processor, since time.Time) error {
	before, err := p.Summary(ctx)
	if err != nil {
		return err
	}
	if since.IsZero() {
		err = p.EndRestored(ctx)
	} else {
		err = p.MarkRestored(ctx, since)
	}
	if err != nil {
		return err
	}
	after, err := p.Summary(ctx)
	if err != nil {
		return err
	}
	now := struct {
		RestoredFrom time.Time `json:"restoredFrom,omitzero"`
	}{after.RestoredFrom.UTC()}
	return s.app.Print(now, func() app.Table {
		says := "the store is a copy of " + now.RestoredFrom.Format(time.RFC3339) +
			": each payment is searched for before it is paid"
		switch {
		case !now.RestoredFrom.IsZero():
		case before.RestoredFrom.IsZero():
			says = "nobody had said that the store is a copy: nothing has changed"
		default:
			says = "payments that are submitted from now on are new, and need no search"
		}
		return app.Table{Rows: [][]string{{says}}}
	})
}
