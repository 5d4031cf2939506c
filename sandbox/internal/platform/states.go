package platform

import (
	"slices"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// Transition is a change of status of a resource, and what causes it.
type Transition struct {
	From string `json:"from"` // "" before there is the resource
	To   string `json:"to"`
	By   string `json:"by"`
	// Move reports that an operator or a partner can make the change, if nothing else is in the way.
	Move bool `json:"move"`
}

// transition is a Transition between statuses of one kind.
type transition[S ~string] struct {
	From, To S
	By       string
	Move     bool
}

// states are all changes of status of one kind of resource. The description does not list them, so they are the host's.
// What an operator may do is read from here, and the diagrams of the controls are drawn from here.
type states[S ~string] []transition[S]

// moves lists the statuses that an operator may move a resource to.
func (s states[S]) moves(from S) []S {
	var to []S
	for _, t := range s {
		if t.Move && t.From == from {
			to = append(to, t.To)
		}
	}
	return to
}

// movable reports whether an operator may make a change.
func (s states[S]) movable(from, to S) bool { return slices.Contains(s.moves(from), to) }

// diagram returns the changes for a reader.
func (s states[S]) diagram() []Transition {
	list := make([]Transition, len(s))
	for i, t := range s {
		list[i] = Transition{From: string(t.From), To: string(t.To), By: t.By, Move: t.Move}
	}
	return list
}

// allowed lists the moves that are not refused at present.
func allowed[S ~string](moves []S, refused func(to S) error) []string {
	list := []string{}
	for _, to := range moves {
		if refused(to) == nil {
			list = append(list, string(to))
		}
	}
	return list
}

var payoutStates = states[platformwire.PayoutStatus]{
	{"", platformwire.PayoutStatusAwaitingApproval, "POST /payouts books it.", false},
	{platformwire.PayoutStatusAwaitingApproval, platformwire.PayoutStatusExpired,
		"Nobody confirms it within approvalLifetime.", true},
	{platformwire.PayoutStatusExpired, platformwire.PayoutStatusAwaitingApproval,
		"POST /payouts with the same idempotency key prices it again.", false},
	{platformwire.PayoutStatusAwaitingApproval, platformwire.PayoutStatusFunding,
		"POST /payouts/{payoutId}/confirm with the signed approval.", false},
	{platformwire.PayoutStatusFunding, platformwire.PayoutStatusProcessing, "payoutStepAfter passes.", true},
	{platformwire.PayoutStatusFunding, platformwire.PayoutStatusCompleted, "The partner says so.", true},
	{platformwire.PayoutStatusFunding, platformwire.PayoutStatusFailed, "The partner says so.", true},
	{platformwire.PayoutStatusFunding, platformwire.PayoutStatusRefunded, "The partner says so.", true},
	{platformwire.PayoutStatusProcessing, platformwire.PayoutStatusCompleted, "payoutStepAfter passes.", true},
	{platformwire.PayoutStatusProcessing, platformwire.PayoutStatusFailed,
		"payoutStepAfter passes, and failOneIn or failAmount chooses it.", true},
	{platformwire.PayoutStatusProcessing, platformwire.PayoutStatusRefunded, "The partner says so.", true},
	{platformwire.PayoutStatusCompleted, platformwire.PayoutStatusRefunded,
		"refundAfter passes, and refundOneIn or refundAmount chooses it.", true},
}

var payinStates = states[platformwire.PayinStatus]{
	{"", platformwire.PayinStatusQuoted, "POST /payins prices it.", false},
	{platformwire.PayinStatusQuoted, platformwire.PayinStatusAwaitingFunds,
		"POST /payins/{payinId}/instructions accepts the price.", false},
	{platformwire.PayinStatusQuoted, platformwire.PayinStatusExpired, "quoteLifetime passes.", false},
	{platformwire.PayinStatusAwaitingFunds, platformwire.PayinStatusExpired, "quoteLifetime passes.", false},
	{platformwire.PayinStatusAwaitingFunds, platformwire.PayinStatusCompleted, "The money arrives.", true},
}

var verificationStates = states[commonwire.KYCStatus]{
	{"", commonwire.KYCStatusNotStarted, "POST /clients creates the client.", false},
	{commonwire.KYCStatusNotStarted, commonwire.KYCStatusPending, "PUT /client/kyb saves something.", false},
	{commonwire.KYCStatusPending, commonwire.KYCStatusNotStarted, "PUT /client/kyb deletes everything.", false},
	{commonwire.KYCStatusPending, commonwire.KYCStatusUnderReview, "POST /client/kyb/complete submits it.", false},
	{commonwire.KYCStatusUnderReview, commonwire.KYCStatusApproved,
		"kybDecisionAfter passes, and kybDecision is approve.", true},
	{commonwire.KYCStatusUnderReview, commonwire.KYCStatusRejected,
		"kybDecisionAfter passes, and kybDecision is reject.", true},
	{commonwire.KYCStatusUnderReview, commonwire.KYCStatusUnderReview,
		"POST /client/kyb/complete submits changed content.", false},
	{commonwire.KYCStatusApproved, commonwire.KYCStatusUnderReview,
		"POST /client/kyb/complete submits changed content.", false},
	{commonwire.KYCStatusRejected, commonwire.KYCStatusUnderReview,
		"POST /client/kyb/complete submits changed content.", false},
}

// escrowStates have no moves: every action needs an approval that the account signs.
var escrowStates = states[platformwire.EscrowStatus]{
	{"", platformwire.EscrowStatusPendingApproval, "POST /escrow creates the deal.", false},
	{platformwire.EscrowStatusPendingApproval, platformwire.EscrowStatusExpired,
		"Nobody approves it within approveWithin.", false},
	{platformwire.EscrowStatusPendingApproval, platformwire.EscrowStatusActive,
		"The account confirms the action approve.", false},
	{platformwire.EscrowStatusActive, platformwire.EscrowStatusReleased,
		"The account confirms the action release, within holdFor.", false},
	{platformwire.EscrowStatusActive, platformwire.EscrowStatusRefunded,
		"The account confirms the action refund, after holdFor and within refundableFor.", false},
}
