package transport

import (
	"net/http"

	"github.com/google/uuid"
)

// KeyRule is the stated pattern of an idempotency key.
//
// Source: Limits, Idempotency.
var KeyRule = Rule{Required: true, Pattern: `^[A-Za-z0-9._:-]{1,128}$`}

// keyHeader is spelled in lower case on purpose. net/http takes a request with a canonical Idempotency-Key for replayable and
// sends it again by itself when a kept connection dies, out of sight of the retry policy and of the attempt count. HTTP header
// names are case-insensitive, so that the service reads the same header.
const keyHeader = "idempotency-key"

// idempotency gives every write its key.
func (r *Request) idempotency() {
	if !r.op.write() {
		if r.call.KeySet {
			r.check.Refuse("Idempotency-Key", "not_applicable", "a read takes no idempotency key")
		}
		return
	}
	if r.call.KeySet {
		r.check.Text("Idempotency-Key", r.call.Key, KeyRule)
		return
	}
	r.call.Key = uuid.NewString()
}

func (r *Request) setKey(h http.Header) {
	if r.call.Key != "" {
		h[keyHeader] = []string{r.call.Key}
	}
}
