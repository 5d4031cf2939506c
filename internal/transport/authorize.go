package transport

import (
	"context"
	"net/http"

	"github.com/moneymovement/moneymovement-go/errors"
)

// Authorizer sets the credential of a surface.
type Authorizer interface {
	// Authorize sets the credential in the header of one attempt. It may log in first.
	Authorize(ctx context.Context, h http.Header) error
}

// Renewer is an Authorizer that can renew its credential.
type Renewer interface {
	// Renew gets the header with the refused credential. An error ends the call. After nil, the call is sent again.
	Renew(ctx context.Context, refused http.Header) error
}

// Use changes the credential. Calls that begin from now on use it. Calls under way end with the old one.
func (c *Client) Use(auth Authorizer) { c.auth.Store(&auth) }

// authorizer returns the credential for a call that begins now.
func (c *Client) authorizer(call *Call) Authorizer {
	if call.Auth != nil {
		return call.Auth
	}
	return *c.auth.Load()
}

// authorize sets the credential, unless the operation takes none.
func (r *Request) authorize(ctx context.Context) error {
	if r.op.Public || r.auth == nil {
		return nil
	}
	return r.auth.Authorize(ctx, r.header)
}

// renewer returns the Renewer if a new credential can help after a refusal: the old credential has expired, or the
// service does not know it any more.
func (r *Request) renewer(err error) (Renewer, bool) {
	renewer, able := r.auth.(Renewer)
	if err == nil || !able || r.op.Public {
		return nil, false
	}
	if lost, unknown := errors.AsType[*errors.OutcomeUnknown](err); unknown {
		err = lost.Cause // the error of the last attempt, even if earlier attempts were lost
	}
	_, expired := errors.AsType[*errors.TokenExpired](err)
	_, unknown := errors.AsType[*errors.Unauthenticated](err)
	return renewer, expired || unknown
}
