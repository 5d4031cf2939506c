package dapi

import (
	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/signing"
)

// SelfServe acts as one account, whose owner holds the only key and signs their own operations. It is safe for
// concurrent use.
//
// It offers what the service's description gives to any account. Clients, their verification and their rails belong to
// an integrator: see [Integrator] and [Account]. The rails of an own account are in package appapi.
//
// # Balance
//
// The platform API describes no operation that reads the balance of an own account; only a client carries balances
// ([Client].Balances). There are two other ways:
//
//   - The app API describes GET /balance. It takes an app API key, which is another credential: see package appapi.
//   - Add up [Transaction.Signed] of all entries of [Transactions.All] that have not failed, for each currency. On the
//     sandbox host, the sum is the balance. The description does not promise it: it does not say that the ledger goes
//     back to the first entry, that fees are in the amounts, or which entries count.
type SelfServe struct {
	Payins       *Payins
	Contacts     *Contacts
	Payouts      *Payouts
	Escrows      *Escrows
	Transactions *Transactions
	Chains       *Chains
	// Sandbox emulates credits and lifecycle events. Only sandbox hosts have it.
	Sandbox *Sandbox

	platform *platform
}

// NewSelfServe makes the client of an account whose owner holds the only key. Its arguments are those of
// [NewIntegrator].
func NewSelfServe(baseURL string, developer Developer, options ...moneymovement.Option) (*SelfServe, error) {
	p, err := newPlatform(baseURL, developer, options)
	if err != nil {
		return nil, err
	}
	own := p.account(p.low())
	return &SelfServe{
		Payins: own.Payins, Contacts: own.Contacts, Payouts: own.Payouts, Escrows: own.Escrows,
		Transactions: own.Transactions, Chains: own.Chains, Sandbox: own.Sandbox, platform: p,
	}, nil
}

// UseKey is [Integrator.UseKey] for this account.
func (s *SelfServe) UseKey(key signing.Signer) error { return transport.Of(s).platform.useKey(key) }
