package sandbox

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/fault"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/gate"
)

// Fault is something that goes wrong with a request. Make one with [DropBefore], [DropAfterCommit], [Respond],
// [Garbage], [Truncate], [Delay], [ExpireToken], [DeliverTwice], [ProxyRetry] or [MisroutedResponse], and give it to
// [Host.Arm], or return it from the function of [Host.Intercept]. The methods of Fault return a changed copy. Arm
// refuses a fault that sets something which its kind does not use.
type Fault struct {
	inner fault.Fault
	times int
}

// DropBefore closes the connection before the operation runs. Nothing happens at the host, and the caller receives no
// response.
//
// A plain net/http client sends some requests a second time when a kept-alive connection closes: reads, and writes with
// an Idempotency-Key. A test that counts the requests of such a client should turn keep-alives off. The SDK's clients
// do not repeat writes in this way.
func DropBefore() Fault { return Fault{inner: fault.Fault{Kind: fault.DropBefore}} }

// DropAfterCommit runs the operation, and then closes the connection without a response. The money moves, and the
// caller cannot know. See [DropBefore] for plain net/http clients.
func DropAfterCommit() Fault { return Fault{inner: fault.Fault{Kind: fault.DropAfterCommit}} }

// Respond sends a refusal with this status and slug. The operation does not run, unless [Fault.AfterCommit] is set. The
// status is from 200 to 599. The slug may be any text; with an empty slug the body is that of [Fault.WithBody].
//
// A redirect is Respond(307, "").WithHeader("Location", "/elsewhere"), a success without a body is Respond(201, ""),
// and a page in place of JSON is Respond(200, "").WithBody("<html>").WithHeader("Content-Type", "text/html").
//
// Clients of the SDK repeat calls. They wait in real time for a Retry-After of up to RetryPolicy.WaitMax, which is 65
// seconds by default. To see the refusal at once, send a longer one, for example
// WithHeader("Retry-After", "300"), or disable retries.
func Respond(status int, slug string) Fault {
	return Fault{inner: fault.Fault{Kind: fault.Respond, Status: status, Code: slug}}
}

// Garbage sends status 502 with an HTML page, as a proxy does. The operation does not run, unless [Fault.AfterCommit]
// is set.
func Garbage() Fault { return Fault{inner: fault.Fault{Kind: fault.Garbage}} }

// Truncate runs the operation, sends the first keep bytes of the response body, and closes the connection. With 0 it
// sends half of the body.
func Truncate(keep int) Fault { return Fault{inner: fault.Fault{Kind: fault.Truncate, Keep: keep}} }

// Delay waits for d, which is more than 0, and then handles the request as usual. With [Fault.AfterCommit] it handles
// the request at once, and then waits before it sends the response. It waits in real time: [Host.Advance] does not
// shorten it. If the caller closes the connection before, such as at the end of a timeout, the host handles the request
// at once: a payment then moves its money while the caller does not know it.
func Delay(d time.Duration) Fault {
	return Fault{inner: fault.Fault{Kind: fault.Delay, Delay: fault.Duration(d)}}
}

// ExpireToken expires the access token of the request, and then handles the request: it fails with token_expired.
func ExpireToken() Fault { return Fault{inner: fault.Fault{Kind: fault.ExpireToken}} }

// DeliverTwice makes the host receive the request a second time, as from a network that repeats it. The caller gets the
// first response; nobody gets the second one. With 0 the second request arrives right after the first. Otherwise it
// arrives when so much time has passed on the host's clock: during [Host.Advance], or before the next request. Even
// then, the host accepts the access token of the first request, as if the second one had passed the check of the
// session long ago. No rate window counts it. [Host.PendingDeliveries] counts what has not arrived yet.
func DeliverTwice(after time.Duration) Fault {
	return Fault{inner: fault.Fault{Kind: fault.DeliverTwice, After: fault.Duration(after)}}
}

// ProxyRetry makes the host receive the request a second time, right after the first, as from a proxy that lost the
// first response and tries again. The caller gets the second response, such as already_funded for a confirm.
func ProxyRetry() Fault { return Fault{inner: fault.Fault{Kind: fault.ProxyRetry}} }

// MisroutedResponse sends a response that belongs to another request of the same account for the same operation, such
// as the response of another payment: the latest success with another path or idempotency key. The operation does not
// run, unless [Fault.AfterCommit] is set. The fault stays armed until the host has such a response. The host remembers
// the last 8 successes of each operation.
func MisroutedResponse() Fault { return Fault{inner: fault.Fault{Kind: fault.MisroutedResponse}} }

// OtherAccount makes [MisroutedResponse] send the latest response to a request of another account, such as another
// client.
func (f Fault) OtherAccount() Fault {
	f.inner.OtherAccount = true
	return f
}

// Times sets how many requests the fault happens to. The default is one, and 0 means the default.
func (f Fault) Times(n int) Fault {
	f.times = n
	return f
}

// AfterCommit makes [Respond], [Garbage] and [MisroutedResponse] run the operation first, and send their own response
// in place of the operation's. For [Delay] it moves the wait behind the operation.
func (f Fault) AfterCommit() Fault {
	f.inner.AfterCommit = true
	return f
}

// WithHeader adds a header, such as Retry-After, to the response of [Respond].
func (f Fault) WithHeader(name, value string) Fault {
	f.inner.Headers = maps.Clone(f.inner.Headers)
	if f.inner.Headers == nil {
		f.inner.Headers = map[string]string{}
	}
	f.inner.Headers[name] = value
	return f
}

// WithDetails sets error.details in the body of [Respond].
func (f Fault) WithDetails(details map[string]any) Fault {
	f.inner.Details = maps.Clone(details)
	return f
}

// WithBody makes [Respond] send this body, as it is, with content type application/json.
func (f Fault) WithBody(body string) Fault {
	f.inner.Body = body
	return f
}

// ArmedFault is a fault that waits for the requests that it happens to. [Host.Arm] returns one.
type ArmedFault struct {
	set *fault.Set
	id  string
}

// Arm makes a fault happen to the next request with this method and path. An empty method means any method. The path is
// that of an operation, such as /payouts/{payoutId}/confirm:
//
//   - {name} and * stand for any one segment. A last ** stands for all segments that follow: /** covers every path.
//   - The base path /dapi/v1 of the platform API may be left out. A path such as /transactions, which the platform API
//     and the app API both have, then covers both.
//   - An id may stand in place of a parameter, to cover one resource only.
//
// If several armed faults cover a request, the one that was armed first happens.
//
// For ease of use in tests, Arm panics if no operation has this method and path; the message names the most similar
// operations. It also panics if the fault is invalid, such as the zero Fault or a status of 99.
func (h *Host) Arm(method, path string, f Fault) *ArmedFault {
	armed, err := h.arm(method, path, f.times, f.inner)
	if err != nil {
		panic(fmt.Errorf("sandbox: Host.Arm: %w", err))
	}
	return &ArmedFault{set: h.faults, id: armed.ID}
}

func (h *Host) arm(method, path string, times int, f fault.Fault) (fault.Armed, error) {
	method = strings.ToUpper(method)
	if err := h.operations.Check(method, path); err != nil {
		return fault.Armed{}, err
	}
	return h.faults.Arm(method, path, times, f)
}

// DisarmAll disarms every fault that is armed, and ends an [Interception]. [ArmedFault.Consumed] still returns how
// often each happened.
func (h *Host) DisarmAll() {
	h.faults.DisarmAll()
	h.gate.EndInterceptions()
}

// Disarm disarms the fault: it happens to no further request. A request that a [Delay] already holds still waits until
// the end of the delay.
func (a *ArmedFault) Disarm() { a.set.Disarm(a.id) }

// Consumed returns how often the fault has happened. It is zero after [Host.Reset].
func (a *ArmedFault) Consumed() int {
	armed, _ := a.set.Get(a.id)
	return armed.Consumed
}

// Remaining returns how often the fault will still happen. It is zero once it is disarmed, and after [Host.Reset].
func (a *ArmedFault) Remaining() int {
	armed, _ := a.set.Get(a.id)
	return armed.Remaining()
}

// Interception counts the faults that happened through [Host.Intercept].
type Interception struct {
	gate  *gate.Gate
	inner *gate.Interception
}

// Intercept calls decide for each request that arrives for the service, and makes the fault happen that it returns. The
// zero Fault means no fault; an armed fault may then happen. So a program can decide by a seed, an attempt or a
// resource, in place of arming paths before. A request that a fault repeats is not decided about again.
//
// decide gets what is known before the operation runs. The status, the slug and the digest of the body are missing, and
// Account is the account that the request names, not checked. The host holds no lock during the call: decide may wait,
// and may call methods of the host, such as [Host.Advance] or [Host.DeleteKey]. It must be safe for concurrent use.
// [Fault.Times] does not count here.
//
// There is one interception at a time: Intercept replaces the one before. [Host.Reset] and [Host.DisarmAll] end it. For
// ease of use in tests, the host panics if decide returns an invalid fault, as [Host.Arm] does.
func (h *Host) Intercept(decide func(Request) Fault) *Interception {
	inner := h.gate.Intercept(func(arrived gate.Entry) (fault.Fault, bool) {
		f := decide(Request(arrived.Request))
		return f.inner, f.inner.Kind != ""
	})
	return &Interception{gate: h.gate, inner: inner}
}

// Consumed returns how many faults of each kind happened, such as drop_after_commit. A [MisroutedResponse] that did not
// happen, because the host remembered no response for it, is not counted.
func (i *Interception) Consumed() map[string]int {
	consumed := map[string]int{}
	for kind, count := range i.inner.Consumed() {
		consumed[string(kind)] = count
	}
	return consumed
}

// End ends the interception: decide is called for no further request. Consumed still returns what happened.
func (i *Interception) End() { i.gate.EndInterception(i.inner) }

// PendingDeliveries returns how many requests are still to arrive a second time, see [DeliverTwice].
func (h *Host) PendingDeliveries() int { return h.gate.PendingDeliveries() }
