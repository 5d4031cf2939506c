package moneymovement

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Key is an idempotency key. It makes a write happen once, however often it is sent and by how many processes. A key
// has 1 to 128 characters of A-Z a-z 0-9 . _ : - and anything else is refused with *errors.InvalidInput. A constant
// string is a Key without a conversion. Make other keys with [DeriveKey].
//
// A key belongs to one account and one operation. The same key in another account or operation is a different key.
//
// The service remembers a key for 7 days from its first use. Within this time, the same call with the same key returns
// the first response again. After 7 days the key counts as new, and the same call pays again: read the payment before
// you repeat it.
//
// The same key with other terms is refused with *errors.IdempotencyKeyReused, which names the payout or escrow that has
// the key. The service refuses it, or the client itself if it sent the key with other terms before; then Status is 0
// and nothing was sent. Terms are compared by value: 12.5 equals 12.50.
//
// Calls that move money require a key. Some other writes take one as an option, see [IdempotencyKey]. Without a key,
// the platform API derives one from the request and remembers it for 2 hours: two equal bookings within this time are
// one payout. The descriptions of the other surfaces do not say that they derive keys.
type Key string

// DeriveKey makes an idempotency key from what a write is for, such as DeriveKey("payroll", "2026-11", employeeID). The
// same parts always give the same key. Different parts give different keys, however they are split: ("ab", "c") differs
// from ("a", "bc"). The key contains the beginning of the parts, which helps to find it in logs. Do not put secrets
// into them.
//
// Two payments with equal terms need different keys. So the parts must identify the payment. Let the last one be the
// number of the attempt, such as DeriveKey("invoice", "42", "1"): terms that the service has booked cannot be changed
// under their key. To pay an invoice whose payment was wrong and is known not to be made, take the next number.
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
