// Package required refuses a call that lacks what no call can do without, with the same words everywhere.
package required

import (
	"context"

	"github.com/moneymovement/moneymovement-go/errors"
)

// Context returns *errors.InvalidInput if there is no context.
func Context(ctx context.Context, operation string) error {
	if ctx != nil {
		return nil
	}
	return &errors.InvalidInput{CallInfo: errors.CallInfo{Operation: operation}, Fields: []errors.Field{NoContext()}}
}

// NoContext says that a context is nil.
func NoContext() errors.Field {
	return errors.Field{Field: "context", Code: "required",
		Message: "is nil: pass context.Background() if there is no other"}
}

// NoClient says that none of the makers, which are constructors, made a client.
func NoClient(makers string) errors.Field {
	return errors.Field{Field: "client", Code: "not_made", Message: "was not made by " + makers}
}
