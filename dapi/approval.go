package dapi

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/codec"
	"github.com/moneymovement/moneymovement-go/internal/errorbase"
	"github.com/moneymovement/moneymovement-go/internal/outcome"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/signing"
)

// approver signs what the service prepared for one account, if it matches what the caller asked for.
type approver struct {
	low     lowLevel
	account string // a client's id, or self
	clock   *transport.Client
	seen    *signing.SeenApprovals // the approvals so far; a login signs none of them
}

// now returns the service's time, calculated from the dates of its responses.
func (a approver) now() time.Time { return a.clock.ServiceNow() }

// latest returns the service's time, or the date of its last response if that is later.
func (a approver) latest() time.Time {
	now, byLastResponse := a.clock.ServiceTimes()
	if byLastResponse.After(now) {
		return byLastResponse
	}
	return now
}

// checkedApproval is an approval that matches what the caller asked for, and is not signed yet.
type checkedApproval struct {
	id  string
	key signing.Signer
	*signing.CheckedApproval
}

// confirm compares an approval with what was asked for, waits for room to send the confirm, signs, and returns the body
// of the confirm and the client for it, which holds the room. If anything differs, it does not call the signer. It
// waits before it signs, so no signature waits in a queue. With allowExpired, it also signs an approval that has
// expired by this machine's clock.
func (a approver) confirm(ctx context.Context, low lowLevel, op *transport.Operation, approval *Approval,
	want signing.Intent, allowExpired bool, options []moneymovement.CallOption,
) (*approvalConfirm, lowLevel, error) {
	if approval != nil {
		dated := *approval // the caller's approval is not changed
		a.seen.Add(dated.Payload)
		dated.ExpiresAt = a.endOf(approval, windowOf(want.Operation))
		approval = &dated
	}
	var signed []signing.ApprovalOption
	if allowExpired {
		signed = append(signed, signing.AllowExpired())
	}
	checked, err := a.check(ctx, approval, want, signed...)
	if err != nil {
		return nil, low, a.unsigned(op, want.ResourceID, err)
	}
	if low, err = low.reserved(ctx, op, approval, options); err != nil {
		return nil, low, err
	}
	body, err := checked.confirm(ctx)
	if err != nil {
		return nil, low, a.unsigned(op, want.ResourceID, err)
	}
	return body, low, nil
}

// unsigned adds the confirm that was not sent to an error of signing.
func (a approver) unsigned(op *transport.Operation, resource string, err error) error {
	head := op.Head("")
	head.Resource = resource
	if a.account != "self" {
		head.Account = a.account
	}
	if refused, ok := errors.AsType[*signing.ApprovalRefused](err); ok {
		named := *refused // the error can belong to a verifier, which may share it
		named.CallInfo = head
		return &named
	}
	return &errors.NotDelivered{CallInfo: head, Err: err}
}

// reserved waits for room in the rate window to confirm an approval, so that a signature never waits in a queue. It
// returns the client for the confirm, which must follow at once. If the approval closes before there is room, the error
// is *signing.ApprovalRefused, the same as for an approval that has closed already.
func (c lowLevel) reserved(ctx context.Context, op *transport.Operation, approval *Approval,
	options []moneymovement.CallOption,
) (lowLevel, error) {
	if !c.transport.ServiceNow().Before(approval.ExpiresAt) {
		return c, nil // only the service can say that it is over, and no room would be in time
	}
	c.call.Class, c.call.Closes = moneymovement.ClassConfirm, approval.ExpiresAt
	queued, err := c.transport.Reserve(ctx, op, c.callOf(moneymovement.CallSettingsOf(options...)))
	if full, ok := errors.AsType[*moneymovement.WindowFull](err); ok && full.Closed {
		return c, &signing.ApprovalRefused{
			ApprovalID: approval.ID, Field: "expiresAt", Expired: true,
			Reason: "there is no room in the rate window before the approval expires; prepare the operation again",
		}
	}
	c.call.Reserved, c.call.Queued = true, queued
	return c, err
}

// check compares the approval and signs nothing. If the calculated time and the date of the last response differ, one
// of them is wrong, and the SDK cannot know which one. So the approval only has to be open by one of them. How long it
// may be open counts from the date of the last response, which is the one that brought it.
func (a approver) check(
	ctx context.Context, approval *Approval, want signing.Intent, options ...signing.ApprovalOption,
) (*checkedApproval, error) {
	if approval == nil {
		return nil, &signing.ApprovalRefused{Field: "approval", Reason: "the service returned no approval to sign"}
	}
	if err := a.checkClock(approval.ID); err != nil {
		return nil, err
	}
	want.Account = a.account
	developer := a.low.session().developer
	options = append([]signing.ApprovalOption{signing.VerifyWith(developer.Verifier)}, options...)
	prepared := signing.Approval{ID: approval.ID, Payload: approval.Payload, ExpiresAt: approval.ExpiresAt}
	now, byLastResponse := a.clock.ServiceTimes()
	if latest := byLastResponse.Add(windowOf(want.Operation) + dateSkew); prepared.ExpiresAt.After(latest) {
		return nil, &signing.ApprovalRefused{ApprovalID: approval.ID, Field: "expiresAt",
			Reason: "the approval is open for longer than the service allows, by the Date of the last response",
			Want:   "at most " + formatTime(latest), Got: formatTime(prepared.ExpiresAt)}
	}
	if !byLastResponse.Before(prepared.ExpiresAt) && now.Before(byLastResponse) {
		byLastResponse = now
	}
	checked, err := signing.PrepareApproval(ctx, developer.Key, prepared, want, byLastResponse, options...)
	if err != nil {
		return nil, err
	}
	return &checkedApproval{id: approval.ID, key: developer.Key, CheckedApproval: checked}, nil
}

// windowOf returns the stated window of an operation's approval.
func windowOf(operation string) time.Duration {
	if operation == fundPayout {
		return payoutApproval
	}
	return escrowApproval
}

// dateSkew is how much longer than its stated window an approval may be open after the Date of its response. Date has
// no fractions, and another machine than the one that dates the approval can set it.
const dateSkew = 10 * time.Second

// checkClock refuses an approval while the service's clock is farther away than allowed.
func (a approver) checkClock(approvalID string) error {
	here, service, allowed, differs := a.clock.ClockDiffers()
	if !differs {
		return nil
	}
	return &signing.ApprovalRefused{ApprovalID: approvalID, Field: "expiresAt",
		Reason: "the clocks of the service and this machine differ by more than " + allowed.String() +
			": correct this machine's clock, or pass the option moneymovement.WithClockDifference",
		Want: "about " + formatTime(here), Got: formatTime(service)}
}

func formatTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// confirm signs without checking again.
func (c *checkedApproval) confirm(ctx context.Context) (*approvalConfirm, error) {
	signature, err := c.Sign(ctx)
	if err != nil {
		return nil, err
	}
	return &approvalConfirm{ApprovalID: c.id, PublicKey: c.key.PublicKey(), Signature: signature}, nil
}

// note remembers an approval when the service has returned it, even if it is never signed. If ExpiresAt is missing,
// note sets it from the payload. If the payload has none, the approval ends after the stated window.
func (a approver) note(approval *Approval, window time.Duration) {
	if approval != nil {
		a.seen.Add(approval.Payload)
		if approval.ExpiresAt.IsZero() {
			approval.ExpiresAt = a.endOf(approval, window)
		}
	}
}

// endOf returns when an approval ends. If the payload has the exact time, and the response has it without the seconds
// or their fraction, the payload counts.
func (a approver) endOf(approval *Approval, window time.Duration) time.Time {
	end := approval.ExpiresAt
	same := []byte(`"expiresAt":"` + end.Format(time.RFC3339Nano) + `"`)
	if !end.IsZero() && bytes.Contains(approval.Payload, same) {
		return end // as payloads usually have it, which need not be decoded then
	}
	var payload struct {
		ExpiresAt time.Time `json:"expiresAt"`
	}
	_ = codec.Unmarshal(approval.Payload, &payload) // invalid JSON leaves it empty
	switch {
	case end.IsZero():
		return cmp.Or(payload.ExpiresAt, a.now().Add(window))
	case payload.ExpiresAt.Truncate(time.Minute).Equal(end), payload.ExpiresAt.Truncate(time.Second).Equal(end):
		return payload.ExpiresAt
	}
	return end
}

// same reports that another approval has the same id and signs the same bytes. Its end is not compared, because it may
// be calculated from the time of the response.
func (a *Approval) same(other *Approval) bool {
	return a != nil && other != nil && a.ID == other.ID && bytes.Equal(a.Payload, other.Payload)
}

// notePayout returns its arguments, and remembers the payout's approval.
func (a approver) notePayout(payout *Payout, err error) (*Payout, error) {
	if err == nil && payout != nil {
		a.note(payout.Approval, payoutApproval)
	}
	return payout, err
}

// noteEscrow returns its arguments, and remembers the approval of the escrow's action.
func (a approver) noteEscrow(escrow *Escrow, err error) (*Escrow, error) {
	if err == nil && escrow != nil && escrow.Action != nil {
		a.note(escrow.Action.Approval, escrowApproval)
	}
	return escrow, err
}

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

// The windows of an escrow that does not set its own.
const (
	standardApproveWithin EscrowDuration = "1h"
	standardHoldFor       EscrowDuration = "14d"
	standardRefundableFor EscrowDuration = "90d"
)

// differs compares the amount, the asset and the payee of an escrow with what was asked for.
func (d *Escrow) differs(asked EscrowCreate) *TermsDiffer {
	var e termsCheck
	e.amount("amount", asked.Amount, d.Amount)
	e.symbol("currency", string(asked.Currency), string(d.Currency))
	e.address("payee", string(asked.Payee), string(d.Payee))
	return e.differs
}

// windowSlack is how much a window's length may differ because the service rounds.
const windowSlack = 2 * time.Second

// windowsDiffer compares an escrow's windows with what was asked for. Each window starts when the one before it ends,
// and the first starts when the escrow is created. If the end of a window is missing, the window is compared together
// with the next one.
//
// The description does not say whether an approval ends the first window at once. So in an approved escrow, the hold
// may start earlier, by up to the length of the first window. When the escrow has ended, its windows decide nothing.
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

// checkMoney refuses an escrow without an amount, a currency or a payee, for the same reason as for a payout.
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
	outcome.CheckEscrow = func(escrows, escrow any, key string) error {
		asked := escrow.(EscrowCreate) //nolint:errcheck,forcetypeassert // as the package says
		s, _ := escrows.(*Escrows)
		check := asked.checkMoney
		if s != nil {
			check = s.check(&asked)
		}
		return transport.Validate(opCreateEscrow.ID, requiredKey(&opCreateEscrow, key), asked.validate, check)
	}
	outcome.CheckAction = func(escrow any, id, action, key string) error {
		asked := escrow.(EscrowCreate) //nolint:errcheck,forcetypeassert // as the package says
		return transport.Validate(opPrepareEscrowAction.ID, requiredKey(&opPrepareEscrowAction, key),
			asked.validate, asked.checkMoney, checkEscrowID(EscrowID(id)),
			func(c *transport.Check) { c.Missing("type", action == "") })
	}
}
