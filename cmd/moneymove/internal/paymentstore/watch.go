package paymentstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/internal/paymentview"
	"github.com/moneymovement/moneymovement-go/payments"
)

const watchHelp = `Shows payments as they change.

With the key of a payment, it shows each change of that one until it has ended or needs a decision. The exit code is
then 0 if the payment is completed, 5 if it needs a decision, and 7 if it is refused or came back.

Without a key, it shows all payments in the order of their last changes, and then each further change until it is
interrupted (Ctrl-C). With -after it goes on where an earlier run ended: each line of -o json has its position. A
payment that changed several times since is shown once.

No program can change a file while this command has it open. So over a file it shows what has changed, and ends; with a
key the exit code is then 7 if the payment is on its way.`

// change is a payment that has changed, and how far the reader has come.
type change struct {
	Position payments.Position `json:"position"`
	Payment  payments.Record   `json:"payment"`
}

func watchCommand(s *store) *cobra.Command {
	var after string
	var states []string
	command := &cobra.Command{
		Use: "watch [KEY]", Short: "Show payments as they change", Long: watchHelp,
		Example: `  moneymove payments watch invoice-42 -store postgres://ops@db.internal/shop
  moneymove payments watch -state needs_decision,came_back -store postgres://ops@db.internal/shop`,
		Args: cobra.MaximumNArgs(1),
	}
	s.flags(command)
	flags := command.Flags()
	flags.StringVar(&after, "after", "", "only changes after this `position`")
	stateFlag(command, &states)
	command.RunE = func(c *cobra.Command, args []string) error {
		wanted, err := statesOf(states)
		if err != nil {
			return err
		}
		if _, err := s.app.JSON(); err != nil {
			return err
		}
		if len(args) == 0 {
			err := s.open(c.Context(), func(*payments.Processor) error {
				return s.watchAll(c.Context(), payments.Position(after), wanted)
			})
			if c.Context().Err() != nil && s.opened != nil {
				err = nil // it runs until a person ends it
			}
			return err
		}
		key, err := keyOf(args[0])
		if err != nil {
			return err
		}
		if after != "" || len(states) > 0 {
			return app.Usagef("-after and -state do not go with a key: leave them out")
		}
		return s.open(c.Context(), func(p *payments.Processor) error { return s.watchOne(c.Context(), p, key) })
	}
	return command
}

// pollEvery is how often the store is asked for what others have changed.
const pollEvery = time.Second

// watchAll shows all changes. Over PostgreSQL it ends when a person interrupts it.
func (s *store) watchAll(
	ctx context.Context, after payments.Position, states []moneymovement.PaymentState,
) error {
	for {
		records, err := s.opened.Changes(ctx, after, 100)
		if err != nil {
			return outcome(err)
		}
		for _, record := range records {
			after = record.Position
			if record.Err() != nil {
				s.app.Say("moneymove: %v", record.Err())
				continue
			}
			if len(states) > 0 && !slices.Contains(states, record.State) {
				continue
			}
			if err := s.printChange(record); err != nil {
				return err
			}
		}
		if len(records) > 0 {
			continue
		}
		if !s.isPostgreSQL() {
			return nil
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

// watchOne shows the changes of one payment, until nothing more happens without a person.
func (s *store) watchOne(ctx context.Context, p *payments.Processor, key moneymovement.Key) error {
	for shown := payments.Position(""); ; {
		record, err := p.Get(ctx, key)
		if err != nil {
			return outcome(err)
		}
		if record.Position != shown {
			shown = record.Position
			if err := s.printChange(record); err != nil {
				return err
			}
		}
		switch state := record.State; {
		case state == moneymovement.PaymentNeedsDecision:
			return &app.Failure{Code: app.ExitDecision, Err: fmt.Errorf("payment %s needs a decision", key)}
		case state.Final() && state != moneymovement.PaymentCompleted:
			return app.Otherwisef("payment %s is %s", key, state)
		case state.Final():
			return nil
		case !s.isPostgreSQL():
			return app.Otherwisef("payment %s is %s, and goes on when the program runs again", key, state)
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

// pause waits until it is time to ask again.
func pause(ctx context.Context) error {
	select {
	case <-time.After(pollEvery):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// printChange prints a line. Lines come one by one, so their columns have fixed widths.
func (s *store) printChange(r payments.Record) error {
	return s.app.Print(change{r.Position, r}, func() app.Table {
		why := ""
		if r.Reason != nil {
			why = string(r.Reason.Code)
		}
		amount, currency := paymentview.Terms(r)
		return app.Table{Rows: [][]string{{paymentview.Time(r.ChangedAt), fmt.Sprintf("%-14s", r.State), string(r.Key),
			amount, currency, why}}}
	})
}
