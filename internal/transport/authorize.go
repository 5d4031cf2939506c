package transport

import (
	"context"
	"net/http"

	"github.com/moneymovement/moneymovement-go/errors"
)

// Authorizer holds a surface's credential.
type Authorizer interface {
	// Authorize sets the credential on the header of one attempt; it may log in first.
	Authorize(ctx context.Context, h http.Header) error
}

// Renewer is an Authorizer whose credential can be had anew.
type Renewer interface {
	// Renew is told which credential was refused. An error ends the call; nil means that sending again makes sense.
	Renew(ctx context.Context, refused http.Header) error
}

// Use has the calls that begin from now on carry another credential. Those under way end with the one that they began
// with.
func (c *Client) Use(auth Authorizer) { c.auth.Store(&auth) }

// authorizer is the one of a call that begins now.
func (c *Client) authorizer(call *Call) Authorizer {
	if call.Auth != nil {
		return call.Auth
	}
	return *c.auth.Load()
}

// authorize sets the credential, unless the operation takes none.
func (t *tracker) authorize(ctx context.Context) error {
	if t.op.Public || t.auth == nil {
		return nil
	}
	return t.auth.Authorize(ctx, t.header)
}

// renewer returns who can renew the credential that a refusal is about: one that has expired, or that the service does
// not know any more. Other refusals would be the same with a new one.
//
// Source: Authentication, Platform API (on 401 token_expired call refresh once and retry); Errors, Caller handling
// (re-mint once on 401).
func (t *tracker) renewer(err error) (Renewer, bool) {
	if lost, unknown := errors.AsType[*errors.OutcomeUnknown](err); unknown {
		err = lost.Cause // of the last attempt, whatever became of those before it
	}
	_, expired := errors.AsType[*errors.TokenExpired](err)
	_, unknown := errors.AsType[*errors.Unauthenticated](err)
	renewer, able := t.auth.(Renewer)
	return renewer, able && !t.op.Public && (expired || unknown)
}
