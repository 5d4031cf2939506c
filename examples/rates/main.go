// Rates prints the exchange rates of currencies in USD: go run ./examples/rates [EUR GBP ...]
//
// It needs no credential.
package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/examples/internal/program"
	"github.com/moneymovement/moneymovement-go/public"
)

func main() { program.Main(run) }

// usual are the currencies of the table if the command line names none.
var usual = []string{"EUR", "GBP", "AUD", "AED", "BRL", "MXN", "NGN", "JPY"}

func run(ctx context.Context, args []string, out io.Writer) error {
	var currencies []string
	p, err := program.OpenWith(program.CommandLine{Name: "rates", Arguments: &currencies}, args, out)
	if err != nil {
		return err
	}
	defer p.Close()
	client, err := public.New(p.BaseURL)
	if err != nil {
		return err
	}
	if len(currencies) == 0 {
		currencies = usual
	}
	rates, err := fetch(ctx, client, currencies)
	if err != nil {
		return err
	}
	p.Step("the value of one unit in USD:")
	return show(out, currencies, rates)
}

// fetch reads the rates. It leaves out currencies that the service does not know.
func fetch(ctx context.Context, client *public.Client, currencies []string) (map[string]*public.FXRate, error) {
	rates := map[string]*public.FXRate{}
	for _, currency := range currencies {
		rate, err := client.Rates.Get(ctx, currency)
		var unknown *errors.NotFound
		if errors.As(err, &unknown) {
			continue
		}
		if err != nil {
			return nil, err
		}
		rates[currency] = rate
	}
	return rates, nil
}

// show prints a row for each currency, with the decimal points below each other.
func show(out io.Writer, currencies []string, rates map[string]*public.FXRate) error {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "CURRENCY\tRATE\tBANK TRANSFER\tCARD\t")
	for _, currency := range currencies {
		rate, known := rates[currency]
		if !known {
			fmt.Fprintf(table, "%s\tnone\t\t\t\n", currency)
			continue
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t\n", currency, price(rate.USDRate), price(rate.BankTransfer),
			price(rate.Card))
	}
	return table.Flush()
}

// price shows six decimals, or "-" for a rate that the service does not give.
func price(rate decimal.Decimal) string {
	if rate.IsZero() {
		return "-"
	}
	return rate.StringFixed(6)
}
