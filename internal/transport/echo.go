package transport

import (
	"bytes"
	"strings"

	"github.com/moneymovement/moneymovement-go/internal/wire"
)

// leastEchoed is the length of the shortest secret that is searched for in a refusal. A shorter text could be there by
// chance.
const leastEchoed = 8

// hideEcho removes secrets that a refusal repeats. Validators quote the values that they refuse, and programs print and
// encode the details of a refusal.
func (t *tracker) hideEcho() {
	if t.answer.success() {
		return
	}
	body := t.answer.bytes()
	suspect := bytes.IndexByte(body, '\\') >= 0 // an escape can hide a character of a secret
	var pairs []string
	for _, secret := range t.sentSecrets() {
		if len(secret) >= leastEchoed {
			pairs = append(pairs, secret, Redaction)
			suspect = suspect || bytes.Contains(body, []byte(secret))
		}
	}
	if !suspect || len(pairs) == 0 { // the usual case
		return
	}
	if hidden, found := wire.Replace(body, strings.NewReplacer(pairs...)); found {
		t.answer.body.Reset()
		t.answer.body.Write(hidden)
	}
}

// sentSecrets returns the credentials, and the secrets of the body, that the last attempt sent.
func (t *tracker) sentSecrets() (secrets []string) {
	for _, name := range []string{"Authorization", "X-Api-Key"} {
		secrets = append(secrets, strings.TrimPrefix(t.header.Get(name), "Bearer "))
	}
	if t.op.Tells {
		secrets = append(secrets, wire.Secrets(t.request.body)...)
	}
	return secrets
}
