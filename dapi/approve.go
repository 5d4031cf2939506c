package dapi

import (
	"bytes"
	"cmp"
	"context"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/codec"
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
	now, byLastAnswer := a.clock.ServiceTimes()
	if byLastAnswer.After(now) {
		return byLastAnswer
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
	if windowFull, ok := errors.AsType[*moneymovement.WindowFull](err); ok && windowFull.Closed {
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
	now, byLastAnswer := a.clock.ServiceTimes()
	if latest := byLastAnswer.Add(windowOf(want.Operation) + dateSkew); prepared.ExpiresAt.After(latest) {
		return nil, &signing.ApprovalRefused{ApprovalID: approval.ID, Field: "expiresAt",
			Reason: "the approval is open for longer than the service allows, by the Date of the last response",
			Want:   "at most " + stamp(latest), Got: stamp(prepared.ExpiresAt)}
	}
	if !byLastAnswer.Before(prepared.ExpiresAt) && now.Before(byLastAnswer) {
		byLastAnswer = now
	}
	checked, err := signing.PrepareApproval(ctx, developer.Key, prepared, want, byLastAnswer, options...)
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
		Want: "about " + stamp(here), Got: stamp(service)}
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

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
	var said struct {
		ExpiresAt time.Time `json:"expiresAt"`
	}
	_ = codec.Unmarshal(approval.Payload, &said) // invalid JSON leaves it empty
	switch {
	case end.IsZero():
		return cmp.Or(said.ExpiresAt, a.now().Add(window))
	case said.ExpiresAt.Truncate(time.Minute).Equal(end), said.ExpiresAt.Truncate(time.Second).Equal(end):
		return said.ExpiresAt
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

// noteDeal returns its arguments, and remembers the approval of the deal's action.
func (a approver) noteDeal(deal *Escrow, err error) (*Escrow, error) {
	if err == nil && deal != nil && deal.Action != nil {
		a.note(deal.Action.Approval, escrowApproval)
	}
	return deal, err
}
