package cases

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"sync/atomic"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/bench/internal/hand"
	"github.com/moneymovement/moneymovement-go/bench/internal/service"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
)

// bySDK does work with the SDK.
func bySDK(does func(*dapi.Account) Read, options ...moneymovement.Option) func(Place) (Read, error) {
	return func(p Place) (Read, error) {
		account, err := p.account(options...)
		if err != nil {
			return nil, err
		}
		return does(account), nil
	}
}

// byHand does work with the hand-written client.
func byHand(does func(*hand.Client) Read) func(Place) (Read, error) {
	return func(p Place) (Read, error) {
		client, err := p.byHand(service.Token)
		if err != nil {
			return nil, err
		}
		return does(client), nil
	}
}

// Refused does work that must end with an error of the type E, which is what it reads.
func Refused[E error](does Read) Read {
	return func(ctx context.Context) (any, error) {
		value, err := does(ctx)
		if refusal, ok := errors.AsType[E](err); ok {
			return refusal, nil
		}
		if err == nil {
			err = errors.New("no error")
		}
		return value, fmt.Errorf("want a refusal, got %w", err)
	}
}

// refused is Refused for work that needs a client.
func refused[E error, Client any](does func(Client) Read) func(Client) Read {
	return func(client Client) Read { return Refused[E](does(client)) }
}

// tally is what the work reads that reads a whole ledger.
type tally struct {
	entries int
	last    any
}

func counted[T any](ledger iter.Seq2[T, error]) (any, error) {
	var read tally
	for entry, err := range ledger {
		if err != nil {
			return nil, err
		}
		if read.entries++; read.entries%(10*service.PageLength) == 0 {
			read.last = entry
		}
	}
	return read, nil
}

// keys returns a function that makes a new key for each call: "invoice-1", "invoice-2" and so on.
func keys() func() string {
	var used atomic.Int64
	return func() string { return "invoice-" + strconv.FormatInt(used.Add(1), 10) }
}

var amount = decimal.RequireFromString("1250.50")

func bookPayout(c *dapi.Account) Read {
	next := keys()
	create := dapi.PayoutCreate{
		ContactID: service.ContactID, Amount: amount, Currency: dapi.AssetUSDC,
		PaymentReference: "Invoice 42", Purpose: "services", DocumentIDs: []string{"doc_01J9Z3A1", "doc_01J9Z3A2"},
	}
	return func(ctx context.Context) (any, error) {
		return c.Payouts.Book(ctx, create, moneymovement.IdempotencyKey(moneymovement.Key(next())))
	}
}

func bookByHand(c *hand.Client) Read {
	next := keys()
	create := &hand.PayoutCreate{
		ContactID: service.ContactID, Amount: amount, Currency: "USDC",
		PaymentReference: "Invoice 42", Purpose: "services", DocumentIDs: []string{"doc_01J9Z3A1", "doc_01J9Z3A2"},
	}
	return func(ctx context.Context) (any, error) { return c.BookPayout(ctx, create, next()) }
}
