package host

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/target"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/public"
)

// rate is the exchange rate of a currency.
type rate struct {
	Currency string `json:"currency"`
	public.FXRate
}

func ratesCommand(a *app.App) *cobra.Command {
	where := target.New(a)
	command := &cobra.Command{
		Use: "rates CURRENCY...", Short: "Show the exchange rates of currencies against USD",
		Long: `Shows the exchange rates of currencies against USD. It needs no credential. A rate that the host does not have is
missing. The price of a payment is not this rate: moneymove pay shows it before it asks.`,
		Example: "  moneymove rates EUR GBP",
		Args:    cobra.MinimumNArgs(1), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, args []string) error {
			client, err := where.Public()
			if err != nil {
				return err
			}
			var rates []rate
			var missing error
			for _, currency := range args {
				currency = strings.ToUpper(currency)
				found, err := client.Rates.Get(c.Context(), currency)
				if err != nil {
					missing = errors.Join(missing, fmt.Errorf("%s: %w", currency, err))
					continue
				}
				rates = append(rates, rate{currency, *found})
			}
			if len(rates) == 0 {
				return missing
			}
			return errors.Join(missing, a.Print(items[rate]{rates}, func() app.Table { return rateTable(rates) }))
		},
	}
	where.HostFlags(command.Flags())
	return command
}

func rateTable(rates []rate) app.Table {
	table := app.Table{Head: []string{"CURRENCY", "USD RATE", "BANK TRANSFER", "CARD"}, Right: []int{1, 2, 3}}
	for _, r := range rates {
		table.Rows = append(table.Rows, []string{r.Currency, shownRate(r.USDRate), shownRate(r.BankTransfer),
			shownRate(r.Card)})
	}
	return table
}

// shownRate shows a rate, and a line for a rate that the host does not have.
func shownRate(rate model.Decimal) string {
	if rate.IsZero() {
		return "-"
	}
	return rate.String()
}
