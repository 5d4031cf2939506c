// Package credential has the credentials of the surfaces other than the platform API: app keys with their scopes and
// spend limits, and the access tokens of the reference endpoints. Each is valid on its own surface only.
package credential

import "github.com/moneymovement/moneymovement-go/sandbox/internal/caller"

// Account is the account that a credential acts for.
type Account struct {
	ID    string
	Email string
}

// Caller is a caller who acts for the account itself.
func (a Account) Caller() caller.Caller {
	return caller.Caller{Owner: a.ID, Email: a.Email, Account: caller.Self}
}
