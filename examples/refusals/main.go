// Refusals provokes each kind of error and says what to do about it: go run ./examples/refusals
//
// remedy.go says what to do about each type of error, the specific types first. Copy the cases that your program meets.
// provoke.go makes the calls that fail. docs/errors.md lists every slug.
package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"text/tabwriter"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/examples/internal/customer"
	"github.com/moneymovement/moneymovement-go/examples/internal/program"
)

func main() { program.Main(run) }

func run(ctx context.Context, args []string, out io.Writer) error {
	p, err := program.Open("refusals", args, out)
	if err != nil {
		return err
	}
	defer p.Close()
	wire := &wire{next: &http.Transport{Proxy: http.ProxyFromEnvironment}}
	// By default the SDK tries again where that is safe. Here it does not, so that you can see the errors.
	platform, err := dapi.NewIntegrator(p.BaseURL, p.Developer(),
		moneymovement.WithHTTPClient(&http.Client{Transport: wire}),
		moneymovement.WithRetries(moneymovement.RetryPolicy{Max: -1}))
	if err != nil {
		return err
	}
	account, err := customer.OpenWith(ctx, p, platform, decimal.NewFromInt(50), dapi.USDC)
	if err != nil {
		return err
	}
	provoker := &provoker{program: p, account: account, wire: wire}
	if err := provoker.prepare(ctx); err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "    WHAT HAPPENED\tERROR\tSAME CALL AGAIN\tMONEY")
	for _, c := range provoker.cases() {
		p.Step("%s", c.title)
		err := c.provoke(ctx)
		if err == nil {
			return fmt.Errorf("%s: nothing was refused", c.title)
		}
		again, money := "-", "-"
		if failure, ok := errors.AsType[errors.Failure](err); ok {
			again = map[bool]string{true: "yes", false: "no"}[failure.Retryable()]
			money = strings.ReplaceAll(string(failure.MovedByCall()), "_", " ")
		}
		p.Detail("error       %T", err)
		p.Detail("says        %v", err)
		p.Detail("what to do  %s", remedy(err))
		p.Detail("look up     docs/errors.md#%s", anchor(err))
		fmt.Fprintf(table, "    %s\t%T\t%s\t%s\n", c.title, err, again, money)
	}
	p.Step("all of them:")
	if err := table.Flush(); err != nil {
		return err
	}
	p.Detail("SAME CALL AGAIN says whether the same call, repeated later, can succeed. MONEY says what this call did.")
	p.Detail("For a payment, branch on Payment.State: it is the state over all calls.")
	return nil
}

// anchor returns where docs/errors.md explains an error: by its slug if the service sent one, else by its type.
func anchor(err error) string {
	if refusal, ok := errors.AsType[*errors.Refusal](err); ok {
		if _, newer := errors.AsType[*errors.Unrecognized](err); !newer {
			return string(refusal.Code)
		}
	}
	return strings.ToLower(strings.NewReplacer("*", "", ".", "").Replace(fmt.Sprintf("%T", err)))
}
