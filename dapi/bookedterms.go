package dapi

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/errors"
)

// TermsDiffer says that the service echoed other terms than were asked for. Nothing was signed by this call, unless it
// is the Cause of *errors.OutcomeUnknown.
type TermsDiffer struct {
	errors.CallInfo
	// Member is the term, in wire spelling, such as "amount".
	Member string
	// Asked is what the caller asked for.
	Asked string
	// Got is what the service made of it.
	Got string
}

// Error is one line, safe to log.
func (e *TermsDiffer) Error() string {
	return fmt.Sprintf("%s %s: %s is %q, and %q was asked for", e.Operation, e.Resource, e.Member, e.Got, e.Asked)
}

// Retryable is false: the service would answer the same.
func (e *TermsDiffer) Retryable() bool { return false }

// MovedByCall is not_moved: the terms were refused before anything was signed. Where money may have moved, the error is
// *errors.OutcomeUnknown instead.
func (e *TermsDiffer) MovedByCall() errors.Movement { return errors.NotMoved }

// echo compares the terms that an answer repeats with what was asked. An answer may leave a term out, since all of them
// are assumed.
type echo struct{ differs *TermsDiffer }

func (e *echo) text(member, asked, got string) {
	if e.differs == nil && got != "" && got != asked {
		e.differs = &TermsDiffer{Member: member, Asked: asked, Got: got}
	}
}

func (e *echo) amount(member string, asked, got decimal.Decimal) {
	if e.differs == nil && got != (decimal.Decimal{}) && !got.Equal(asked) {
		e.differs = &TermsDiffer{Member: member, Asked: asked.String(), Got: got.String()}
	}
}

// symbol compares the names of assets, which some spell in lower case. What is signed is compared letter for letter.
func (e *echo) symbol(member, asked, got string) {
	if !strings.EqualFold(asked, got) {
		e.text(member, asked, got)
	}
}

// base is the EVM id of the chain that balances settle on.
//
// Source: Resources, Platform resources.
const base ChainID = 8453

// chain compares a chain. Where none was asked for, Base goes without saying.
func (e *echo) chain(member string, asked, got ChainID) {
	if e.differs == nil && got != 0 && got != asked && (asked != 0 || got != base) {
		e.differs = &TermsDiffer{Member: member, Asked: chainText(asked), Got: chainText(got)}
	}
}

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
	e.symbol("currency", string(asked.Currency), string(p.Currency))
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

// differs compares what a deal holds, and for whom, with what was asked for.
func (d *Escrow) differs(asked EscrowCreate) *TermsDiffer {
	var e echo
	e.amount("amount", asked.Amount, d.Amount)
	e.symbol("currency", string(asked.Currency), string(d.Currency))
	e.address("payee", string(asked.Payee), string(d.Payee))
	return e.differs
}

// windowSlack is how far a window's length may be off by what the service rounds away.
const windowSlack = 2 * time.Second

// windowsDiffer compares a deal's windows with what was asked for. Each starts where the one before it ends, and the
// first one when the deal is created. A window whose end is not said is compared together with the next. The
// description does not say whether an approval ends the first window at once: in a deal that is known to be approved,
// the hold may start earlier by as much as the first window is long. Once the deal is over, its windows decide nothing.
//
// Source: Limits, Lifetimes.
func (d *Escrow) windowsDiffer(asked EscrowCreate, approved bool) *TermsDiffer {
	approveWithin := cmp.Or(asked.ApproveWithin, standardApproveWithin)
	early := time.Duration(0)
	if d.Status.Final() {
		return nil
	}
	if approved {
		early = approveWithin.Duration()
	}
	start, length := d.CreatedAt, time.Duration(0)
	for _, window := range [...]struct {
		member string
		asked  EscrowDuration
		end    time.Time
	}{
		{"approveWithin", approveWithin, d.ApproveBy},
		{"holdFor", cmp.Or(asked.HoldFor, standardHoldFor), d.HoldUntil},
		{"refundableFor", cmp.Or(asked.RefundableFor, standardRefundableFor), d.RefundableUntil},
	} {
		length += window.asked.Duration()
		if window.end.IsZero() {
			continue
		}
		got := window.end.Sub(start)
		if !start.IsZero() && (got > length+windowSlack || got < length-early-windowSlack) {
			return &TermsDiffer{Member: window.member, Asked: string(window.asked), Got: got.String()}
		}
		if window.member != "approveWithin" { // the hold has started by then
			early = 0
		}
		start, length = window.end, 0
	}
	return nil
}
