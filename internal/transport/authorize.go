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
	// Renew is told which credential was refused as expired. An error ends the call; nil means that sending again makes sense.
	Renew(ctx context.Context, refused http.Header) error
}

// authorize sets the credential, unless the operation takes none.
func (c *Client) authorize(ctx context.Context, op *Operation, h http.Header) error {
	if op.Public || c.auth == nil {
		return nil
	}
	return c.auth.Authorize(ctx, h)
}

// renewable reports whether a refusal means that the credential has expired.
//
// Source: Authentication, Platform API (on 401 token_expired call refresh once and retry).
func (c *Client) renewable(op *Operation, err error) bool {
	_, expired := errors.AsType[*errors.TokenExpired](err)
	return expired && !op.Public && c.auth != nil
}
