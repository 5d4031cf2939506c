package dapi

import (
	"context"
	"fmt"
	"iter"
	"math"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Rails are the bank routes of a client, and the virtual accounts opened on them. What a client can have is decided per
// integrator, client and partner; [Rails.List] is the authoritative answer.
//
// Source: Resources, Vocabulary; Coverage catalogue.
type Rails struct{ low lowLevel }

// List answers one page of rails and virtual accounts.
func (s *Rails) List(
	ctx context.Context, params ListRailsParams, options ...moneymovement.CallOption,
) (*RailPage, error) {
	return transport.Of(s).low.ListRails(ctx, &params, options)
}

// All walks all pages from params.Cursor on. It can be ranged over more than once, and ends after the first error.
func (s *Rails) All(
	ctx context.Context, params ListRailsParams, options ...moneymovement.CallOption,
) iter.Seq2[Rail, error] {
	return pages(ctx, math.MaxInt, &opListRails, s.List, params, options,
		func(p *ListRailsParams) *string { return &p.Cursor },
		func(page *RailPage) ([]Rail, string) { return page.Items, page.NextCursor })
}

// Open requests a rail; client and rail are its natural key, so that asking again answers the rail that exists. A rail
// outside the integrator's agreement is *errors.RailNotAvailable, one that the client's verification blocks
// *errors.RailRequirementsUnmet with its Blockers, and a partner that is down *errors.ProviderUnavailable.
//
// Source: Coverage catalogue (factors that narrow availability).
func (s *Rails) Open(ctx context.Context, rail RailOpen, options ...moneymovement.CallOption) (*Rail, error) {
	return transport.Of(s).low.OpenRail(ctx, &rail, options).Or(func(same transport.SameCredential) (*Rail, error) {
		return s.find(ctx, rail.Method, rail.Currency, same)
	})
}

// WaitActive polls until the rail is `active`, when VirtualAccount.Requisites tell a payer where to wire money. A rail
// that reports `channel_unavailable` ends the wait as *ChannelUnavailable; if ctx ends first, the error is
// *StillPending.
//
// Source: States, Platform objects.
func (s *Rails) WaitActive(
	ctx context.Context, method BankMethod, currency string, options ...WaitOption,
) (*Rail, error) {
	rail, err := wait(ctx, options, poll[Rail]{
		low: transport.Of(s).low, resource: "rail", id: string(method) + " " + currency,
		read: func(ctx context.Context) (*Rail, error) {
			return (&Rails{transport.Of(s).low.as(transport.ClassPoll)}).find(ctx, method, currency)
		},
		status: func(r *Rail) string { return string(r.Status) },
		done:   func(r *Rail) bool { return r.Status.settled() },
	})
	if err == nil && rail.Status == RailStatusChannelUnavailable {
		err = &ChannelUnavailable{CallInfo: transport.Of(s).low.head(&opListRails, ""), Rail: rail}
	}
	return rail, err
}

// find looks a rail up in the list; one that is not there has not been requested.
func (s *Rails) find(
	ctx context.Context, method BankMethod, currency string, options ...moneymovement.CallOption,
) (*Rail, error) {
	for rail, err := range s.All(ctx, ListRailsParams{Limit: maxPage}, options...) {
		if err != nil {
			return nil, err
		}
		if rail.Method == method && rail.Currency == currency {
			return &rail, nil
		}
	}
	return nil, &RailNotListed{CallInfo: transport.Of(s).low.head(&opListRails, ""), Method: method, Currency: currency}
}

// maxPage is the largest page.
//
// Source: Limits, Pages and sizes.
const maxPage = 100

// ChannelUnavailable says that a rail's partner channel is down. It may come back.
type ChannelUnavailable struct {
	errors.CallInfo
	Rail *Rail
}

// Retryable is true: the channel may come back.
func (e *ChannelUnavailable) Retryable() bool { return true }

// MovedByCall is errors.NotMoved: the call reads.
func (e *ChannelUnavailable) MovedByCall() errors.Movement { return errors.NotMoved }

func (e *ChannelUnavailable) Error() string {
	rail := given(e.Rail)
	return fmt.Sprintf("rail %s %s reports channel_unavailable", rail.Method, rail.Currency)
}

// RailNotListed says that the client's list has no such rail: the client's residency or legal form rules it out.
//
// Source: Coverage catalogue (factors that narrow availability).
type RailNotListed struct {
	errors.CallInfo
	Method   BankMethod
	Currency string
}

// Retryable is false: the list shows what the client can have.
func (e *RailNotListed) Retryable() bool { return false }

// MovedByCall is errors.NotMoved: the call reads.
func (e *RailNotListed) MovedByCall() errors.Movement { return errors.NotMoved }

func (e *RailNotListed) Error() string {
	return fmt.Sprintf("rail %s %s is not in the client's list", e.Method, e.Currency)
}
