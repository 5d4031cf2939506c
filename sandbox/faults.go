package sandbox

import (
	"maps"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/fault"
)

// Fault is something that goes wrong with a request. Make one with [DropBefore],
// [DropAfterCommit], [Respond], [Garbage], [Truncate], [Delay] or [ExpireToken];
// the zero Fault never happens.
type Fault struct {
	inner fault.Fault
	times int
}

// DropBefore closes the connection before the operation runs, without a byte of
// an answer: nothing happened, and the caller cannot know.
//
// A plain net/http client sends a read, or a write with an Idempotency-Key, once
// more of itself when that closes a connection that it kept: a test that counts
// turns keep-alives off. The SDK's clients send no write twice that way.
func DropBefore() Fault { return Fault{inner: fault.Fault{Kind: fault.DropBefore}} }

// DropAfterCommit runs the operation and closes the connection without a byte of
// an answer: it happened, and the caller cannot know. See [DropBefore] for plain
// clients.
func DropAfterCommit() Fault { return Fault{inner: fault.Fault{Kind: fault.DropAfterCommit}} }

// Respond answers a refusal with this status and slug in the operation's place.
// A status that no response has, outside 200 to 599, becomes 500.
func Respond(status int, slug string) Fault {
	if status < 200 || status > 599 {
		status = 500
	}
	return Fault{inner: fault.Fault{Kind: fault.Respond, Status: status, Code: slug}}
}

// Garbage answers 502 with a proxy's HTML page in the operation's place.
func Garbage() Fault { return Fault{inner: fault.Fault{Kind: fault.Garbage}} }

// Truncate runs the operation, sends only the first bytes of its body (half of
// it for 0) and closes the connection.
func Truncate(keep int) Fault {
	return Fault{inner: fault.Fault{Kind: fault.Truncate, Keep: max(keep, 0)}}
}

// Delay waits on the machine's clock, then lets the request through.
func Delay(d time.Duration) Fault {
	return Fault{inner: fault.Fault{Kind: fault.Delay, Delay: fault.Duration(max(d, 1))}}
}

// ExpireToken expires the request's access token before the request is judged.
func ExpireToken() Fault { return Fault{inner: fault.Fault{Kind: fault.ExpireToken}} }

// Times makes the fault happen to that many requests instead of one; 0 counts as one.
func (f Fault) Times(n int) Fault {
	f.times = n
	return f
}

// AfterCommit makes Respond and Garbage run the operation first and throw its
// own answer away.
func (f Fault) AfterCommit() Fault {
	f.inner.AfterCommit = true
	return f
}

// WithHeader adds a header to the answer of Respond, such as Retry-After.
func (f Fault) WithHeader(name, value string) Fault {
	f.inner.Headers = maps.Clone(f.inner.Headers)
	if f.inner.Headers == nil {
		f.inner.Headers = map[string]string{}
	}
	f.inner.Headers[name] = value
	return f
}

// WithDetails sets the details of Respond's refusal.
func (f Fault) WithDetails(details map[string]any) Fault {
	f.inner.Details = maps.Clone(details)
	return f
}

// WithBody makes Respond answer this body as it is instead of a refusal.
func (f Fault) WithBody(body string) Fault {
	f.inner.Body = body
	return f
}

// ArmedFault is a fault that waits for its requests.
type ArmedFault struct {
	set *fault.Set
	id  string
}

// Arm lets a fault happen to the next requests of a method (empty: any) and
// path, such as /payouts/{payoutId}/confirm with or without /dapi/v1. In the
// path, * and {name} stand for one segment, and a last ** for all that follow.
// Faults that cover the same request happen in the order of arming. A path that
// the app API has too, such as /transactions, covers both when it is written
// without /dapi/v1.
func (h *Host) Arm(method, path string, f Fault) *ArmedFault {
	armed, err := h.faults.Arm(method, path, f.times, f.inner)
	if err != nil {
		return &ArmedFault{set: h.faults} // the zero Fault
	}
	return &ArmedFault{set: h.faults, id: armed.ID}
}

// Consumed tells how often the fault happened so far.
func (a *ArmedFault) Consumed() int {
	armed, _ := a.set.Get(a.id)
	return armed.Consumed
}

// Remaining tells how often the fault will still happen. It is zero after
// [Host.Reset].
func (a *ArmedFault) Remaining() int {
	armed, _ := a.set.Get(a.id)
	return armed.Times - armed.Consumed
}
