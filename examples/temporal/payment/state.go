package payment

import (
	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
)

// Status is what a person sees of a payment.
type Status string

// The statuses. A workflow ends with one of the last four.
const (
	// Paying means that a call is under way, or that Temporal repeats it.
	Paying Status = "paying"
	// Waiting means that nothing was paid, and that the workflow calls again after a pause.
	Waiting Status = "waiting"
	// InDoubt means that the payment may have been made. The workflow calls again after a pause.
	InDoubt Status = "in_doubt"
	// NeedsDecision means that the workflow waits for a [Decision]. Problem says why.
	NeedsDecision Status = "needs_decision"
	// Paid means that the money has left or is leaving.
	Paid Status = "paid"
	// Completed means that the money has arrived.
	Completed Status = "completed"
	// CameBack means that the payout failed, was refunded or expired. Its key cannot pay any more.
	CameBack Status = "came_back"
	// Cancelled means that nothing was paid, and that nothing can be paid with the keys of this workflow.
	Cancelled Status = "cancelled"
	// HandedOver means that a person settles the payment. If History.Unpaid is false, it may have been made.
	HandedOver Status = "handed_over"
)

// State is the state of a payment. The query [StateQuery] and the workflow return it.
type State struct {
	Status Status
	Key    moneymovement.Key
	Bounds dapi.Bounds
	// History is what is known of the calls with the key. Unpaid is false before each call of Pay, because a worker
	// that dies reports nothing.
	History dapi.History
	// Problem is what the last call met. It is nil once the payment is paid.
	Problem *Problem
}

// StateQuery is the name of the query that returns the [State].
const StateQuery = "state"

// DecideUpdate is the name of the update that takes a [Decision] and returns the [State].
const DecideUpdate = "decide"

// Decision is what a person decides about a payment.
type Decision struct {
	Action Action
	// Bounds replace those of the payment. Only Retry and NewKey take them.
	Bounds *dapi.Bounds
}

// Action is what to do with a payment.
type Action string

// The actions.
const (
	// Retry calls again with the same key, and books anew. It does not confirm an old quote.
	Retry Action = "retry"
	// Cancel ends a payment that was not made. It is refused if the payment may have been made.
	Cancel Action = "cancel"
	// NewKey pays with a new key. It is allowed only if the old key is too old and the ledger does not have the
	// payment.
	NewKey Action = "new_key"
	// HandOver ends the workflow. A person settles the payment.
	HandOver Action = "hand_over"
)
