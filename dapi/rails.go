package dapi

import (
	"context"
	"iter"
	"math"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/errorbase"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Rails lists the rails of a client and opens virtual accounts on them. A rail is a bank route, such as SEPA in euros.
// An open rail is a virtual account. Its requisites are the account details that a payer needs to send money to it.
//
// The service decides which rails a client can have, so rely on [Rails.List] and not on [RailCoverage].
type Rails struct{ low lowLevel }

// List returns one page of rails and virtual accounts.
func (s *Rails) List(
	ctx context.Context, params ListRailsParams, options ...moneymovement.CallOption,
) (*RailPage, error) {
	return transport.OrNew(s).low.ListRails(ctx, &params, options)
}

// All iterates over the rails of all pages, starting at params.Cursor. Each range reads the pages again. It stops after
// the first error.
func (s *Rails) All(
	ctx context.Context, params ListRailsParams, options ...moneymovement.CallOption,
) iter.Seq2[Rail, error] {
	return pages(ctx, math.MaxInt, &opListRails, s.List, params, options,
		func(p *ListRailsParams) *string { return &p.Cursor },
		func(page *RailPage) ([]Rail, string) { return page.Items, page.NextCursor })
}

// Open requests a rail. If the client already has the rail, Open returns it. The rail may not be open yet: see
// [Rails.WaitActive].
//
// # Errors
//
//   - *errors.RailNotAvailable: the rail is not part of the integrator's agreement.
//   - *errors.RailRequirementsUnmet: the client's verification does not allow the rail yet. Its Blockers say what is
//     missing.
//   - *errors.ProviderUnavailable: the banking partner is down. Try again later.
func (s *Rails) Open(ctx context.Context, rail RailCreate, options ...moneymovement.CallOption) (*Rail, error) {
	opened := transport.OrNew(s).low.OpenRail(ctx, &rail, options)
	return opened.ValueOrRead(func(origin transport.Origin) (*Rail, error) {
		return (&Rails{s.low.with(origin)}).find(ctx, rail.Method, rail.Currency)
	})
}

// WaitActive polls until the rail is `active`. VirtualAccount.Requisites then has the account details for the payer.
//
// # Errors
//
//   - *ChannelUnavailable: the rail reports `channel_unavailable`.
//   - *RailNotListed: the client's list does not have this rail.
//   - *moneymovement.StillPending: ctx ended first.
func (s *Rails) WaitActive(
	ctx context.Context, method BankMethod, currency string, options ...moneymovement.WaitOption,
) (*Rail, error) {
	rail, err := transport.Awaited[Rail]{
		Client: transport.OrNew(s).low.transport, Operation: &opListRails, Resource: "rail",
		ID: string(method) + " " + currency,
		Check: func(c *transport.Check) {
			c.Missing("method", method == "")
			c.Missing("currency", currency == "")
		},
		Read: func(ctx context.Context) (*Rail, error) {
			return (&Rails{transport.OrNew(s).low.polling(options)}).find(ctx, method, currency)
		},
		Status: func(r *Rail) string { return string(r.Status) },
		Done:   func(r *Rail) bool { return r.Status.settled() },
		Known:  func(r *Rail) bool { return r.Status.Known() },
	}.Wait(ctx, options)
	if err == nil && rail.Status == RailStatusChannelUnavailable {
		err = &ChannelUnavailable{CallInfo: transport.OrNew(s).low.head(&opListRails, ""), Rail: rail}
	}
	return rail, err
}

// find looks for a rail in the client's list.
func (s *Rails) find(ctx context.Context, method BankMethod, currency string) (*Rail, error) {
	for rail, err := range s.All(ctx, ListRailsParams{Limit: maxPage}) {
		if err != nil {
			return nil, err
		}
		if rail.Method == method && rail.Currency == currency {
			return &rail, nil
		}
	}
	return nil, &RailNotListed{
		CallInfo: transport.OrNew(s).low.head(&opListRails, ""), Method: method, Currency: currency,
	}
}

// ChannelUnavailable says that the banking partner's channel for a rail is down. It may come back: wait, then call
// [Rails.WaitActive] again.
type ChannelUnavailable struct {
	errors.CallInfo
	Rail *Rail
}

// Retryable returns true: the channel may come back.
func (e *ChannelUnavailable) Retryable() bool { return true }

// MovedByCall returns errors.NotMoved: the call only reads.
func (e *ChannelUnavailable) MovedByCall() errors.Movement { return errors.NotMoved }

// Error returns one line, safe to log.
func (e *ChannelUnavailable) Error() string {
	rail := deref(e.Rail)
	return errorbase.Textf(e, "rail %s %s reports channel_unavailable: the channel of its banking partner is down; "+
		"wait again later", rail.Method, rail.Currency)
}

// RailNotListed says that the client's list does not have this rail. Either [Rails.Open] was not called for it, or the
// rail is not available for the client's country of residence or legal form.
type RailNotListed struct {
	errors.CallInfo
	Method   BankMethod
	Currency string
}

// Retryable returns false: the list shows the rails that the client can have.
func (e *RailNotListed) Retryable() bool { return false }

// MovedByCall returns errors.NotMoved: the call only reads.
func (e *RailNotListed) MovedByCall() errors.Movement { return errors.NotMoved }

// Error returns one line, safe to log.
func (e *RailNotListed) Error() string {
	return errorbase.Textf(e,
		"rail %s %s is not in the client's list: it was not requested (see Rails.Open), or it is "+
			"not available for the client's country of residence or legal form", e.Method, e.Currency)
}
