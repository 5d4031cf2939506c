package platform

import (
	"maps"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
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

// transitionTable has all changes of status of one kind of resource. The description does not list them, so they are
// the host's. What an operator may do is read from here, and the diagrams of the controls are drawn from here.
type transitionTable[S ~string] []transition[S]

// targets lists the statuses that an operator may move a resource to.
func (s transitionTable[S]) targets(from S) []S {
	var to []S
	for _, t := range s {
		if t.Move && t.From == from {
			to = append(to, t.To)
		}
	}
	return to
}

// allows reports whether an operator may make a change.
func (s transitionTable[S]) allows(from, to S) bool { return slices.Contains(s.targets(from), to) }

// diagram returns the changes for a reader.
func (s transitionTable[S]) diagram() []Transition {
	list := make([]Transition, len(s))
	for i, t := range s {
		list[i] = Transition{From: string(t.From), To: string(t.To), By: t.By, Move: t.Move}
	}
	return list
}

// allowedMoves lists the moves that are not refused at present.
func allowedMoves[S ~string](moves []S, refused func(to S) error) []string {
	list := []string{}
	for _, to := range moves {
		if refused(to) == nil {
			list = append(list, string(to))
		}
	}
	return list
}

var payoutStates = transitionTable[platformwire.PayoutStatus]{
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

var payinStates = transitionTable[platformwire.PayinStatus]{
	{"", platformwire.PayinStatusQuoted, "POST /payins prices it.", false},
	{platformwire.PayinStatusQuoted, platformwire.PayinStatusAwaitingFunds,
		"POST /payins/{payinId}/instructions accepts the price.", false},
	{platformwire.PayinStatusQuoted, platformwire.PayinStatusExpired, "quoteLifetime passes.", false},
	{platformwire.PayinStatusAwaitingFunds, platformwire.PayinStatusExpired, "quoteLifetime passes.", false},
	{platformwire.PayinStatusAwaitingFunds, platformwire.PayinStatusCompleted, "The money arrives.", true},
}

var verificationStates = transitionTable[commonwire.KYCStatus]{
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
var escrowStates = transitionTable[platformwire.EscrowStatus]{
	{"", platformwire.EscrowStatusPendingApproval, "POST /escrow creates the escrow.", false},
	{platformwire.EscrowStatusPendingApproval, platformwire.EscrowStatusExpired,
		"Nobody approves it within approveWithin.", false},
	{platformwire.EscrowStatusPendingApproval, platformwire.EscrowStatusActive,
		"The account confirms the action approve.", false},
	{platformwire.EscrowStatusActive, platformwire.EscrowStatusReleased,
		"The account confirms the action release, within holdFor.", false},
	{platformwire.EscrowStatusActive, platformwire.EscrowStatusRefunded,
		"The account confirms the action refund, after holdFor and within refundableFor.", false},
}

// Board are the newest resources of a kind, with every change of their status.
type Board[V any] struct {
	Listed[V]
	States []Transition `json:"states"`
}

// PayoutView is a payout as an operator sees it.
type PayoutView struct {
	ID        string          `json:"id"`
	Account   string          `json:"account"`
	Status    string          `json:"status"`
	Amount    decimal.Decimal `json:"amount"`
	Currency  string          `json:"currency"`
	ContactID string          `json:"contactId"`
	Contact   string          `json:"contact"` // its name when the payout was booked
	// Arrives is what the contact receives, in ArrivesIn.
	Arrives        decimal.Decimal `json:"arrives"`
	ArrivesIn      string          `json:"arrivesIn"`
	IdempotencyKey string          `json:"idempotencyKey"`
	Reference      string          `json:"reference"`
	CreatedAt      time.Time       `json:"createdAt"`
	Moves          []string        `json:"moves"` // the statuses that it can be moved to at present
}

// Payouts lists the payouts in which a text is found.
func (o Operator) Payouts(find string) Board[PayoutView] {
	t := o.platform.begin()
	defer o.platform.commit()
	return Board[PayoutView]{listedOf(maps.Values(t.payouts), find,
		func(p *payout) []string {
			return append(o.names(p.holder), p.ID, p.Terms.ContactID, p.Contact.Name, p.Key, p.Terms.PaymentReference,
				string(p.statusAt(t.now)), p.Terms.Amount.String(), p.asset(), p.Quote.DestinationAmount.String(),
				p.Quote.DestinationCurrency, p.CreatedAt.UTC().Format(time.DateTime))
		},
		func(p *payout) (time.Time, string) { return p.CreatedAt, p.ID },
		func(p *payout) PayoutView {
			status := p.statusAt(t.now)
			return PayoutView{
				ID: p.ID, Account: o.nameOf(p.holder.Key), Status: string(status),
				Amount: p.Terms.Amount, Currency: p.asset(), ContactID: p.Terms.ContactID, CreatedAt: p.CreatedAt,
				Contact: p.Contact.Name, Arrives: p.Quote.DestinationAmount, ArrivesIn: p.Quote.DestinationCurrency,
				IdempotencyKey: p.Key, Reference: p.Terms.PaymentReference,
				Moves: allowedMoves(payoutStates.targets(status), func(to platformwire.PayoutStatus) error {
					return t.checkPayoutMove(p, to)
				}),
			}
		}), payoutStates.diagram()}
}

// PayinView is a payin as an operator sees it.
type PayinView struct {
	ID        string          `json:"id"`
	Account   string          `json:"account"`
	Status    string          `json:"status"`
	Amount    decimal.Decimal `json:"amount"` // what the payer sends
	Currency  string          `json:"currency"`
	CreatedAt time.Time       `json:"createdAt"`
	Moves     []string        `json:"moves"` // the statuses that it can be moved to at present
}

// Payins lists the payins in which a text is found.
func (o Operator) Payins(find string) Board[PayinView] {
	t := o.platform.begin()
	defer o.platform.commit()
	return Board[PayinView]{listedOf(maps.Values(t.payins), find,
		func(p *payin) []string {
			return append(o.names(p.holder), p.ID, string(p.statusAt(t.now)),
				p.Terms.Amount.String(), p.Terms.Currency, p.CreatedAt.UTC().Format(time.DateTime))
		},
		func(p *payin) (time.Time, string) { return p.CreatedAt, p.ID },
		func(p *payin) PayinView {
			status := p.statusAt(t.now)
			return PayinView{
				ID: p.ID, Account: o.nameOf(p.Account), Status: string(status),
				Amount: p.Terms.Amount, Currency: p.Terms.Currency, CreatedAt: p.CreatedAt,
				Moves: allowedMoves(payinStates.targets(status), func(to platformwire.PayinStatus) error {
					return t.checkPayinMove(p, to)
				}),
			}
		}), payinStates.diagram()}
}

// MovePayin moves a payin to another status. A move to its present status changes nothing. The setting MaxCredit does
// not limit the money that arrives.
func (o Operator) MovePayin(id, status string) error {
	t := o.platform.begin()
	defer o.platform.commit()
	target, ok := t.payins[id]
	if !ok {
		return wire.NotFound()
	}
	to := platformwire.PayinStatus(status)
	if target.statusAt(t.now) == to {
		return nil
	}
	if err := t.checkPayinMove(target, to); err != nil {
		return err
	}
	t.creditPayin(target) // the only move of the table
	return nil
}

// checkPayinMove returns the refusal of a move, or nil.
func (t *txn) checkPayinMove(target *payin, to platformwire.PayinStatus) error {
	from := target.statusAt(t.now)
	if to == platformwire.PayinStatusCompleted {
		if err := t.checkArrival(target, target.Quote.DestinationAmount); err != nil {
			return err
		}
	}
	if !payinStates.allows(from, to) {
		return wire.Conflict("The payin does not move from " + string(from) + " to " + string(to) + ".")
	}
	return nil
}

// VerificationView is the verification of a client as an operator sees it.
type VerificationView struct {
	ID        string    `json:"id"` // the client's
	Account   string    `json:"account"`
	Status    string    `json:"status"`
	CreatedAt time.Time `json:"createdAt"` // when the client was created
	Moves     []string  `json:"moves"`     // the statuses that it can be moved to at present
}

// Verifications lists the verification of each client in which a text is found.
func (o Operator) Verifications(find string) Board[VerificationView] {
	t := o.platform.begin()
	defer o.platform.commit()
	clients := func(yield func(*holder) bool) {
		for _, h := range t.holders {
			if h.isClient() && !yield(h) {
				return
			}
		}
	}
	return Board[VerificationView]{listedOf(clients, find,
		func(h *holder) []string {
			return append(o.names(h), string(t.kybStatus(h)), h.Client.CreatedAt.UTC().Format(time.DateTime))
		},
		func(h *holder) (time.Time, string) { return h.Client.CreatedAt, h.Key.Account },
		func(h *holder) VerificationView {
			status := t.kybStatus(h)
			return VerificationView{
				ID: h.Key.Account, Account: h.Key.Account, Status: string(status), CreatedAt: h.Client.CreatedAt,
				Moves: allowedMoves(verificationStates.targets(status), func(to commonwire.KYCStatus) error {
					return t.checkDecision(h, to)
				}),
			}
		}), verificationStates.diagram()}
}

// Decide ends the review of a client. A move to the present status changes nothing.
func (o Operator) Decide(client, status string) error {
	t := o.platform.begin()
	defer o.platform.commit()
	h, err := o.holder(t, client)
	if err != nil {
		return err
	}
	if !h.isClient() {
		return wire.NotFound()
	}
	decision := commonwire.KYCStatus(status)
	if t.kybStatus(h) == decision {
		return nil
	}
	if err := t.checkDecision(h, decision); err != nil {
		return err
	}
	t.decide(h, decision)
	return nil
}

// EscrowView is an escrow as an operator sees it.
type EscrowView struct {
	ID        string          `json:"id"`
	Account   string          `json:"account"`
	Status    string          `json:"status"` // at the last chain read
	Amount    decimal.Decimal `json:"amount"`
	Currency  string          `json:"currency"`
	Payee     string          `json:"payee"`
	CreatedAt time.Time       `json:"createdAt"`
	// Actions are what the account can confirm at present.
	Actions []string `json:"actions"`
	// WindowEndsAt is when the window of these actions closes. It is zero if Actions is empty.
	WindowEndsAt time.Time `json:"windowEndsAt,omitzero"`
	Moves        []string  `json:"moves"` // always empty: every action needs an approval that the account signs
}

// Escrows lists the escrows in which a text is found.
func (o Operator) Escrows(find string) Board[EscrowView] {
	t := o.platform.begin()
	defer o.platform.commit()
	return Board[EscrowView]{listedOf(maps.Values(t.escrows), find,
		func(d *escrow) []string {
			return append(o.names(d.holder), d.ID, d.Key, string(d.view(t.now).Status), d.Terms.Amount.String(),
				string(d.Terms.Currency), d.Terms.Payee, d.CreatedAt.UTC().Format(time.DateTime))
		},
		func(d *escrow) (time.Time, string) { return d.CreatedAt, d.ID },
		func(d *escrow) EscrowView {
			current := d.view(t.now)
			view := EscrowView{
				ID: d.ID, Account: o.nameOf(d.Account), Status: string(current.Status),
				Amount: d.Terms.Amount, Currency: string(d.Terms.Currency), Payee: d.Terms.Payee,
				CreatedAt: d.CreatedAt, Actions: []string{}, Moves: []string{},
				WindowEndsAt: d.windowEnd(current.AvailableActions),
			}
			for _, action := range current.AvailableActions {
				view.Actions = append(view.Actions, string(action))
			}
			return view
		}), escrowStates.diagram()}
}
