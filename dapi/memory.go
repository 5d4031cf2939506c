package dapi

import (
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/errorbase"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// paymentMemory is what one credential's client knows about its payments, by key: which of them may have been paid,
// what was signed, and what the first price was.
type paymentMemory struct{ *transport.Keys }

// attempt is one call that makes a payment.
type attempt struct {
	memory paymentMemory
	known  *transport.UsedKey
	number int // of the call, among those with its key
	ended  bool
}

// paymentRecord is what is kept of a payment between calls. It is small, because many thousands are kept.
type paymentRecord struct {
	booked  bool   // a call of Pay has booked
	first   *Quote // the first price, if that booking had one
	settled bool   // a call has settled the payment
	phase   phase  // in which it then was
	status  string // of a payment that has ended
	hash    string // of its transaction, if that was known
}

// begin records that a call makes a payment, and returns what is known of the earlier calls with its key. proven says
// that the caller's store proves that none has paid. If this client then cannot keep another payment in doubt, begin
// refuses the call, unless it knows of an earlier call with the key.
func (m paymentMemory) begin(scope transport.KeyScope, proven bool) (*attempt, errorbase.Earlier, error) {
	m.Lock()
	defer m.Unlock()
	unpaid := unpaid(m.Get(scope))
	if proven && unpaid && m.Full() {
		return nil, errorbase.NonePaid, &errors.NotDelivered{
			CallInfo: errors.CallInfo{Operation: scope.Operation, IdempotencyKey: scope.Key}, Err: errTooManyInDoubt,
		}
	}
	known := m.Use(scope)
	earlier := errorbase.MayExist
	switch {
	case known.State != transport.KeyUnpaid:
		earlier = errorbase.MayPay
	case proven && unpaid:
		earlier = errorbase.NonePaid
	}
	if known.Payment == nil {
		known.Payment = &paymentRecord{}
	}
	known.Begun++
	known.Flows++
	return &attempt{memory: m, known: known, number: known.Begun}, earlier, nil
}

// unpaid reports that this client knows of no call with the key that has paid or can still pay.
func (m paymentMemory) unpaid(scope transport.KeyScope) bool {
	if m.Keys == nil || scope.Key == "" {
		return true
	}
	m.Lock()
	defer m.Unlock()
	return unpaid(m.Get(scope))
}

// unpaid is the same for what is known of a key, nil for nothing. The caller holds the lock.
func unpaid(known *transport.UsedKey) bool {
	return known == nil || known.State == transport.KeyUnpaid && known.Flows == 0
}

var errTooManyInDoubt = errors.New("100,000 payments of this client are in doubt: " +
	"settle some of them by calling again with their keys, then start new ones")

// sign records that an approval of a payout or escrow is about to be signed. If one of another payout or escrow was
// signed with the same key, it records nothing and returns the id of that one.
func (m paymentMemory) sign(scope transport.KeyScope, resource string) (other string) {
	if scope.Key == "" { // of a booking by hand, whose response has none
		return ""
	}
	m.Lock()
	defer m.Unlock()
	known := m.Use(scope)
	if known.Signed && known.Resource != resource {
		return known.Resource
	}
	known.Resource, known.Signed = resource, true
	return ""
}

// confirmed records the outcome of a confirm by hand.
func (m paymentMemory) confirmed(scope transport.KeyScope, err error) {
	switch {
	case scope.Key == "":
	case err == nil:
		m.Note(scope, transport.KeySettled, nil)
	case mayHaveMoved(err):
		m.Note(scope, transport.KeyInDoubt, nil)
	}
}

// onlyCall reports that no other call with the key is running, or ran, during this one.
func (a *attempt) onlyCall() bool {
	a.memory.Lock()
	defer a.memory.Unlock()
	return a.known.Flows == 1 && a.known.Begun == a.number
}

// end ends the call, unless it has ended. The highest state of all calls counts.
func (a *attempt) end(state transport.KeyState) {
	a.memory.Lock()
	defer a.memory.Unlock()
	if a.ended {
		return
	}
	a.ended = true
	a.known.Flows--
	a.memory.End(a.known, state)
}

// update calls f with what is kept of the payment.
func (a *attempt) update(f func(*paymentRecord)) {
	a.memory.Lock()
	defer a.memory.Unlock()
	f(a.known.Payment.(*paymentRecord)) //nolint:errcheck,forcetypeassert // begin made it
}

// recordPrice stores the first price of the payment. It returns the first price in any booking, or nil if this booking
// has it. again reports that there was a booking before.
func (a *attempt) recordPrice(quote *Quote) (first *Quote, again bool) {
	a.update(func(r *paymentRecord) {
		again, r.booked = r.booked && !(r.settled && r.phase == phasePaid), true
		first = r.first
		if first == nil && quote != nil && !again {
			r.first = new(*quote)
		}
	})
	return first, again
}

// settle records how the payment was settled. o is nil if it is paid and could not be read.
func (a *attempt) settle(o *offer) {
	a.update(func(r *paymentRecord) {
		r.settled, r.phase = true, phasePaid
		if o != nil {
			r.phase = o.phase
			r.status, r.hash = o.status()
		}
		if r.phase == phasePaid {
			r.status, r.first = "", nil // no other price follows
		}
	})
}

// record returns what is kept of the payment.
func (a *attempt) record() (record paymentRecord) {
	a.update(func(r *paymentRecord) { record = *r })
	return record
}

// done reports that the payment is paid or has ended, as far as this client knows.
func (a *attempt) done() bool {
	a.memory.Lock()
	defer a.memory.Unlock()
	return a.known.State == transport.KeySettled
}

// resource returns the id of the payout or escrow of the key, or "" if this client does not know it.
func (a *attempt) resource() string {
	a.memory.Lock()
	defer a.memory.Unlock()
	return a.known.Resource
}

// signed returns the id of the payout or escrow of which an approval may have been signed, or "".
func (a *attempt) signed() string {
	a.memory.Lock()
	defer a.memory.Unlock()
	if !a.known.Signed {
		return ""
	}
	return a.known.Resource
}
