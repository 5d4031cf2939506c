package dapi

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/errorbase"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Payins quotes incoming payments. A payin is an incoming payment whose price you ask for first. The money comes to a
// virtual account (set BankID) or from another chain (set OriginChainID). Money that arrives at the client's wallet on
// the Base chain needs no payin.
type Payins struct{ low lowLevel }

// Create creates a payin and returns it with its price, which is valid for at most 2 minutes.
func (s *Payins) Create(ctx context.Context, payin PayinCreate, options ...moneymovement.CallOption) (*Payin, error) {
	return transport.OrNew(s).low.CreatePayin(ctx, &payin, options)
}

// Instructions returns the requisites: the account details that the payer needs. If the price has expired, the error is
// *errors.QuoteExpired. In that case, create a new payin.
func (s *Payins) Instructions(
	ctx context.Context, id PayinID, options ...moneymovement.CallOption,
) (*PayinInstructions, error) {
	return transport.OrNew(s).low.CreatePayinInstructions(ctx, id, options)
}

// Get returns a payin. For the payin of another account, it fails with *errors.NotFound.
func (s *Payins) Get(ctx context.Context, id PayinID, options ...moneymovement.CallOption) (*Payin, error) {
	return transport.OrNew(s).low.GetPayin(ctx, id, options)
}

// Wait polls until the payin is `completed`, and returns it. If the payin expires, the error is
// *PayinNotCompleted. If ctx ends first, the error is *moneymovement.StillPending.
func (s *Payins) Wait(ctx context.Context, id PayinID, options ...moneymovement.WaitOption) (*Payin, error) {
	payin, err := transport.Awaited[Payin]{
		Client: transport.OrNew(s).low.transport, Operation: &opGetPayin, Resource: "payin", ID: string(id),
		Read: func(ctx context.Context) (*Payin, error) {
			return transport.OrNew(s).low.polling(options).GetPayin(ctx, id, nil)
		},
		Status: func(p *Payin) string { return string(p.Status) },
		Done:   func(p *Payin) bool { return p.Status.Final() },
		Known:  func(p *Payin) bool { return p.Status.Known() },
	}.Wait(ctx, options)
	if err == nil && payin.Status != PayinStatusCompleted {
		err = &PayinNotCompleted{CallInfo: transport.OrNew(s).low.head(&opGetPayin, string(id)), Payin: payin}
	}
	return payin, err
}

// PayinNotCompleted says that a payin ended with a status other than `completed`. To receive the money, create a new
// payin.
type PayinNotCompleted struct {
	errors.CallInfo
	Payin *Payin
}

// Retryable returns false: this payin does not change any more.
func (e *PayinNotCompleted) Retryable() bool { return false }

// MovedByCall returns errors.NotMoved: no money arrived.
func (e *PayinNotCompleted) MovedByCall() errors.Movement { return errors.NotMoved }

// Error returns one line, safe to log.
func (e *PayinNotCompleted) Error() string {
	payin := deref(e.Payin)
	return errorbase.Textf(e, "payin %s ended with status %s: no money arrived; to receive money, create a new payin",
		payin.ID,
		payin.Status)
}
