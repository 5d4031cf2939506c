// Package credential holds what the surfaces beside the platform API ask for: app keys with their scopes and what they
// may still spend, and the access tokens of the reference endpoints. None of them is good for another surface.
package credential

import "github.com/moneymovement/moneymovement-go/sandbox/internal/caller"

// Account is the account that a credential acts for.
type Account struct {
	ID    string
	Email string
}

// Caller is who makes a request for the account itself.
func (a Account) Caller() caller.Caller {
	return caller.Caller{Owner: a.ID, Email: a.Email, Account: caller.Self}
}
