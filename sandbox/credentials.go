package sandbox

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/session"
	"github.com/moneymovement/moneymovement-go/signing"
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
	// APIKey is the app API's key. The platform API refuses it: 403 forbidden, developerSessionRequired.
	APIKey Secret
	// AccessToken is a token of the reference endpoints. The platform API refuses it as well.
	AccessToken Secret
}

// Secret is a text that does not print.
type Secret struct{ text string }

const redacted = "[redacted]"

// Reveal answers the text.
func (s Secret) Reveal() string { return s.text }

// Format writes a redaction for every verb and flag.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// MarshalText writes a redaction; JSON and other encodings show that.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// LogValue writes a redaction.
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// Credentials answers what the first account logs in with. They stay the same
// after [Host.Reset].
func (h *Host) Credentials() Credentials { return h.credentials }

// newCredentials registers the developer key of the first account. It panics if
// the machine has no randomness to make a key of, and nothing else would work.
func newCredentials(registry *session.Registry, setup setup) (Credentials, session.Key) {
	key := setup.key
	if key == nil {
		var err error
		if key, err = signing.Generate(); err != nil {
			panic(err)
		}
	}
	seed, err := registry.Register(session.Registration{
		Email: setup.email, PublicKey: base64.StdEncoding.EncodeToString(key.PublicKey()),
	})
	if err != nil {
		panic(err) // a developer key always has a usable public half, and its account is new
	}
	return Credentials{
		Email: seed.Email, KeyID: seed.ID, Key: key,
		APIKey: Secret{"ak_" + rand.Text()}, AccessToken: Secret{"uat_" + rand.Text()},
	}, seed
}
