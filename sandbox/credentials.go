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

// Credentials are what the first account of a host logs in with. They print without their secrets.
type Credentials struct {
	// Email names the account.
	Email string
	// KeyID is the developer key's id, which begins with dk_.
	KeyID string
	// Key is the developer key. It has every scope and works from every address. Key.Save writes it to a file for
	// programs in any language.
	Key *signing.DeveloperKey
	// APIKey is an app key with every scope. It may spend [AppSpendLimit] USDC, from the integrator's own account. The
	// platform API refuses it with 403 forbidden.
	APIKey Secret
	// AccessToken is the token of the reference endpoints for the same account. The platform API refuses it as well.
	AccessToken Secret
	// Wallet is the wallet that the account's cards spend from. It signs the proof that reveals a card's details.
	Wallet *wallet.Key
}

// AppSpendLimit is how much the app key of [Credentials] may spend in total, in USDC.
const AppSpendLimit = 10_000

// Secret is a text, such as an app key, that does not print: fmt, JSON and slog show a placeholder. Use [Secret.Reveal]
// to read it.
type Secret struct {
	text func() string // a function, which printers that use reflection cannot look into
}

func newSecret(text string) Secret { return Secret{func() string { return text }} }

const redacted = "[redacted]"

// Reveal returns the text.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return s.text()
}

// Format implements [fmt.Formatter]: it writes a placeholder for every verb and flag.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// MarshalText implements [encoding.TextMarshaler]: JSON and other encodings show a placeholder.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// LogValue implements [slog.LogValuer]: it returns a placeholder.
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// seed is what a host has from the start, and what a reset restores.
type seed struct {
	credentials Credentials
	key         session.Key
	appKey      credential.AppKey
}

// newSeed registers the first account. It panics if the machine has no randomness for a key: then nothing else works
// either.
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
	appKey := must(appKeys.RegisterAs(setup.apiKey, account, credential.Registration{SpendLimit: &limit}))
	return seed{key: registered, appKey: appKey, credentials: Credentials{
		Email: registered.Email, KeyID: registered.ID, Key: key,
		APIKey: newSecret(appKey.Secret), AccessToken: newSecret(access.Mint(account)),
		Wallet: must(wallet.Generate()),
	}}
}

// foreign are the credentials of other surfaces, which the platform API recognizes and refuses.
func (s seed) foreign() []string {
	return []string{s.credentials.APIKey.Reveal(), s.credentials.AccessToken.Reveal()}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
