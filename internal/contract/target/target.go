// Package target says which host the contract suite runs against, and protects other hosts: a host that is not a
// sandbox gets a login and one read, and nothing else.
package target

import (
	"fmt"
	"net/url"

	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/refapi"
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

// Real is a host from the environment, and how to log in there.
type Real struct {
	BaseURL     *url.URL
	Email       string
	Key         *signing.DeveloperKey
	APIKey      *appapi.APIKey      // nil if it is not set
	AccessToken *refapi.AccessToken // nil if it is not set
	CardWallet  *wallet.Key         // nil if it is not set
}

// FromEnvironment reads the real host from the variables. If none is set, it returns nil and no error.
func FromEnvironment(variable func(string) string) (*Real, error) {
	named := variable(BaseURLVariable)
	if named == "" {
		return nil, nil
	}
	base, err := url.Parse(named)
	if err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http" {
		return nil, fmt.Errorf("%s is no address of a host", BaseURLVariable)
	}
	r := &Real{BaseURL: base, Email: variable(EmailVariable)}
	if r.Email == "" || variable(KeyFileVariable) == "" {
		return nil, fmt.Errorf("%s needs %s and %s as well", BaseURLVariable, EmailVariable, KeyFileVariable)
	}
	if r.Key, err = signing.LoadDeveloperKey(variable(KeyFileVariable)); err != nil {
		return nil, err
	}
	if key := variable(APIKeyVariable); key != "" {
		r.APIKey = new(appapi.NewAPIKey(key))
	}
	if token := variable(AccessTokenVariable); token != "" {
		r.AccessToken = new(refapi.NewAccessToken(token))
	}
	if file := variable(WalletVariable); file != "" {
		if r.CardWallet, err = wallet.LoadKey(file); err != nil {
			return nil, err
		}
	}
	return r, nil
}
