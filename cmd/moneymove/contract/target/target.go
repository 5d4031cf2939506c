// Package target says which host the contract suite or `moneymove check` runs against, and protects other hosts. A
// host that is not a sandbox gets a login and one read, and nothing else. A check only reads. So a person may allow its
// reads on such a host as well, and the guard then stops whatever is not a read.
//
// A [Caller] sends requests past the SDK, and keeps the responses as they came. The SDK would refuse to send a request
// that is wrong on purpose, and to return a response that is not what it expects.
package target

import (
	"errors"
	"fmt"
	"net/url"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/signing"
	"github.com/moneymovement/moneymovement-go/signing/wallet"
)

// The environment names a real sandbox host, like the flags of the examples. Only the first three variables are
// required. Cases that need another variable are skipped without it.
const (
	BaseURLVariable     = "MONEYMOVEMENT_BASE_URL"        // without /dapi/v1
	EmailVariable       = "MONEYMOVEMENT_EMAIL"           // of the account
	KeyFileVariable     = "MONEYMOVEMENT_KEY_FILE"        // developer key, PEM
	APIKeyVariable      = "MONEYMOVEMENT_API_KEY"         // of an app of the account
	AccessTokenVariable = "MONEYMOVEMENT_ACCESS_TOKEN"    // of the reference endpoints
	WalletVariable      = "MONEYMOVEMENT_WALLET_KEY_FILE" // wallet of the account's cards, PEM
)

// Real is a host that somebody named, and the credentials for it.
type Real struct {
	BaseURL     *url.URL
	Email       string
	Key         *signing.DeveloperKey
	APIKey      moneymovement.Secret // empty if it is not set
	AccessToken moneymovement.Secret // empty if it is not set
	CardWallet  *wallet.Key          // nil if it is not set
}

// IsSet reports whether a credential is given.
func IsSet(credential moneymovement.Secret) bool { return credential.Reveal() != "" }

// FromEnvironment reads the real host from the variables. If none is set, it returns nil and no error.
func FromEnvironment(variable func(string) string) (*Real, error) {
	named := variable(BaseURLVariable)
	if named == "" {
		return nil, nil
	}
	base, err := Address(named)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", BaseURLVariable, err)
	}
	r := &Real{BaseURL: base, Email: variable(EmailVariable)}
	if r.Email == "" || variable(KeyFileVariable) == "" {
		return nil, fmt.Errorf("%s needs %s and %s as well", BaseURLVariable, EmailVariable, KeyFileVariable)
	}
	if r.Key, err = signing.LoadDeveloperKey(variable(KeyFileVariable)); err != nil {
		return nil, err
	}
	r.APIKey = moneymovement.NewSecret(variable(APIKeyVariable))
	r.AccessToken = moneymovement.NewSecret(variable(AccessTokenVariable))
	if file := variable(WalletVariable); file != "" {
		if r.CardWallet, err = wallet.LoadKey(file); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Address reads the address of a host.
func Address(text string) (*url.URL, error) {
	base, err := url.Parse(text)
	if err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http" {
		return nil, errors.New("this is no address of a host; it is like https://sandbox.example")
	}
	return base, nil
}
