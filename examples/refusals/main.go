// Refusals provokes each kind of error and says what to do about it: go run ./examples/refusals
//
// What to do is in remedy.go, from the narrow types to the wide ones; copy from there what your program meets. What
// provokes each error is in provoke.go.
package main

import (
	"context"
	"fmt"
	"io"
	"net/http"

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
	// The SDK tries again by itself where that is safe. Here it does not, so that the errors can be seen.
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
	for _, c := range provoker.cases() {
		p.Step("%s", c.title)
		err := c.provoke(ctx)
		if err == nil {
			return fmt.Errorf("%s: nothing was refused", c.title)
		}
		p.Detail("%T", err)
		p.Detail("%v", err)
		p.Detail("what to do: %s", remedy(err))
		if failure, ok := errors.AsType[errors.Failure](err); ok {
			p.Detail("send the same again: %t; money: %s", failure.Retryable(), failure.MovedByCall())
		}
	}
	return nil
}
