package control

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/shopspring/decimal"
	"github.com/spf13/cobra"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
)

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
gives. The sum of each movement and of all entries is zero. Accounts that are no
client's are self, the integrator's own, and those of the host: faucet, clearing,
fees and outside.`,
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
