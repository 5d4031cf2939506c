package dapi

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Escrows are on-chain agreements: money is held, and released to a payee or refunded. A deal has three windows, each
// starting where the previous ends: ApproveWithin (1h by default), HoldFor (14d), RefundableFor (90d). When a window
// closes, its action leaves AvailableActions.
//
// Source: Limits, Lifetimes.
type Escrows struct {
	low      lowLevel
	approver approver
	chains   *liveChains
	memory   *paymentMemory
	line     *paymentLine
}

// Create creates a deal and prepares its `approve` action; no money moves. The idempotency key anchors the deal, its
// windows and that action: other terms under the same key are *errors.IdempotencyKeyReused with the owner's EscrowID.
// Without a key the service derives one from the request and remembers it for two hours: two equal deals within them
// are one. [Escrows.Open] creates and approves in one call.
//
// Source: Limits, Idempotency.
func (s *Escrows) Create(
	ctx context.Context, deal EscrowCreate, options ...moneymovement.WriteOption,
) (*Escrow, error) {
	if err := transport.Of(s).low.ready(ctx, &opCreateEscrow); err != nil {
		return nil, err
	}
	return s.approver.noteDeal(s.low.demanding(s.demands(&deal)).CreateEscrow(ctx, &deal, options))
}

// demands is what a deal must say although the description calls it required nowhere, for the reason that [Payouts]
// has: each approval of the deal is compared with it before it is signed.
func (s *Escrows) demands(deal *EscrowCreate) func(*transport.Check) {
	return func(c *transport.Check) {
		c.Positive("amount", deal.Amount)
		c.Missing("currency", deal.Currency == "")
		c.Missing("payee", deal.Payee == "")
		s.chains.checkPlaces(c, deal.Amount, deal.Currency)
	}
}

// Sync reads the deal, refreshed from chain. There is one chain read per 15 seconds and deal; calls in between answer
// the stored projection, whose age SyncedAt tells. [Escrows.Wait] keeps that pace.
//
// Source: Limits, Lifetimes.
func (s *Escrows) Sync(ctx context.Context, id EscrowID, options ...moneymovement.CallOption) (*Escrow, error) {
	if err := transport.Of(s).low.ready(ctx, &opSyncEscrow); err != nil {
		return nil, err
	}
	return s.approver.noteDeal(s.low.SyncEscrow(ctx, id, options))
}

// Prepare prepares an action and answers its approval, which lasts 60 seconds. The idempotency key anchors the action
// and is its address when it is confirmed; without one the service derives a key from the request and returns it in
// EscrowAction.IdempotencyKey. An action that is not in AvailableActions is *errors.Conflict.
//
// Source: Limits, Lifetimes and Idempotency.
func (s *Escrows) Prepare(
	ctx context.Context, id EscrowID, action EscrowActionType, options ...moneymovement.WriteOption,
) (*EscrowAction, error) {
	if err := transport.Of(s).low.ready(ctx, &opPrepareEscrowAction); err != nil {
		return nil, err
	}
	prepared, err := s.low.PrepareEscrowAction(ctx, id, &EscrowActionCreate{Type: action}, options)
	if err != nil {
		return nil, err
	}
	s.approver.note(prepared.Action.Approval, escrowApproval)
	return &prepared.Action, nil
}

// Wait syncs until one of the given statuses is reached, no faster than the chain is read.
func (s *Escrows) Wait(
	ctx context.Context, id EscrowID, statuses []EscrowStatus, options ...WaitOption,
) (*Escrow, error) {
	if err := transport.Of(s).low.ready(ctx, &opSyncEscrow); err != nil {
		return nil, err
	}
	// the shortest pause is half of the least
	paced := append([]WaitOption{PollEvery(2*chainReadEvery, 4*chainReadEvery)}, options...)
	return wait(ctx, paced, poll[Escrow]{
		low: s.low, resource: "escrow", id: string(id),
		read: func(ctx context.Context) (*Escrow, error) {
			return s.approver.noteDeal(s.low.as(transport.ClassPoll).SyncEscrow(ctx, id, nil))
		},
		status: func(e *Escrow) string { return string(e.Status) },
		done:   func(e *Escrow) bool { return slices.Contains(statuses, e.Status) },
	})
}

// chainReadEvery is how often a deal is read from chain at most.
const chainReadEvery = 15 * time.Second

// Can reports whether an action is available now.
func (d *Escrow) Can(action EscrowActionType) bool {
	return slices.Contains(d.AvailableActions, action)
}

// EscrowFor writes a duration in the service's form, in the largest unit that fits it exactly:
// EscrowFor(14*24*time.Hour) is "14d". One that has a part of a second, is negative or needs more than four digits is
// *errors.InvalidInput when it is sent.
//
// Source: Limits, Pages and sizes (^\d{1,4}[smhd]$).
func EscrowFor(d time.Duration) EscrowDuration {
	for _, unit := range escrowUnits {
		if d >= unit.length && d%unit.length == 0 {
			return EscrowDuration(strconv.FormatInt(int64(d/unit.length), 10) + unit.name)
		}
	}
	return EscrowDuration(d.String())
}

// escrowUnits are the units of the service's form, largest first.
var escrowUnits = [...]struct {
	name   string
	length time.Duration
}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}}

// Duration reads a duration in the service's form; 0 if it is not in that form.
func (d EscrowDuration) Duration() time.Duration {
	for _, unit := range escrowUnits {
		digits, found := strings.CutSuffix(string(d), unit.name)
		n, err := strconv.ParseUint(digits, 10, 16)
		if found && err == nil && len(digits) <= 4 {
			return time.Duration(n) * unit.length
		}
	}
	return 0
}
