package dapi

import (
	"context"
	"fmt"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Payins are incoming fundings that are quoted first: over a virtual account (BankID) or from another chain
// (OriginChainID). Money that arrives at the client's wallet on Base needs none.
//
// Source: Resources, Vocabulary; Coverage catalogue.
type Payins struct{ low lowLevel }

// Create quotes or books a payin. The price holds at most 2 minutes.
//
// Source: Endpoints, Platform API; Limits, Lifetimes.
func (s *Payins) Create(ctx context.Context, payin PayinCreate, options ...moneymovement.CallOption) (*Payin, error) {
	return transport.Of(s).low.CreatePayin(ctx, &payin, options)
}

// Instructions answers the requisites that the payer needs. After the price's window it is *errors.QuoteExpired.
func (s *Payins) Instructions(
	ctx context.Context, id PayinID, options ...moneymovement.CallOption,
) (*PayinInstructions, error) {
	return transport.Of(s).low.CreatePayinInstructions(ctx, id, options)
}

// Get reads a payin. One that belongs to someone else is *errors.NotFound.
func (s *Payins) Get(ctx context.Context, id PayinID, options ...moneymovement.CallOption) (*Payin, error) {
	return transport.Of(s).low.GetPayin(ctx, id, options)
}

// Wait polls until the payin is `completed`. One that expires comes back with *PayinNotCompleted; if ctx ends first,
// the last reading comes back with *StillPending.
//
// Source: Events.
func (s *Payins) Wait(ctx context.Context, id PayinID, options ...WaitOption) (*Payin, error) {
	payin, err := wait(ctx, options, poll[Payin]{
		low: transport.Of(s).low, resource: "payin", id: string(id),
		read: func(ctx context.Context) (*Payin, error) {
			return transport.Of(s).low.as(transport.ClassPoll).GetPayin(ctx, id, nil)
		},
		status: func(p *Payin) string { return string(p.Status) },
		done:   func(p *Payin) bool { return p.Status.Final() },
	})
	if err == nil && payin.Status != PayinStatusCompleted {
		err = &PayinNotCompleted{CallInfo: transport.Of(s).low.head(&opGetPayin, string(id)), Payin: payin}
	}
	return payin, err
}

// PayinNotCompleted says that a payin ended in another status than `completed`.
type PayinNotCompleted struct {
	errors.CallInfo
	Payin *Payin
}

// Retryable is false: this payin does not change any more.
func (e *PayinNotCompleted) Retryable() bool { return false }

// MovedByCall is errors.NotMoved: no money arrived.
func (e *PayinNotCompleted) MovedByCall() errors.Movement { return errors.NotMoved }

func (e *PayinNotCompleted) Error() string {
	payin := given(e.Payin)
	return fmt.Sprintf("payin %s ended %s", payin.ID, payin.Status)
}
