package transport

import (
	"bytes"
	"io"
	"strings"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/jsonv2"
	"github.com/moneymovement/moneymovement-go/internal/wire"
)

// leastEchoed is how long a secret is at least to be looked for in a refusal. A shorter one could be a word of it by chance.
const leastEchoed = 8

// hideEcho takes out of a refusal the secrets that it repeats: validators quote what they refuse, and a refusal's details are printed and encoded
// like anything else.
func (t *trip) hideEcho() {
	if t.answer.success() {
		return
	}
	body := t.answer.bytes()
	suspect := bytes.IndexByte(body, '\\') >= 0 // an escape can hide a character of it
	var pairs []string
	for _, secret := range t.sentSecrets() {
		if len(secret) >= leastEchoed {
			pairs = append(pairs, secret, Redaction)
			suspect = suspect || bytes.Contains(body, []byte(secret))
		}
	}
	if !suspect || len(pairs) == 0 { // as nearly all are
		return
	}
	if hidden, found := replaced(body, strings.NewReplacer(pairs...)); found {
		t.answer.body.Reset()
		t.answer.body.Write(hidden)
	}
}

// sentSecrets are the credentials and the secrets of the body that the last attempt carried.
func (t *trip) sentSecrets() (secrets []string) {
	for _, name := range []string{"Authorization", "X-Api-Key"} {
		secrets = append(secrets, strings.TrimPrefix(t.header.Get(name), "Bearer "))
	}
	if t.op.Tells {
		collecting := jsonv2.MarshalToFunc(func(enc *jsonv2.Encoder, s revealer) error {
			secrets = append(secrets, s.Reveal())
			return enc.WriteToken(jsonv2.String(Redaction))
		})
		// It was encoded before, to be sent.
		_ = jsonv2.MarshalWrite(io.Discard, t.request.body, wire.Encoding, jsonv2.WithMarshalers(wire.Marshalers, collecting))
	}
	return secrets
}

// replaced is a body with its texts replaced, however their characters are escaped, and whether there was one to replace. What is no JSON is
// replaced as it stands.
func replaced(body []byte, by *strings.Replacer) (text []byte, found bool) {
	lenient := jsonv2.Lenient()
	var out bytes.Buffer
	dec, enc := jsonv2.NewDecoder(bytes.NewReader(body), lenient), jsonv2.NewEncoder(&out, lenient)
	for {
		token, err := dec.ReadToken()
		if errors.Is(err, io.EOF) {
			return out.Bytes(), found
		}
		if err == nil { // also a number, which a validator makes of a text of digits
			if was := token.String(); by.Replace(was) != was {
				token, found = jsonv2.String(by.Replace(was)), true
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
