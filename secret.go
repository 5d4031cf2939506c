package moneymovement

import (
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Secret is a text that no printer and no encoder shows, such as a card's number or a token. Package fmt, log/slog,
// JSON, XML, YAML, gob and printers that work by reflection show "[redacted]" or less. [Secret.Reveal] gives the text
// to a program that means to hand it on:
//
//	page.ShowCard(details.CardNumber.Reveal())
//
// Two are compared with [Secret.Equal]; == does not compile. A Secret is read from JSON and other encodings like a
// text. What one of them wrote holds no secret, so that reading it back is an error.
type Secret struct{ secret }

// secret keeps the field out of callers' reach.
type secret = transport.Secret

// NewSecret hides a text.
func NewSecret(text string) Secret { return Secret{transport.NewSecret(text)} }

// Reveal returns the text, "" of the zero Secret.
func (s Secret) Reveal() string { return transport.Reveal(s.secret) }

// Equal reports whether the texts are the same, in a time that does not depend on where they differ.
func (s Secret) Equal(other Secret) bool { return transport.SameSecret(s.secret, other.secret) }

// UnmarshalText takes a text, of JSON and other encodings. A redaction is an error, for the secret is lost.
func (s *Secret) UnmarshalText(text []byte) error {
	if string(text) == transport.Redaction {
		return errRedacted
	}
	*s = NewSecret(string(text))
	return nil
}

// UnmarshalBinary is UnmarshalText, for gob.
func (s *Secret) UnmarshalBinary(text []byte) error { return s.UnmarshalText(text) }

var errRedacted = errors.New("moneymovement: a redaction holds no secret; export it by its Reveal method")
