package sandbox

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"reflect"

	"github.com/shopspring/decimal"

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

// seed has the first account's credentials. A reset restores them.
type seed struct {
	credentials Credentials
	key         session.Key
	appKey      session.AppKey
}

// newSeed registers the first account, with the credentials of the options, or else with those in the store, or else
// with new ones. It panics if the machine has no randomness for a key, or if the store cannot be read: then nothing
// else works either.
func newSeed(
	setup setup, stored *state, registry *session.KeyRegistry, appKeys *session.AppKeys, access *session.AccessTokens,
) seed {
	known := cmp.Or(stored.loadLogin(), &loginRecord{})
	login := *known
	key := setup.key
	switch {
	case key != nil:
	case known.DeveloperKey != "":
		key = must(signing.ParseDeveloperKey([]byte(known.DeveloperKey)))
	default:
		key = must(signing.Generate())
	}
	email := session.CanonicalEmail(cmp.Or(setup.email, known.Key.Email, defaultEmail))
	if email != known.Key.Email || !bytes.Equal(key.PublicKey(), known.Key.PublicKey) {
		// A developer key always has a usable public half.
		login.Key = must(registry.RegisterOnce(session.Registration{
			Email: email, PublicKey: base64.StdEncoding.EncodeToString(key.PublicKey()),
		}))
		login.DeveloperKey = ""
		if text, err := key.PEM(); err == nil { // or else the private half is not in this process
			login.DeveloperKey = string(text)
		}
	}
	account := session.AppAccount{ID: login.Key.Owner, Email: login.Key.Email}
	if login.AppKey.Account != account || setup.apiKey != "" && setup.apiKey != login.AppKey.Secret {
		limit := decimal.NewFromInt(AppSpendLimit) // which makes sense, so that no registration is refused
		login.AppKey = must(appKeys.RegisterOnce(setup.apiKey, account, session.AppRegistration{SpendLimit: &limit}))
	}
	if known.AppKey.Account != account {
		login.AccessToken = access.Mint(account)
	}
	var cardWallet *wallet.Key
	if known.Wallet == "" {
		cardWallet = must(wallet.Generate())
		login.Wallet = string(must(cardWallet.PEM()))
	} else {
		cardWallet = must(wallet.ParseKey([]byte(known.Wallet)))
	}
	if !reflect.DeepEqual(login, *known) {
		stored.saveLogin(&login)
	}
	return seed{key: login.Key, appKey: login.AppKey, credentials: Credentials{
		Email: login.Key.Email, KeyID: login.Key.ID, Key: key,
		APIKey: newSecret(login.AppKey.Secret), AccessToken: newSecret(login.AccessToken),
		Wallet: cardWallet,
	}}
}

// defaultEmail is that of the first account.
const defaultEmail = "ops@example.com"

// otherSurfaceTokens are the credentials of other surfaces, which the platform API recognizes and refuses.
func (s seed) otherSurfaceTokens() []string {
	return []string{s.credentials.APIKey.Reveal(), s.credentials.AccessToken.Reveal()}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
