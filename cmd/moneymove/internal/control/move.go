package control

import (
	"context"
	"net/http"
	"strings"

	"github.com/shopspring/decimal"
	"github.com/spf13/cobra"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
)

// resource is a payout, a payin or a verification, with the statuses that it can be moved to now.
type resource struct {
	ID       string          `json:"id"`
	Account  string          `json:"account"`
	Status   string          `json:"status"`
	Amount   decimal.Decimal `json:"amount"`
	Currency string          `json:"currency"`
	Moves    []string        `json:"moves"`
}

func moveCommand(a *app.App) *cobra.Command {
	command := &cobra.Command{
		Use:   "move",
		Short: "List payouts, payins and verifications, and move one to another status",
		Long: `Moves a payout, payin or verification to another status, as the service's operator
or a partner would. Without an id it lists them, with the statuses that each can
be moved to now.`,
		Example: "  moneymove move payout\n  moneymove move payout po_1 failed",
	}
	target := NewTarget(a, command)
	for _, kind := range []struct{ one, path, short string }{
		{"payout", "/payouts", "List payouts, or move one"},
		{"payin", "/payins", "List payins, or move one"},
		{"verification", "/verifications", "List the clients' verifications, or decide about one"},
	} {
		command.AddCommand(moveOf(target, kind.one, kind.path, kind.short))
	}
	return command
}

func moveOf(target *Target, one, path, short string) *cobra.Command {
	resources := func(ctx context.Context, client *Client) ([]resource, error) {
		var all list[resource]
		err := client.Get(ctx, path, &all)
		return all.Items, err
	}
	return &cobra.Command{
		Use:   one + " [ID STATUS]",
		Short: short,
		Args:  cobra.MaximumNArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			switch len(args) {
			case 0:
				return call(c.Context(), target, http.MethodGet, path, nil, resourceTable)
			case 1:
				return app.Usagef("give the status for %s %s as well, or no id to list them", one, args[0])
			}
			return do(c.Context(), target, http.MethodPost, path+"/"+escaped(args[0]),
				map[string]string{"status": args[1]}, args[0], args[1], args[0]+" is "+args[1]+".")
		},
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 1 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return target.suggest(c.Context(), func(ctx context.Context, client *Client) ([]string, error) {
				all, err := resources(ctx, client)
				var found []string
				for _, r := range all {
					switch {
					case len(args) == 1 && r.ID == args[0]:
						found = r.Moves
					case len(args) == 0 && len(r.Moves) > 0:
						found = append(found, r.ID+"\t"+r.Status)
					}
				}
				return found, err
			})
		},
	}
}

func resourceTable(all list[resource]) app.Table {
	table := app.Table{Head: []string{"ID", "ACCOUNT", "STATUS", "AMOUNT", "CURRENCY", "CAN BECOME"}, Right: []int{3}}
	for _, r := range all.Items {
		amount := ""
		if r.Currency != "" {
			amount = r.Amount.String()
		}
		table.Rows = append(table.Rows, []string{r.ID, r.Account, r.Status, amount, r.Currency,
			strings.Join(r.Moves, ", ")})
	}
	return table
}
