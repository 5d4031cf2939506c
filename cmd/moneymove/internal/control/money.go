package control

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/shopspring/decimal"
	"github.com/spf13/cobra"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/internal/plaintext"
)

// Account is an account at the host with what it holds.
type Account struct {
	ID       string                     `json:"id"` // self is the integrator's own
	Email    string                     `json:"email"`
	Name     string                     `json:"name"`
	Status   string                     `json:"status"`
	Balances map[string]decimal.Decimal `json:"balances"`
}

// Accounts returns the accounts at the host.
func (c *Client) Accounts(ctx context.Context) ([]Account, error) {
	var accounts list[Account]
	err := c.Get(ctx, "/accounts", &accounts)
	return accounts.Items, err
}

func accountsCommand(a *app.App) *cobra.Command {
	command := &cobra.Command{Use: "accounts", Short: "List the accounts at the host, with what they hold"}
	target := NewTarget(a, command)
	command.RunE = func(c *cobra.Command, _ []string) error {
		return call(c.Context(), target, http.MethodGet, "/accounts", nil, func(accounts list[Account]) app.Table {
			table := app.Table{Head: []string{"ACCOUNT", "EMAIL", "NAME", "STATUS", "BALANCES"}}
			for _, account := range accounts.Items {
				var held []string
				for _, currency := range slices.Sorted(maps.Keys(account.Balances)) {
					held = append(held, account.Balances[currency].String()+" "+currency)
				}
				table.Rows = append(table.Rows, []string{account.ID, account.Email, account.Name, account.Status,
					strings.Join(held, ", ")})
			}
			return table
		})
	}
	return command
}

// credit is money that an account got from the host's faucet.
type credit struct {
	TransactionID string          `json:"transactionId"`
	Account       string          `json:"account"`
	Amount        decimal.Decimal `json:"amount"`
	Currency      string          `json:"currency"`
	Balance       decimal.Decimal `json:"balance"`
}

func creditCommand(a *app.App) *cobra.Command {
	command := &cobra.Command{
		Use:   "credit ACCOUNT AMOUNT CURRENCY",
		Short: "Give an account money from the host's faucet",
		Long: `Gives an account money from the host's faucet. ACCOUNT is the id of a client, the
email of a client, or self: the integrator's own account.`,
		Example: "  moneymove credit self 50 USDC\n  moneymove credit acme@example.com 12.50 USDC",
		Args:    cobra.ExactArgs(3),
	}
	target := NewTarget(a, command)
	command.ValidArgsFunction = func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		switch len(args) {
		case 0:
			return target.suggest(c.Context(), accountNames)
		case 2:
			return []string{"USDC", "USDT", "EURC"}, cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	command.RunE = func(c *cobra.Command, args []string) error {
		amount, err := app.Amount("AMOUNT", args[1])
		if err != nil {
			return err
		}
		if amount.IsZero() {
			return app.Usagef("AMOUNT is zero; give one such as 50 or 12.50")
		}
		account, err := target.account(c.Context(), args[0])
		if err != nil {
			return err
		}
		body := map[string]string{"account": account, "amount": amount.String(), "currency": args[2]}
		return call(c.Context(), target, http.MethodPost, "/credits", body, func(done credit) app.Table {
			return app.Table{
				Head: []string{"TRANSACTION", "ACCOUNT", "AMOUNT", "CURRENCY", "BALANCE"},
				Rows: [][]string{{done.TransactionID, done.Account, done.Amount.String(), done.Currency,
					done.Balance.String()}},
				Right: []int{2, 4},
			}
		})
	}
	return command
}

// account returns the id of an account that a person named by id or by email.
func (t *Target) account(ctx context.Context, name string) (string, error) {
	if !strings.Contains(name, "@") {
		return name, nil
	}
	client, err := t.Client()
	if err != nil {
		return "", err
	}
	accounts, err := client.Accounts(ctx)
	if err != nil {
		return "", err
	}
	for _, account := range accounts {
		if strings.EqualFold(account.Email, name) {
			return account.ID, nil
		}
	}
	return "", app.Usagef("no account at the host has the email %q; `moneymove accounts` lists them", name)
}

// accountNames are the ids of accounts, each with a description for the shell.
func accountNames(ctx context.Context, client *Client) ([]string, error) {
	accounts, err := client.Accounts(ctx)
	var names []string
	for _, account := range accounts {
		names = append(names, account.ID+"\t"+plaintext.Line(account.Email))
	}
	return names, err
}

// escaped makes an id of a person's a segment of a path.
func escaped(id string) string { return url.PathEscape(id) }
