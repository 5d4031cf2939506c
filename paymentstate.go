package moneymovement

// PaymentState is the one word for what is known about a payment, over all its calls. The flows of package dapi return
// it, and package payments stores it. Later versions may add states. Treat an unknown state, and the empty one, as
// [PaymentInDoubt].
type PaymentState string

// The states that a payment can have after a call, such as dapi's Payouts.Pay.
const (
	// PaymentPaid means that the money has left or is leaving, once. For an escrow, its money is held. For an
	// action of an escrow, the action was taken.
	PaymentPaid PaymentState = "paid"
	// PaymentNotPaid means that nothing was paid, and that the same call may pay later. Package payments does not store
	// it: such a payment is [PaymentAccepted].
	PaymentNotPaid PaymentState = "not_paid"
	// PaymentInDoubt means that the payment may have been made. Make the same call again, with the same key and terms,
	// until the state is another one. Do not pay in another way.
	PaymentInDoubt PaymentState = "in_doubt"
	// PaymentNeedsDecision means that the same call cannot pay until a person or your program acts: the input or the
	// price is not acceptable, the service booked something else, the account or the contact needs something, or the
	// key is too old or belongs to another payment. Package payments stores [PaymentRefused] if nothing but other terms
	// can help, and nothing was paid.
	PaymentNeedsDecision PaymentState = "needs_decision"
	// PaymentEnded means that the payout or the escrow has ended, and that its money came back or never left. Its key
	// cannot pay any more: use a new one. Package payments does not store it: such a payment is [PaymentRefused] if the
	// money never left, and otherwise [PaymentCameBack].
	PaymentEnded PaymentState = "ended"
)

// The further states of a payment that package payments stores.
const (
	// PaymentAccepted means that the payment is stored, and that no money can have left. It waits for its turn, or for
	// the time at which it is tried again.
	PaymentAccepted PaymentState = "accepted"
	// PaymentPaying means that a call is being made for the payment, or was being made when a process stopped.
	PaymentPaying PaymentState = "paying"
	// PaymentCompleted means that the money has arrived. A completed payout can still come back: the ledger shows it.
	PaymentCompleted PaymentState = "completed"
	// PaymentRefused means that nothing was paid, and nothing will be. To pay, use a new key.
	PaymentRefused PaymentState = "refused"
	// PaymentCameBack means that the money left and came back. To pay again, use a new key.
	PaymentCameBack PaymentState = "came_back"
)

// StoredPaymentStates returns the states that package payments stores, in the order in which a payment can go through
// them.
func StoredPaymentStates() []PaymentState {
	return []PaymentState{PaymentAccepted, PaymentPaying, PaymentInDoubt, PaymentNeedsDecision, PaymentPaid,
		PaymentCompleted, PaymentRefused, PaymentCameBack}
}

// Known reports whether this version knows the state.
func (s PaymentState) Known() bool {
	switch s {
	case PaymentPaid, PaymentNotPaid, PaymentInDoubt, PaymentNeedsDecision, PaymentEnded, PaymentAccepted,
		PaymentPaying, PaymentCompleted, PaymentRefused, PaymentCameBack:
		return true
	}
	return false
}

// Final reports that nothing more happens to the payment, unless a completed payout comes back.
func (s PaymentState) Final() bool {
	switch s {
	case PaymentEnded, PaymentCompleted, PaymentRefused, PaymentCameBack:
		return true
	}
	return false
}
