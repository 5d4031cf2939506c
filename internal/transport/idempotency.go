package transport

import (
	"time"

	"github.com/moneymovement/moneymovement-go/errors"
)

// KeyRule is the stated pattern of an idempotency key.
var KeyRule = Rule{Required: true, Pattern: `^[A-Za-z0-9._:-]{1,128}$`}

// keyField is the name of the key in an *errors.InvalidInput.
const keyField = "Idempotency-Key"

// keyHeader is canonical, so that a fake, a proxy or a recorder finds it with Header.Get. net/http would repeat a
// request with this header by itself when a kept connection fails, if its body is nil or http.NoBody, or has GetBody.
// Neither the retry policy nor the attempt count would notice. So a write with a key has a body of another kind: see
// sending.prepare.
const keyHeader = "Idempotency-Key"

// RequireKey refuses a call that moves money without a key from the caller. The program must be able to make the key
// again: a key that is lost when the program stops allows a second payment.
func RequireKey(op *Operation, key string) error {
	return Validate(op.ID, func(c *Check) { c.RequiredKey(op, key) })
}

// RequiredKey is the check of [RequireKey].
func (c *Check) RequiredKey(op *Operation, key string) {
	if key == "" {
		c.Refuse(keyField, errors.FieldMissing,
			"is required where money moves: make one with moneymovement.DeriveKey, such as from the invoice's id")
		return
	}
	c.key(op, key)
}

// key checks a key. The keys . and .. match the stated pattern, but no path can have them as a segment: the call that
// confirms would go to another place.
func (c *Check) key(op *Operation, key string) {
	if op.KeyInPath && (key == "." || key == "..") {
		c.Refuse(keyField, "pattern", "must not be . or .. here, because the key is part of a path: use another key")
		return
	}
	c.Text(keyField, key, KeyRule)
}

// idempotency checks the caller's key. A write without a key sends none.
func (r *Request) idempotency() {
	switch {
	case r.call.Key == "":
	case r.op.write():
		r.check.key(r.op, string(r.call.Key))
	default:
		r.check.Refuse(keyField, "not_applicable", "is not allowed for a read: leave it out")
	}
}

// derivedKeyLifetime is how long the service repeats its first response to a write without a key, if it derives keys.
// It is a little shorter than the stated time, because a repeated request needs time to arrive.
const derivedKeyLifetime = 2*time.Hour - time.Minute

// repeatable reports whether the request may be sent again although an earlier attempt may have been carried out.
func (r *Request) repeatable() bool {
	switch {
	case !r.op.write(), r.op.Repeat == RepeatNatural:
		return true
	case r.op.Repeat != RepeatKey:
		return false
	case r.call.Key != "":
		return true
	}
	return r.op.Derives && time.Since(r.began) < derivedKeyLifetime
}

// stillRepeatable stops an attempt that waited too long for its turn: the service may have forgotten the earlier
// attempt.
func (r *Request) stillRepeatable() error {
	if r.unsettled() && !r.repeatable() {
		return errForgotten
	}
	return nil
}

var errForgotten = errors.New("not sent again: the service may have forgotten the first attempt by now")

// resolve returns the advice on how to find out whether a write was carried out.
func (r *Request) resolve() string {
	switch {
	case !r.repeatable():
		return "read the resource before you repeat the request"
	case r.call.Key != "":
		return "repeat the same request with the same idempotency key"
	case r.op.Repeat == RepeatKey:
		until := r.began.Add(derivedKeyLifetime).UTC().Format(time.RFC3339)
		return "repeat the same request before " + until + "; after that, read the resource first"
	}
	return "repeat the same request"
}
