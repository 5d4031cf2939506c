package payments

// State is what is known about a payment, over all calls and all processes. Later versions may add states: treat an
// unknown one as [InDoubt].
type State string

// The states of a payment.
const (
	// Accepted means that the payment is stored, and that no money can have left. It is waiting for its turn, or for
	// the time at which it is tried again: then Record.Reason says why the last call did not pay.
	Accepted State = "accepted"
	// Paying means that a call is being made for the payment, or was being made when a process stopped. Whether money
	// may have left is in Record.MayHaveLeft.
	Paying State = "paying"
	// InDoubt means that the money may have left. The payment is tried again with the same key until it is known. Do
	// not pay in another way.
	InDoubt State = "in_doubt"
	// Paid means that the money has left or is leaving, and has not arrived yet.
	Paid State = "paid"
	// Completed means that the money has arrived. For a deal, its money is held; for an action of a deal, it was taken.
	// A completed payout can still come back: [Processor.Reconcile] finds that in the ledger.
	Completed State = "completed"
	// NeedsDecision means that nothing more happens until a person decides, with [Processor.Decide]. Record.Reason says
	// why, with the price or the blockers.
	NeedsDecision State = "needs_decision"
	// Refused means that nothing was paid, and nothing will be. To pay, submit a payment with a new key.
	Refused State = "refused"
	// CameBack means that the money left and came back. To pay again, submit a payment with a new key.
	CameBack State = "came_back"
)

// States returns all states that this version knows, in the order in which a payment can go through them.
func States() []State {
	return []State{Accepted, Paying, InDoubt, NeedsDecision, Paid, Completed, Refused, CameBack}
}

// Known reports whether this version knows the state.
func (s State) Known() bool {
	switch s {
	case Accepted, Paying, InDoubt, Paid, Completed, NeedsDecision, Refused, CameBack:
		return true
	}
	return false
}

// Final reports that the payment has ended: it is completed, refused or came back.
func (s State) Final() bool { return s == Completed || s == Refused || s == CameBack }

// Kind is what a payment does.
type Kind string

// The kinds of payments.
const (
	KindPayout       Kind = "payout"        // a [Payment]
	KindEscrow       Kind = "escrow"        // an [EscrowPayment]
	KindEscrowAction Kind = "escrow_action" // an [EscrowAction]
	KindTransfer     Kind = "transfer"      // a [TransferPayment]
)
