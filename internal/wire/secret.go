package wire

import (
	"bytes"
	"io"
	"strings"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/codec"
	"github.com/moneymovement/moneymovement-go/internal/hidden"
)

// revealer is a secret that can return its text.
type revealer interface{ Reveal() string }

var revealing = codec.JoinOptions(Encoding, codec.WithMarshalers(Marshalers,
	codec.MarshalToFunc(func(enc *codec.Encoder, s revealer) error {
		return enc.WriteToken(codec.String(s.Reveal()))
	}),
))

// MarshalRevealing encodes the body of a request with the texts of its secrets. Every other encoder shows redactions.
func MarshalRevealing(body any) ([]byte, error) { return codec.Marshal(body, revealing) }

// Secrets returns the texts of the secrets in a body.
func Secrets(body any) (secrets []string) {
	collecting := codec.MarshalToFunc(func(enc *codec.Encoder, s revealer) error {
		secrets = append(secrets, s.Reveal())
		return enc.WriteToken(codec.String(hidden.Redaction))
	})
	_ = codec.MarshalWrite(io.Discard, body, Encoding, codec.WithMarshalers(Marshalers, collecting))
	return secrets
}

// Replace returns a body without the given texts, and whether it had one of them. It finds them with escaped characters
// too. In a body that is not JSON, it replaces the texts as they are.
func Replace(body []byte, by *strings.Replacer) (text []byte, found bool) {
	mended, _ := codec.Mend(body)
	lenient := codec.Lenient()
	var out bytes.Buffer
	dec, enc := codec.NewDecoder(bytes.NewReader(mended), lenient), codec.NewEncoder(&out, lenient)
	for {
		token, err := dec.ReadToken()
		if errors.Is(err, io.EOF) {
			return out.Bytes(), found
		}
		if err == nil { // also a number: a validator may return a text of digits as one
			if was := token.String(); by.Replace(was) != was {
				token, found = codec.String(by.Replace(was)), true
			}
		}
		if err == nil {
			err = enc.WriteToken(token)
		}
		if err != nil {
			text = []byte(by.Replace(string(body)))
			return text, !bytes.Equal(text, body)
		}
	}
}
