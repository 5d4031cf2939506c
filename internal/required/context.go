// Package required refuses calls without a context or a client, with the same words everywhere.
package required

import (
	"context"

	"github.com/moneymovement/moneymovement-go/errors"
)

// Context returns *errors.InvalidInput for a nil context.
func Context(ctx context.Context, operation string) error {
	if ctx != nil {
		return nil
	}
	return &errors.InvalidInput{CallInfo: errors.CallInfo{Operation: operation}, Fields: []errors.Field{NoContext()}}
}

// NoContext is the problem of a nil context.
func NoContext() errors.Field {
	return errors.Field{Field: "context", Code: "required",
		Message: "is nil: pass context.Background() if there is no other"}
}

// NoClient is the problem of a client that no constructor made. makers names the constructors.
func NoClient(makers string) errors.Field {
	return errors.Field{Field: "client", Code: "not_made", Message: "was not made by " + makers}
}
