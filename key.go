package moneymovement

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Key is an idempotency key: 1 to 128 characters of A-Z a-z 0-9 . _ : - (any other is *errors.InvalidInput). It makes a
// write happen once, however often and from whatever process it is sent. Constants convert by themselves; make others
// with [DeriveKey].
//
// A key counts for one account and one operation: the same string elsewhere is another key. The service remembers a
// caller's key for 7 days from its first use, and replays its first answer until then. After that the same key is a new
// one and pays again, so read the payment before you send it. The same key with other terms is
// *errors.IdempotencyKeyReused, with the id of what owns it. It comes from the service, or, with Status 0 and without
// anything being sent, from a client that sent the key with other terms itself. Terms are compared by what they mean:
// 12.5 is 12.50.
//
// Calls that move money require a key. Other writes take one by [IdempotencyKey]; without one they send none. The
// platform API then derives a key from the request and remembers it for 2 hours, so that two equal bookings within them
// are one. No other surface states that it does.
//
// Source: Limits, Idempotency.
type Key string

// DeriveKey makes an idempotency key out of what a write is for, such as DeriveKey("payroll", "2026-11", employeeID).
// The same parts give the same key, in every process and at every start; different parts give different keys, however
// they are cut: ("ab", "c") is not ("a", "bc"). The key keeps as much of the parts as its form allows, for people who
// read logs, so leave secrets out.
//
// Two payments of equal terms need distinct keys, so the parts must say which of them is meant.
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
