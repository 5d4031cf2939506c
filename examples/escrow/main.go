// Escrow opens two escrows, releases one and refunds the other: go run ./examples/escrow
//
// An escrow has three windows: first to approve it, which holds the money; then to release the money to the payee; then
// to take it back. Each window starts when the one before ends. The service refuses an action outside its window. Every
// action is prepared, signed and confirmed like a payout. Escrows.Open and Escrows.Act do that in one call.
//
// The service reads each escrow from chain at most once in 15 seconds, and shows the result of an action after the next
// read. On another host this program waits for that, and for the windows of the second escrow. On its own host it moves
// the host's clock, so that nobody has to wait.
package main

import (
	"context"
	"flag"
	"io"
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/examples/internal/program"
	"github.com/moneymovement/moneymovement-go/signing/wallet"
)

func main() { program.Main(run) }

func run(ctx context.Context, args []string, out io.Writer) error {
	var window time.Duration
	p, err := program.Open("escrow", args, out, func(flags *flag.FlagSet) {
		flags.DurationVar(&window, "window", 2*time.Second,
			"`length` of each of the first two windows of the second escrow, in whole seconds")
	})
	if err != nil {
		return err
	}
	defer p.Close()
	platform, err := dapi.NewIntegrator(p.BaseURL, p.Developer(), p.Options()...)
	if err != nil {
		return err
	}
	account, err := p.OpenFunded(ctx, platform, decimal.NewFromInt(60), dapi.USDC)
	if err != nil {
		return err
	}
	payee, err := wallet.Generate() // a real payee gives you an address
	if err != nil {
		return err
	}
	e := escrow{p, account}

	delivered := dapi.EscrowCreate{Amount: decimal.RequireFromString("35.00"), Currency: dapi.USDC,
		Payee: dapi.EVMAddress(payee.Address()), Memo: "Website"}
	website, err := e.open(ctx, delivered)
	if err != nil {
		return err
	}
	if err := e.act(ctx, delivered, website.ID, dapi.EscrowActionTypeRelease); err != nil {
		return err
	}

	missed := dapi.EscrowCreate{Amount: decimal.RequireFromString("20.00"), Currency: dapi.USDC,
		Payee: dapi.EVMAddress(payee.Address()), Memo: "Logo",
		ApproveWithin: dapi.EscrowDurationOf(window), HoldFor: dapi.EscrowDurationOf(window)}
	logo, err := e.open(ctx, missed)
	if err != nil {
		return err
	}
	p.Step("nobody delivered; the money can be taken back after two windows of %s", window)
	p.Skip(2*window + time.Second)
	if err := e.available(ctx, logo.ID, dapi.EscrowActionTypeRefund); err != nil {
		return err
	}
	if err := e.act(ctx, missed, logo.ID, dapi.EscrowActionTypeRefund); err != nil {
		return err
	}

	p.Step("the service reads an escrow from chain once in 15 seconds, and shows both results after that")
	p.Skip(16 * time.Second)
	if err := e.ended(ctx, website.ID, dapi.EscrowStatusReleased); err != nil {
		return err
	}
	if err := e.ended(ctx, logo.ID, dapi.EscrowStatusRefunded); err != nil {
		return err
	}
	return p.Ledger(ctx, account.Transactions)
}

type escrow struct {
	*program.Program
	account *dapi.Account
}

// open creates an escrow and approves it. The key anchors the escrow, its windows and its approval: the same key opens
// the escrow once.
func (e escrow) open(ctx context.Context, terms dapi.EscrowCreate) (*dapi.Escrow, error) {
	opened, err := e.account.Escrows.Open(ctx, terms, moneymovement.DeriveKey(e.Name, "escrow", terms.Memo),
		dapi.EscrowTerms{})
	if err != nil {
		return nil, err
	}
	escrow := opened.Escrow
	e.Step("escrow %s (%s) holds %s %s: %s, available %v", escrow.ID, escrow.Memo, escrow.Amount, escrow.Currency,
		escrow.Status, escrow.AvailableActions)
	e.Detail("release until %s, refund after that until %s", escrow.HoldUntil.UTC().Format(time.DateTime),
		escrow.RefundableUntil.UTC().Format(time.DateTime))
	return escrow, nil
}

// act prepares an action, compares its approval with the escrow's terms, signs it and confirms it.
func (e escrow) act(
	ctx context.Context, terms dapi.EscrowCreate, id dapi.EscrowID, action dapi.EscrowActionType,
) error {
	key := moneymovement.DeriveKey(e.Name, "escrow", terms.Memo, string(action))
	taken, err := e.account.Escrows.Act(ctx, terms, id, action, key, dapi.EscrowTerms{})
	if err != nil {
		return err
	}
	e.Step("signed and confirmed the %s of escrow %s; the last read from chain says %s", action, id,
		taken.Escrow.Status)
	return nil
}

// ended waits for a status.
func (e escrow) ended(ctx context.Context, id dapi.EscrowID, status dapi.EscrowStatus) error {
	escrow, err := e.account.Escrows.Wait(ctx, id, []dapi.EscrowStatus{status},
		moneymovement.OnProgress(func(p moneymovement.Progress) {
			e.Detail("read %d after %s: %s is %s", p.Reads, p.Waited.Round(time.Second), p.Resource, p.Status)
		}))
	if err != nil {
		return err
	}
	e.Step("escrow %s (%s) is %s in transaction %s", escrow.ID, escrow.Memo, escrow.Status, escrow.TransactionHash)
	return nil
}

// available reads the escrow until an action is in its window.
func (e escrow) available(ctx context.Context, id dapi.EscrowID, action dapi.EscrowActionType) error {
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for {
		escrow, err := e.account.Escrows.Sync(ctx, id)
		if err != nil || escrow.Can(action) {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
