package dapi

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/errorbase"
	"github.com/moneymovement/moneymovement-go/internal/outcome"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// TermsDiffer says that the service returned other terms than you asked for, such as another amount. The SDK did not
// sign for these terms. This call paid nothing, unless the error is the Cause of *errors.InDoubt. A person must
// look at it: the same call would get the same terms.
type TermsDiffer struct {
	errors.CallInfo
	// Member is the JSON name of the term, such as "amount".
	Member string
	// Asked is the value that you asked for.
	Asked string
	// Got is the value that the service returned.
	Got string
}

// Error returns one line, safe to log.
func (e *TermsDiffer) Error() string {
	return errorbase.Textf(e, "%s %s: the service returned %s %q, but you asked for %q: "+
		"a person must check this before you pay in another way", e.Operation, e.Resource, e.Member, e.Got, e.Asked)
}

// Retryable returns false: the service would return the same terms.
func (e *TermsDiffer) Retryable() bool { return false }

// MovedByCall returns errors.NotMoved: the SDK did not sign for these terms. If money may have moved, the error is
// *errors.InDoubt instead.
func (e *TermsDiffer) MovedByCall() errors.Movement { return errors.NotMoved }

// termsCheck compares the terms in a response with what was asked for. A response may leave a term out, because all of
// them are assumed.
type termsCheck struct{ differs *TermsDiffer }

func (e *termsCheck) text(member, asked, got string) {
	if e.differs == nil && got != "" && got != asked {
		e.differs = &TermsDiffer{Member: member, Asked: asked, Got: got}
	}
}

func (e *termsCheck) amount(member string, asked, got decimal.Decimal) {
	if e.differs == nil && got != (decimal.Decimal{}) && !got.Equal(asked) {
		e.differs = &TermsDiffer{Member: member, Asked: asked.String(), Got: got.String()}
	}
}

// symbol compares the names of assets without regard to case, because some are written in lower case. Signed
// values are compared letter by letter.
func (e *termsCheck) symbol(member, asked, got string) {
	if !strings.EqualFold(asked, got) {
		e.text(member, asked, got)
	}
}

// base is the EVM id of the chain on which balances are held.
const base ChainID = 8453

// chain compares a chain. If none was asked for, Base is expected.
func (e *termsCheck) chain(member string, asked, got ChainID) {
	if e.differs == nil && got != 0 && got != asked && (asked != 0 || got != base) {
		e.differs = &TermsDiffer{Member: member, Asked: chainText(asked), Got: chainText(got)}
	}
}

func (e *termsCheck) address(member, asked, got string) {
	if !strings.EqualFold(asked, got) { // the case of an address is only a checksum
		e.text(member, asked, got)
	}
}

func chainText(id ChainID) string {
	if id == 0 {
		return ""
	}
	return strconv.FormatInt(int64(id), 10)
}

// differs compares a payout with what was asked for.
func (p *Payout) differs(asked PayoutCreate) *TermsDiffer {
	var e termsCheck
	e.text("contactId", string(asked.ContactID.withPrefixOf(p.ContactID)), string(p.ContactID))
	e.amount("amount", asked.Amount, p.Amount)
	e.symbol("currency", string(asked.Currency), string(p.Currency))
	e.chain("fromChainId", asked.FromChainID, p.FromChainID)
	e.chain("toChainId", asked.ToChainID, p.ToChainID)
	return e.differs
}

// The windows of a deal that does not set its own.
const (
	standardApproveWithin EscrowDuration = "1h"
	standardHoldFor       EscrowDuration = "14d"
	standardRefundableFor EscrowDuration = "90d"
)

// differs compares the amount, the asset and the payee of a deal with what was asked for.
func (d *Escrow) differs(asked EscrowCreate) *TermsDiffer {
	var e termsCheck
	e.amount("amount", asked.Amount, d.Amount)
	e.symbol("currency", string(asked.Currency), string(d.Currency))
	e.address("payee", string(asked.Payee), string(d.Payee))
	return e.differs
}

// windowSlack is how much a window's length may differ because the service rounds.
const windowSlack = 2 * time.Second

// windowsDiffer compares a deal's windows with what was asked for. Each window starts when the one before it ends, and
// the first starts when the deal is created. If the end of a window is missing, the window is compared together with
// the next one.
//
// The description does not say whether an approval ends the first window at once. So in an approved deal, the hold may
// start earlier, by up to the length of the first window. When the deal has ended, its windows decide nothing.
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
		if window.member != "approveWithin" { // the hold has started
			early = 0
		}
		start, length = window.end, 0
	}
	return nil
}

func checkEscrowID(id EscrowID) func(*transport.Check) {
	return func(c *transport.Check) {
		c.Missing("escrowId", id == "")
		c.Segment("escrowId", string(id))
	}
}

// checkMoney refuses a payout without an amount or a currency. The description does not require them, but the approval
// is compared with them before it is signed. Without them, the SDK would sign an approval for any amount or asset.
func (v *PayoutCreate) checkMoney(c *transport.Check) {
	c.Positive("amount", v.Amount)
	checkAsset(c, v.Currency)
}

// checkMoney refuses a deal without an amount, a currency or a payee, for the same reason as for a payout.
func (v *EscrowCreate) checkMoney(c *transport.Check) {
	c.Positive("amount", v.Amount)
	checkAsset(c, v.Currency)
	c.Missing("payee", v.Payee == "")
}

// checkAsset refuses an asset that is missing, or that is one of the known ones in another spelling. The service can
// have other assets.
func checkAsset(c *transport.Check, asset Asset) {
	c.Missing("currency", asset == "")
	misspelledAsset(c, asset)
}

func misspelledAsset(c *transport.Check, asset Asset) {
	for _, known := range []Asset{USDC, EURC} {
		if asset != known && strings.EqualFold(strings.TrimSpace(string(asset)), string(known)) {
			c.Refuse("currency", "unknown_variant", fmt.Sprintf("is %q: did you mean %s", asset, known))
		}
	}
}

//nolint:gochecknoinits // package payments checks what it stores, and these are not for users
func init() {
	outcome.CheckPayout = func(payouts, payout, bounds any, key string) error {
		asked, limits := payout.(PayoutCreate), bounds.(Bounds) //nolint:errcheck,forcetypeassert // as the package says
		s, _ := payouts.(*Payouts)
		check := asked.checkMoney
		if s != nil {
			check = s.check(&asked)
		}
		return transport.Validate(opBookPayout.ID, requiredKey(&opBookPayout, key), asked.validate, check, limits.check)
	}
	outcome.CheckDeal = func(escrows, deal any, key string) error {
		asked := deal.(EscrowCreate) //nolint:errcheck,forcetypeassert // as the package says
		s, _ := escrows.(*Escrows)
		check := asked.checkMoney
		if s != nil {
			check = s.check(&asked)
		}
		return transport.Validate(opCreateEscrow.ID, requiredKey(&opCreateEscrow, key), asked.validate, check)
	}
	outcome.CheckAction = func(deal any, id, action, key string) error {
		asked := deal.(EscrowCreate) //nolint:errcheck,forcetypeassert // as the package says
		return transport.Validate(opPrepareEscrowAction.ID, requiredKey(&opPrepareEscrowAction, key),
			asked.validate, asked.checkMoney, checkEscrowID(EscrowID(id)),
			func(c *transport.Check) { c.Missing("type", action == "") })
	}
}
