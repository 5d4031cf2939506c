package sandbox

import (
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/credential"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/session"
	"github.com/moneymovement/moneymovement-go/signing"
	"github.com/moneymovement/moneymovement-go/signing/wallet"
)

// Credentials are what the first account of a host logs in with. They print
// without their secrets.
type Credentials struct {
	// Email names the account.
	Email string
	// KeyID is the developer key's id, dk_.
	KeyID string
	// Key is the developer key, with every scope, from every address. Its Save writes it to a file for programs in
	// any language.
	Key *signing.DeveloperKey
	// APIKey is a key of the app API, with every scope and [AppSpendLimit] to spend. Its app acts for the same account
	// as the developer key does without X-Service-Account. The platform API refuses it: 403 forbidden,
	// developerSessionRequired.
	APIKey Secret
	// AccessToken is a token of the reference endpoints, for the same account. The platform API refuses it as well.
	AccessToken Secret
	// Wallet is the wallet that the account's cards spend from; it signs to reveal a card's details.
	Wallet *wallet.Key
}

// AppSpendLimit is what the app key of the credentials may spend in all, in USDC.
const AppSpendLimit = 10_000

// Secret is a text that does not print. It is a function, so that printers that work by reflection cannot reach the
// text.
type Secret struct{ text func() string }

func newSecret(text string) Secret { return Secret{func() string { return text }} }

const redacted = "[redacted]"

// Reveal answers the text.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return s.text()
}

// Format writes a redaction for every verb and flag.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// MarshalText writes a redaction; JSON and other encodings show that.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// LogValue writes a redaction.
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// seed is what a host has from the start: its first account, and the keys of it that a reset brings back.
type seed struct {
	credentials Credentials
	key         session.Key
	appKey      credential.AppKey
}

// newSeed registers the first account. It panics if the machine has no randomness to make a key of, and nothing else
// would work.
func newSeed(
	setup setup, registry *session.Registry, appKeys *credential.AppKeys, access *credential.AccessTokens,
) seed {
	key := setup.key
	if key == nil {
		key = must(signing.Generate())
	}
	// A developer key always has a usable public half, its account is new, and the app key's terms make sense.
	registered := must(registry.Register(session.Registration{
		Email: setup.email, PublicKey: base64.StdEncoding.EncodeToString(key.PublicKey()),
	}))
	account := credential.Account{ID: registered.Owner, Email: registered.Email}
	limit := decimal.NewFromInt(AppSpendLimit)
	appKey := must(appKeys.Register(account, credential.Registration{SpendLimit: &limit}))
	return seed{key: registered, appKey: appKey, credentials: Credentials{
		Email: registered.Email, KeyID: registered.ID, Key: key,
		APIKey: newSecret(appKey.Secret), AccessToken: newSecret(access.Mint(account)),
		Wallet: must(wallet.Generate()),
	}}
}

// foreign are the credentials that the platform API knows to be of other surfaces.
func (s seed) foreign() []string {
	return []string{s.credentials.APIKey.Reveal(), s.credentials.AccessToken.Reveal()}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
