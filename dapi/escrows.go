package dapi

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Escrows creates escrows and acts on them. An escrow holds money on chain until it is released to a payee or
// refunded.
//
// An escrow has three windows: ApproveWithin (1h by default), HoldFor (14d) and RefundableFor (90d). Each window starts
// when the one before it ends. When a window ends, its action leaves AvailableActions. [Escrow.Can] reports whether an
// action is available now.
//
// [Escrows.Open] creates and approves an escrow in one call, and [Escrows.Act] takes a later action, such as `release`.
type Escrows struct {
	low      lowLevel
	approver approver
	chains   *liveChains
	memory   paymentMemory
	queue    *paymentQueue
}

// Create creates an escrow and prepares its `approve` action. No money moves. [Escrows.Open] creates and approves in
// one call.
//
// # Repeating
//
// The idempotency key identifies the escrow, its windows and its `approve` action. With the same key and other terms,
// Create fails with *errors.IdempotencyKeyReused, which has the EscrowID of the escrow that has the key. Without a key,
// the service derives one from the request and remembers it for two hours: two equal escrows in that time are one
// escrow.
func (s *Escrows) Create(
	ctx context.Context, escrow EscrowCreate, options ...moneymovement.WriteOption,
) (*Escrow, error) {
	s = transport.OrNew(s)
	return s.approver.noteEscrow(s.low.withCheck(s.check(&escrow)).CreateEscrow(ctx, &escrow, options))
}

// check returns the check of an escrow's amount, currency and payee.
func (s *Escrows) check(escrow *EscrowCreate) func(*transport.Check) {
	return func(c *transport.Check) {
		c.Amount("amount", escrow.Amount)
		escrow.checkMoney(c)
		s.chains.checkPlaces(c, escrow.Amount, escrow.Currency)
	}
}

// Sync refreshes the escrow from the chain and returns it. For each escrow, the service reads the chain at most once in
// 15 seconds. Between these reads, Sync returns the stored escrow. SyncedAt is the time of the last chain read.
// [Escrows.Wait] polls at this pace.
func (s *Escrows) Sync(ctx context.Context, id EscrowID, options ...moneymovement.CallOption) (*Escrow, error) {
	s = transport.OrNew(s)
	return s.approver.noteEscrow(s.low.SyncEscrow(ctx, id, options))
}

// Prepare prepares an action and returns it with its approval, which is valid for 60 seconds. If the action is not in
// AvailableActions, Prepare fails with *errors.Conflict.
//
// The idempotency key identifies the action, also in the call that confirms it. Without a key, the
// service derives one from the request and returns it in EscrowAction.IdempotencyKey.
func (s *Escrows) Prepare(
	ctx context.Context, id EscrowID, action EscrowActionType, options ...moneymovement.WriteOption,
) (*EscrowAction, error) {
	s = transport.OrNew(s)
	prepared, err := s.low.PrepareEscrowAction(ctx, id, &escrowActionCreate{Type: action}, options)
	if err != nil {
		return nil, err
	}
	s.approver.note(prepared.Action.Approval, escrowApproval)
	return &prepared.Action, nil
}

// Wait polls with [Escrows.Sync] until the escrow has one of the statuses. By default, it polls no more often than the
// service reads the chain. If ctx ends first, the error is *moneymovement.StillPending. Wait fails with
// *errors.InvalidInput if statuses is empty or contains an empty status.
func (s *Escrows) Wait(
	ctx context.Context, id EscrowID, statuses []EscrowStatus, options ...moneymovement.WaitOption,
) (*Escrow, error) {
	s = transport.OrNew(s)
	// jitter can halve a pause
	paced := append([]moneymovement.WaitOption{moneymovement.PollEvery(2*chainReadEvery, 4*chainReadEvery)}, options...)
	return transport.Awaited[Escrow]{
		Client: s.low.transport, Operation: &opSyncEscrow, Resource: "escrow", ID: string(id),
		Check: func(c *transport.Check) {
			c.Missing("statuses", len(statuses) == 0 || slices.Contains(statuses, ""))
		},
		Read: func(ctx context.Context) (*Escrow, error) {
			return s.approver.noteEscrow(s.low.polling(options).SyncEscrow(ctx, id, nil))
		},
		Status: func(e *Escrow) string { return string(e.Status) },
		Done:   func(e *Escrow) bool { return slices.Contains(statuses, e.Status) },
		Known:  func(e *Escrow) bool { return e.Status.Known() },
		Never: func(e *Escrow) error {
			// a released escrow can still be refunded
			if e.Status != EscrowStatusRefunded && e.Status != EscrowStatusExpired {
				return nil
			}
			return fmt.Errorf("the escrow has ended as %s, and will not be %v", e.Status, statuses)
		},
	}.Wait(ctx, paced)
}

// chainReadEvery is the shortest time between two chain reads of an escrow.
const chainReadEvery = 15 * time.Second

// Can reports whether the action is available now.
func (d *Escrow) Can(action EscrowActionType) bool {
	return slices.Contains(d.AvailableActions, action)
}

// EscrowDurationOf returns a duration in the service's form, with the largest unit that fits exactly:
// EscrowDurationOf(14*24*time.Hour) is "14d". A call that sends a duration that is negative, is not in whole seconds,
// or needs more than four digits fails with *errors.InvalidInput.
func EscrowDurationOf(d time.Duration) EscrowDuration {
	for _, unit := range escrowUnits {
		if d >= unit.length && d%unit.length == 0 {
			return EscrowDuration(strconv.FormatInt(int64(d/unit.length), 10) + unit.name)
		}
	}
	return EscrowDuration(d.String())
}

// escrowUnits are the units of the service's form, the largest first.
var escrowUnits = [...]struct {
	name   string
	length time.Duration
}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}}

// Duration returns d as a time.Duration, or 0 if d is not in the service's form.
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
