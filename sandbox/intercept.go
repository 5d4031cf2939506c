package sandbox

import (
	"github.com/moneymovement/moneymovement-go/sandbox/internal/fault"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/gate"
)

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

// Consumed returns how many faults of each kind happened, such as drop_after_commit. A [MisroutedResponse] that did not happen,
// because the host remembered no response for it, is not counted.
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
