package moneymovement

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Key is an idempotency key: 1 to 128 characters of A-Z a-z 0-9 . _ : - that say which write is meant, so that it is done once however often it
// is sent. Its scope is the account and the operation, and the service remembers it for 7 days. [DeriveKey] makes one out of what the write
// is for.
//
// Source: Limits, Idempotency.
type Key string

// DeriveKey makes an idempotency key out of what a write is for, such as DeriveKey("payroll", "2026-11", employeeID). The same parts give
// the same key, in every process and at every start; different parts give different keys, however they are cut: ("ab", "c") is not
// ("a", "bc"). The key keeps as much of the parts as its form allows, for people who read logs, so leave secrets out.
//
// Use it with [IdempotencyKey]. Two payments of equal terms need distinct keys, so the parts must say which of them is meant.
//
// Source: Limits, Idempotency.
func DeriveKey(parts ...string) Key {
	digest := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(digest, "%d:%s", len(part), part)
	}
	readable := strings.Map(keyRune, strings.Join(parts, ":"))
	return Key(readable[:min(len(readable), maxReadable)] + "." + hex.EncodeToString(digest.Sum(nil)[:16]))
}

// maxReadable leaves room for a dot and 32 hexadecimal digits within the 128 characters of a key.
const maxReadable = 128 - 33

// keyRune replaces what a key may not contain.
func keyRune(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_', r == ':', r == '-':
		return r
	}
	return '-'
}
