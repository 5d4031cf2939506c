package control

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"
	"github.com/spf13/cobra"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/plaintext"
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
				var balances []string
				for _, currency := range slices.Sorted(maps.Keys(account.Balances)) {
					balances = append(balances, account.Balances[currency].String()+" "+currency)
				}
				table.Rows = append(table.Rows, []string{account.ID, account.Email, account.Name, account.Status,
					strings.Join(balances, ", ")})
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

// books are the host's double-entry books, as the controls return them.
type books struct {
	Entries []struct {
		side
		Movement   string    `json:"movement"`
		Kind       string    `json:"kind"`
		ResourceID string    `json:"resourceId"`
		At         time.Time `json:"at"`
	} `json:"entries"`
	Sums     map[string]decimal.Decimal            `json:"sums"`
	Balances map[string]map[string]decimal.Decimal `json:"balances"`
}

// side is what one account gains in a movement.
type side struct {
	Account  string          `json:"account"`
	Amount   decimal.Decimal `json:"amount"`
	Currency string          `json:"currency"`
}

// movement is money that moved, with all accounts that gained or gave.
type movement struct {
	Movement   string                     `json:"movement"`
	Kind       string                     `json:"kind"`
	ResourceID string                     `json:"resourceId,omitzero"`
	At         time.Time                  `json:"at"`
	Entries    []side                     `json:"entries"`
	Sums       map[string]decimal.Decimal `json:"sums"` // zero, if what one account gains another gives
}

// ledger is the books by movement.
type ledger struct {
	Movements []*movement                           `json:"movements"`
	Sums      map[string]decimal.Decimal            `json:"sums"` // of all entries, also of those that are not shown
	Balances  map[string]map[string]decimal.Decimal `json:"balances"`
}

// byMovement orders the books. With an account, it leaves out the movements of others.
func (b books) byMovement(account string) ledger {
	all := ledger{Movements: []*movement{}, Sums: b.Sums, Balances: b.Balances}
	known := map[string]*movement{}
	for _, e := range b.Entries {
		m := known[e.Movement]
		if m == nil {
			m = &movement{Movement: e.Movement, Kind: e.Kind, ResourceID: e.ResourceID, At: e.At,
				Sums: map[string]decimal.Decimal{}}
			known[e.Movement] = m
			all.Movements = append(all.Movements, m)
		}
		m.Entries = append(m.Entries, e.side)
		m.Sums[e.Currency] = m.Sums[e.Currency].Add(e.Amount)
	}
	if account != "" {
		all.Movements = slices.DeleteFunc(all.Movements, func(m *movement) bool {
			return !slices.ContainsFunc(m.Entries, func(s side) bool { return s.Account == account })
		})
	}
	return all
}

func (l ledger) table() app.Table {
	table := app.Table{
		Head:  []string{"MOVEMENT", "TIME", "KIND", "RESOURCE", "ACCOUNT", "AMOUNT", "CURRENCY"},
		Right: []int{5},
	}
	for _, m := range l.Movements {
		lead := []string{m.Movement, m.At.UTC().Format(time.RFC3339), m.Kind, m.ResourceID}
		for _, s := range m.Entries {
			table.Rows = append(table.Rows, append(lead, s.Account, s.Amount.String(), s.Currency))
			lead = make([]string, len(lead))
		}
		for _, currency := range slices.Sorted(maps.Keys(m.Sums)) {
			table.Rows = append(table.Rows, []string{"", "", "", "", "=", m.Sums[currency].String(), currency})
		}
	}
	for _, currency := range slices.Sorted(maps.Keys(l.Sums)) {
		table.Rows = append(table.Rows, []string{"all", "", "", "", "=", l.Sums[currency].String(), currency})
	}
	return table
}

func ledgerCommand(a *app.App) *cobra.Command {
	var account string
	command := &cobra.Command{
		Use:   "ledger",
		Short: "Show the host's double-entry books, by movement",
		Long: `Shows the host's double-entry books by movement: what one account gains, another
gives. The sum of each movement and of all entries is zero. The accounts beside
those of clients are self, which is the integrator, and those of the host: faucet,
clearing, fees and outside.`,
	}
	target := NewTarget(a, command)
	command.Flags().StringVar(&account, "account", "", "only movements that this account, an `id` or email, took part in")
	target.suggestFor(command, "account", accountNames)
	command.RunE = func(c *cobra.Command, _ []string) error {
		id, err := target.ledgerAccount(c.Context(), account)
		if err != nil {
			return err
		}
		client, err := target.Client()
		if err != nil {
			return err
		}
		var b books
		if err := client.Get(c.Context(), "/ledger", &b); err != nil {
			return err
		}
		l := b.byMovement(id)
		return a.Print(l, l.table)
	}
	return command
}

func (t *Target) ledgerAccount(ctx context.Context, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	return t.account(ctx, name)
}
