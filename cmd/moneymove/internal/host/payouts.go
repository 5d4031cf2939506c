package host

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/client"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
)

// payoutsCommand is the group of the commands for payouts. The service has no list of payouts: tx has their ids.
func payoutsCommand(a *app.App) *cobra.Command {
	group := &cobra.Command{Use: "payouts", Short: "Payouts: read one, or wait until its money has arrived"}
	group.AddCommand(getPayoutCommand(a), waitPayoutCommand(a))
	return group
}

func getPayoutCommand(a *app.App) *cobra.Command {
	where := client.New(a)
	command := &cobra.Command{
		Use: "get ID", Short: "Show a payout",
		Long: `Shows a payout. The service has no list of payouts: moneymove tx shows their ids. The exit code is 7 if the payout
failed, came back or expired.`,
		Example: "  moneymove payouts get po_1 -as cl_123",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: payoutIDs(where),
		RunE: func(c *cobra.Command, args []string) error {
			account, err := where.Account()
			if err != nil {
				return err
			}
			payout, err := account.Payouts.Get(c.Context(), dapi.PayoutID(args[0]))
			if err != nil {
				return err
			}
			if err := printPayout(a, payout); err != nil {
				return err
			}
			if payout.Status.Final() && payout.Status != dapi.PayoutStatusCompleted {
				return app.Otherwisef("payout %s ended with status %s: its money came back or never left", payout.ID,
					payout.Status)
			}
			return nil
		},
	}
	where.PlatformFlags(command.Flags())
	return command
}

func waitPayoutCommand(a *app.App) *cobra.Command {
	where := client.New(a)
	var timeout, shortest time.Duration
	command := &cobra.Command{
		Use: "wait ID", Short: "Wait until the money of a payout has arrived",
		Long: `Reads a payout until it is completed, and shows it. The exit code is 7 if the payout failed, came back or expired. If
the time is over first, it is 4: the payout goes on by itself, and you can wait again.`,
		Example: "  moneymove payouts wait po_1 -as cl_123 -timeout 1h",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: payoutIDs(where),
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkWait(timeout, shortest); err != nil {
				return err
			}
			account, err := where.Account()
			if err != nil {
				return err
			}
			payout, err := waitFor(c.Context(), account, dapi.PayoutID(args[0]), timeout, shortest)
			if payout != nil {
				if printed := printPayout(a, payout); printed != nil {
					return printed
				}
			}
			return waitFailure(c.Context(), err)
		},
	}
	where.PlatformFlags(command.Flags())
	waitFlags(command, &timeout, &shortest)
	return command
}

// waitFlags adds the flags of a command that can wait.
func waitFlags(command *cobra.Command, timeout, shortest *time.Duration) {
	command.Flags().DurationVar(timeout, "timeout", 10*time.Minute, "the longest `time` to wait, such as 30s or 2h")
	everyFlag(command, shortest)
}

// everyFlag adds the flag of the pause between two reads.
func everyFlag(command *cobra.Command, shortest *time.Duration) {
	command.Flags().DurationVar(shortest, "every", 0,
		"the shortest `pause` between two reads, such as 5s (default: chosen by the SDK; pauses grow)")
}

// checkWait refuses flags of a wait before anything is sent.
func checkWait(timeout, shortest time.Duration) error {
	if timeout <= 0 {
		return app.Usagef("-timeout is %s: give a time such as 30s or 2h", timeout)
	}
	if shortest != 0 && (shortest < time.Millisecond || shortest > 24*time.Hour) {
		return app.Usagef("-every is %s: give 1ms to 24h", shortest)
	}
	return nil
}

// polling returns the option of -every. Pauses grow to ten times the shortest.
func polling(shortest time.Duration) []moneymovement.WaitOption {
	if shortest == 0 {
		return nil
	}
	return []moneymovement.WaitOption{moneymovement.PollEvery(shortest, max(shortest, min(10*shortest, 24*time.Hour)))}
}

// waitFor waits until a payout has ended, for at most the time of -timeout.
func waitFor(
	ctx context.Context, account *dapi.Account, id dapi.PayoutID, timeout, shortest time.Duration,
) (*dapi.Payout, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return account.Payouts.Wait(ctx, id, polling(shortest)...)
}

// waitFailure returns the error of a command whose wait has ended.
func waitFailure(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if _, ended := errors.AsType[*dapi.PayoutNotCompleted](err); ended {
		return &app.Failure{Code: app.ExitOtherwise, Err: err}
	}
	if ctx.Err() != nil {
		return &app.Failure{Code: app.ExitInterrupted, Err: err}
	}
	return err
}

func printPayout(a *app.App, payout *dapi.Payout) error {
	return a.Print(payout, func() app.Table { return app.Table{Rows: payoutRows(payout)} })
}

// payoutRows shows a payout to people.
func payoutRows(p *dapi.Payout) [][]string {
	rows := [][]string{{"payout", string(p.ID)}}
	add := func(name, value string) {
		if value != "" {
			rows = append(rows, []string{name, value})
		}
	}
	add("status", string(p.Status))
	add("contact", string(p.ContactID))
	if !p.Amount.IsZero() {
		add("amount", p.Amount.String()+" "+string(p.Currency))
	}
	if p.Quote != nil {
		rows = append(rows, priceRows(p)...)
	}
	add("idempotency key", p.IdempotencyKey)
	add("purpose", p.Purpose)
	add("reference", p.PaymentReference)
	if p.FromChainID != 0 || p.ToChainID != 0 {
		add("chains", fmt.Sprintf("%d to %d", p.FromChainID, p.ToChainID))
	}
	add("transaction", p.TransactionHash)
	if !p.CreatedAt.IsZero() {
		add("booked", p.CreatedAt.UTC().Format(time.RFC3339))
	}
	return rows
}
