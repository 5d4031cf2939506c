package dapi

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/errors"
)

// TermsDiffer says that the service echoed other terms than were asked for. Nothing was signed by this call.
type TermsDiffer struct {
	errors.Head
	// Member is the term, in wire spelling, such as "amount".
	Member string
	// Asked is what the caller asked for.
	Asked string
	// Got is what the service made of it.
	Got string
}

// Error is one line, safe to log.
func (e *TermsDiffer) Error() string {
	return fmt.Sprintf("%s %s: %s is %q, and %q was asked for; nothing was signed", e.Operation, e.Resource, e.Member, e.Got, e.Asked)
}

// Retryable is false: the service would answer the same.
func (e *TermsDiffer) Retryable() bool { return false }

// MovedByCall is not_moved: the terms were refused before anything was signed. Where money may have moved, the error is
// *errors.OutcomeUnknown instead.
func (e *TermsDiffer) MovedByCall() errors.Movement { return errors.NotMoved }

// echo compares the terms that an answer repeats with what was asked. A term that is left out is no difference: all of them are assumed.
type echo struct{ differs *TermsDiffer }

func (e *echo) text(member, asked, got string) {
	if e.differs == nil && got != "" && got != asked {
		e.differs = &TermsDiffer{Member: member, Asked: asked, Got: got}
	}
}

func (e *echo) amount(member string, asked, got decimal.Decimal) {
	if e.differs == nil && !got.IsZero() && !got.Equal(asked) {
		e.differs = &TermsDiffer{Member: member, Asked: asked.String(), Got: got.String()}
	}
}

func (e *echo) chain(member string, asked, got ChainID) {
	if e.differs == nil && got != 0 && got != asked {
		e.differs = &TermsDiffer{Member: member, Asked: chainText(asked), Got: chainText(got)}
	}
}

// window compares the length of a window, from its start to its end, with the one that was asked for.
func (e *echo) window(member string, asked, standard EscrowDuration, start, end time.Time) {
	if asked == "" {
		asked = standard
	}
	if e.differs != nil || start.IsZero() || end.IsZero() {
		return
	}
	if got := end.Sub(start); (got - asked.Duration()).Abs() > windowSlack {
		e.differs = &TermsDiffer{Member: member, Asked: string(asked), Got: got.String()}
	}
}

// windowSlack is how far a window's length may be off by what the service rounds away.
const windowSlack = 2 * time.Second

func (e *echo) address(member, asked, got string) {
	if !strings.EqualFold(asked, got) { // letter case is a checksum and no part of an address
		e.text(member, asked, got)
	}
}

func chainText(id ChainID) string {
	if id == 0 {
		return ""
	}
	return strconv.FormatInt(id, 10)
}

// differs compares a payout with what was asked for.
func (p *Payout) differs(asked PayoutCreate) *TermsDiffer {
	var e echo
	e.text("contactId", string(asked.ContactID.spelledAs(p.ContactID)), string(p.ContactID))
	e.amount("amount", asked.Amount, p.Amount)
	e.text("currency", string(asked.Currency), string(p.Currency))
	e.chain("fromChainId", asked.FromChainID, p.FromChainID)
	e.chain("toChainId", asked.ToChainID, p.ToChainID)
	return e.differs
}

// The windows of a deal that does not say otherwise.
//
// Source: Limits, Lifetimes.
const (
	standardApproveWithin EscrowDuration = "1h"
	standardHoldFor       EscrowDuration = "14d"
	standardRefundableFor EscrowDuration = "90d"
)

// differs compares a deal with what was asked for. Its windows are compared while it waits for its approval: later ones may have moved with it.
func (e *Escrow) differs(asked EscrowCreate) *TermsDiffer {
	var told echo
	told.amount("amount", asked.Amount, e.Amount)
	told.text("currency", string(asked.Currency), string(e.Currency))
	told.address("payee", string(asked.Payee), string(e.Payee))
	if e.Status == EscrowStatusPendingApproval {
		told.window("approveWithin", asked.ApproveWithin, standardApproveWithin, e.CreatedAt, e.ApproveBy)
		told.window("holdFor", asked.HoldFor, standardHoldFor, e.ApproveBy, e.HoldUntil)
		told.window("refundableFor", asked.RefundableFor, standardRefundableFor, e.HoldUntil, e.RefundableUntil)
	}
	return told.differs
}
