package transport

import (
	"bytes"
	"slices"
	"strings"

	"github.com/moneymovement/moneymovement-go/internal/hidden"
	"github.com/moneymovement/moneymovement-go/internal/wire"
)

// leastEchoed is the length of the shortest secret that is searched for in a refusal. A shorter text could be there by
// chance.
const leastEchoed = 8

// hideEcho removes secrets that a refusal repeats. Validators quote the values that they refuse, and programs print and
// encode the details of a refusal.
func (r *Request) hideEcho() {
	if r.answer.success() {
		return
	}
	var room [4]string
	secrets := r.sentSecrets(room[:0])
	if !mayEcho(r.answer.bytes(), secrets) { // the usual case
		return
	}
	var pairs []string
	for _, secret := range secrets {
		pairs = append(pairs, secret, hidden.Redaction)
	}
	if hidden, found := wire.Replace(r.answer.bytes(), strings.NewReplacer(pairs...)); found {
		r.answer.body.Reset()
		r.answer.body.Write(hidden)
	}
}

// mayEcho reports whether a body can have one of the secrets. An escape can hide a character of a secret.
func mayEcho(body []byte, secrets []string) bool {
	if len(secrets) > 0 && bytes.IndexByte(body, '\\') >= 0 {
		return true
	}
	for _, secret := range secrets {
		beginning := secret[:min(len(secret), 32)] // as bytes, it fits on the stack
		if bytes.Contains(body, []byte(beginning)) {
			return true
		}
	}
	return false
}

// sentSecrets adds the credentials, and the secrets of the body, that the last attempt sent. It leaves out those that
// are too short to search for.
func (r *Request) sentSecrets(secrets []string) []string {
	secrets = append(secrets, strings.TrimPrefix(r.header.Get("Authorization"), "Bearer "), r.header.Get("X-Api-Key"))
	if r.op.Tells {
		secrets = append(secrets, wire.Secrets(r.body)...)
	}
	return slices.DeleteFunc(secrets, func(secret string) bool { return len(secret) < leastEchoed })
}
