package moneymovement

import (
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/hidden"
)

// Secret holds a text that must not appear in logs, such as a card number or a token. Package fmt, log/slog, the
// encoders for JSON, XML, YAML and gob, and printers that use reflection show "[redacted]" or less. [Secret.Reveal]
// returns the text:
//
//	page.ShowCard(details.CardNumber.Reveal())
//
// Compare two secrets with [Secret.Equal]; == does not compile. JSON and other encodings decode a text into a Secret.
// Decoding "[redacted]" is an error.
type Secret struct{ secret }

// secret hides the field from other packages.
type secret = hidden.Text

// NewSecret returns a Secret that holds a text.
func NewSecret(text string) Secret { return Secret{hidden.NewText(text)} }

// Reveal returns the text. It is empty for the zero Secret.
func (s Secret) Reveal() string { return hidden.Reveal(s.secret) }

// Equal reports whether the texts are equal. It compares in constant time.
func (s Secret) Equal(other Secret) bool { return hidden.Same(s.secret, other.secret) }

// UnmarshalText reads a text from JSON and other encodings. The text "[redacted]" is an error, because the secret is
// lost.
func (s *Secret) UnmarshalText(text []byte) error {
	if string(text) == hidden.Redaction {
		return errRedacted
	}
	*s = NewSecret(string(text))
	return nil
}

// UnmarshalBinary does what UnmarshalText does, for gob.
func (s *Secret) UnmarshalBinary(text []byte) error { return s.UnmarshalText(text) }

var errRedacted = errors.New("moneymovement: the text is redacted, and the secret is lost: " +
	"encode the text that Reveal returns")
