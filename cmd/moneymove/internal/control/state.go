package control

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"
	"github.com/spf13/cobra"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
)

type clock struct {
	Now time.Time `json:"now"`
}

func (c clock) table() app.Table {
	return app.Table{Rows: [][]string{{c.Now.Format(time.RFC3339Nano)}}}
}

func clockCommand(a *app.App) *cobra.Command {
	command := &cobra.Command{
		Use:   "clock",
		Short: "Show the host's time",
		Long: `Shows the host's time. All that lasts ends on this clock: sessions, quotes,
approvals, idempotency keys, rate windows and steps of progress.`,
	}
	target := NewTarget(a, command)
	command.RunE = func(c *cobra.Command, _ []string) error {
		return call(c.Context(), target, http.MethodGet, "/clock", nil, clock.table)
	}
	command.AddCommand(&cobra.Command{
		Use:     "advance DURATION",
		Short:   "Move the host's clock forward",
		Example: "  moneymove clock advance 61s\n  moneymove clock advance 60d",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			d, err := duration(args[0])
			if err != nil {
				return err
			}
			return call(c.Context(), target, http.MethodPost, "/clock", map[string]string{"advance": d.String()},
				clock.table)
		},
	})
	return command
}

// duration reads what Go reads, and days such as 60d: a session lasts sixty days.
func duration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n int
		if n, err = strconv.Atoi(days); err == nil && n <= 100_000 {
			d = time.Duration(n) * 24 * time.Hour
		}
	}
	if err != nil || d <= 0 {
		return 0, app.Usagef("%q is not a duration by which the clock moves forward; give one such as 61s, 90m or 60d",
			text)
	}
	return d, nil
}

// windows are the rate windows of the service, and how full they are.
type windows struct {
	On    bool `json:"on"` // whether the host counts requests
	Items []struct {
		Window   string    `json:"window"`
		Key      string    `json:"key"`
		Count    int       `json:"count"`
		Limit    int       `json:"limit"`
		ClosesAt time.Time `json:"closesAt"`
	} `json:"items"`
}

func (w windows) table() app.Table {
	if !w.On {
		const off = "The host counts no requests. This turns it on: moneymove settings set rateLimits=true"
		return app.Table{Rows: [][]string{{off}}}
	}
	table := app.Table{Head: []string{"WINDOW", "OF", "COUNT", "LIMIT", "CLOSES"}, Right: []int{2, 3}}
	for _, item := range w.Items {
		table.Rows = append(table.Rows, []string{item.Window, item.Key, strconv.Itoa(item.Count),
			strconv.Itoa(item.Limit), item.ClosesAt.UTC().Format(time.RFC3339)})
	}
	return table
}

func windowsCommand(a *app.App) *cobra.Command {
	command := &cobra.Command{Use: "windows", Short: "Show how full the rate windows are"}
	target := NewTarget(a, command)
	command.RunE = func(c *cobra.Command, _ []string) error {
		return call(c.Context(), target, http.MethodGet, "/windows", nil, windows.table)
	}
	return command
}

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
				var suggestions []string
				for _, r := range all {
					switch {
					case len(args) == 1 && r.ID == args[0]:
						suggestions = r.Moves
					case len(args) == 0 && len(r.Moves) > 0:
						suggestions = append(suggestions, r.ID+"\t"+r.Status)
					}
				}
				return suggestions, err
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

func resetCommand(a *app.App) *cobra.Command {
	var yes bool
	command := &cobra.Command{
		Use:   "reset",
		Short: "Take the host back to its start",
		Long: `Takes the host back to its start: it forgets sessions, clients, money, faults and
requests, and has the settings and the clock of its start. The credentials stay
the same.`,
	}
	target := NewTarget(a, command)
	command.Flags().BoolVar(&yes, "yes", false, "do not ask")
	command.RunE = func(c *cobra.Command, _ []string) error {
		client, err := target.Client()
		if err != nil {
			return err
		}
		if !yes {
			sure, err := a.ConfirmWithin(c.Context(), "The host at "+client.URL()+" forgets all that it has.")
			if err != nil {
				return err
			}
			if !sure {
				return errors.New("nothing was reset")
			}
		}
		return do(c.Context(), target, http.MethodPost, "/reset", nil, "reset", client.URL(),
			"The host is as it was at its start.")
	}
	return command
}
