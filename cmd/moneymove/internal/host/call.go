package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/client"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/plaintext"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/public"
)

const callHelp = `Sends one request, and prints the body of the response. It knows from the path which credential to send: the session
of the developer key for /dapi/v1, the access token for /api/v1, none for /public and /utils, and the app API key for
all other paths.

A write that moves money takes an idempotency key. Give it with -key, and give the same key when you repeat the call:
then nothing is done twice. Without a key such a write is not sent.

Exit codes: 0 success; 2 nothing was sent; 3 the service refused, with the error on standard output; 4 the outcome of a
write is unknown, so send it again with the same key; 6 the host did not get the request.`

const callExamples = `  moneymove call GET /dapi/v1/chains
  moneymove call GET '/dapi/v1/transactions?limit=5' -as cl_123
  moneymove call POST /dapi/v1/payouts -key inv-42 -as cl_123 -d '{"contactId":"ct_1","amount":"25","currency":"USDC"}'
  moneymove call POST /dapi/v1/payouts/po_1/confirm -as cl_123 -d @signed.json
  moneymove call GET /utils/rates/EUR`

// callFlags are the flags of call.
type callFlags struct {
	data    string
	key     string
	headers []string
	include bool
}

func callCommand(a *app.App) *cobra.Command {
	where := client.New(a)
	var flags callFlags
	command := &cobra.Command{
		Use: "call METHOD PATH", Short: "Send one request to any operation, with the credential that it needs",
		Long: callHelp, Example: callExamples, Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			return call(c.Context(), a, where, c.Flags().Changed("as"), flags, args[0], args[1])
		},
	}
	where.AllFlags(command.Flags())
	set := command.Flags()
	set.StringVarP(&flags.data, "data", "d", "",
		"`body` of the request, in JSON; @file reads a file, and - standard input")
	set.StringVar(&flags.key, "key", "", "idempotency `key` of the write")
	set.StringArrayVarP(&flags.headers, "header", "H", nil,
		"one more `header`, such as 'X-Trace: 1'; repeat it for more")
	set.BoolVarP(&flags.include, "include", "i", false,
		"print the status and the headers of the response on standard error")
	return command
}

func call(
	ctx context.Context, a *app.App, where *client.Target, clientFlagSet bool, flags callFlags, method, path string,
) error {
	asked, err := client.Plan(where, strings.ToUpper(method), path, clientFlagSet)
	if err != nil {
		return err
	}
	asked.Key = flags.key
	if err := addHeaders(asked, flags.headers); err != nil {
		return err
	}
	if asked.Body, err = bodyOf(a, flags.data); err != nil {
		return err
	}
	response, err := asked.Send(ctx)
	if response != nil {
		if flags.include {
			printHead(a, response)
		}
		if failed := printBody(a, response); failed != nil {
			return failed
		}
	}
	return err
}

// ownHeaders are set by flags, or by the command itself.
var ownHeaders = map[string]string{
	"Authorization": "the path decides the credential", "X-Api-Key": "the path decides the credential",
	"Proxy-Authorization": "it is a credential", "Cookie": "the service uses no cookies",
	"X-Service-Account": "give the client with -as", "Idempotency-Key": "give the key with -key",
	"Host": "give the host with -url", "Content-Length": "the body decides it",
}

func addHeaders(asked *client.Request, lines []string) error {
	for _, line := range lines {
		name, value, found := strings.Cut(line, ":")
		name = http.CanonicalHeaderKey(strings.TrimSpace(name))
		value = strings.TrimSpace(value)
		switch {
		case !found || name == "" || strings.ContainsFunc(name+value, unicode.IsControl):
			return app.Usagef("-H is not a header: write it as 'Name: value'")
		case ownHeaders[name] != "":
			return app.Usagef("-H %s is not sent: %s", name, ownHeaders[name])
		}
		asked.Header.Add(name, value)
	}
	return nil
}

// bodyOf reads the value of -d.
func bodyOf(a *app.App, data string) ([]byte, error) {
	name, isFile := strings.CutPrefix(data, "@")
	switch {
	case data == "":
		return nil, nil
	case data == "-":
		return a.ReadFile("d", "-")
	case isFile:
		return a.ReadFile("d", name)
	}
	return []byte(data), nil
}

func printHead(a *app.App, response *client.Response) {
	a.Say("%d %s", response.Status, http.StatusText(response.Status))
	names := make([]string, 0, len(response.Header))
	for name := range response.Header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, value := range response.Header[name] {
			a.Say("%s: %s", name, value)
		}
	}
}

// printBody prints JSON with indents for people, and other text as it is. A program gets the bytes of the host.
func printBody(a *app.App, response *client.Response) error {
	if len(response.Body) == 0 {
		return nil
	}
	asJSON, err := a.JSON()
	if err != nil {
		return err
	}
	body := bytes.Clone(response.Body)
	if jsontext.Value(body).IsValid() {
		return printJSON(a, body, asJSON)
	}
	if !a.Terminal {
		_, err = a.Out.Write(body)
		return err
	}
	if !utf8.Valid(body) {
		a.Say("moneymove: the response has %d bytes of %q, which a terminal cannot show: "+
			"write them to a file with > FILE", len(body), response.Header.Get("Content-Type"))
		return nil
	}
	_, err = fmt.Fprintf(a.Out, "%s\n", bytes.TrimSuffix(body, []byte("\n")))
	return err
}

// printJSON prints one line for programs, or many for people.
func printJSON(a *app.App, body jsontext.Value, asJSON bool) error {
	var err error
	if asJSON {
		err = body.Compact()
	} else {
		err = body.Indent(jsontext.WithIndent("  "))
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Out, "%s\n", plaintext.JSON(body))
	return err
}

// rate is the exchange rate of a currency.
type rate struct {
	Currency string `json:"currency"`
	public.FXRate
}

func ratesCommand(a *app.App) *cobra.Command {
	where := client.New(a)
	command := &cobra.Command{
		Use: "rates CURRENCY...", Short: "Show the exchange rates of currencies against USD",
		Long: `Shows the exchange rates of currencies against USD. It needs no credential. A rate that the host does not have is
missing. The price of a payment is not this rate: moneymove pay shows it before it asks.`,
		Example: "  moneymove rates EUR GBP",
		Args:    cobra.MinimumNArgs(1), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, args []string) error {
			endpoints, err := where.Public()
			if err != nil {
				return err
			}
			var rates []rate
			var missing error
			for _, currency := range args {
				currency = strings.ToUpper(currency)
				found, err := endpoints.Rates.Get(c.Context(), currency)
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
